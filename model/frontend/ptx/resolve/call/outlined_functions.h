// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "heddle/frontend/ptx/resolve/call/argument_binder.h"
#include "heddle/frontend/ptx/resolve/call/block_translator.h"
#include "heddle/frontend/ptx/resolve/call/call_stack.h"
#include "heddle/frontend/ptx/resolve/call/open_function.h"

namespace heddle::ptx {

/// Functions that are not inlined, such as recursive ones: each has one body in the program. A call saves the caller's
/// live registers on a stack in local memory, writes the parameters and the number of the call, and jumps; at the end
/// of the body the number selects the return address.
class outlined_functions {
 public:
  outlined_functions(block_builder& code, hir_function& out, memory_places& places, name_table& names,
                     parameter_uses& uses, declarations& declared, argument_binder& binder, parameter_moves& moves,
                     call_stack& stack, open_function& now, block_translator& blocks)
      : code_(code),
        out_(out),
        places_(places),
        names_(names),
        uses_(uses),
        declarations_(declared),
        binder_(binder),
        moves_(moves),
        stack_(stack),
        now_(now),
        blocks_(blocks) {}

  void call(const ast_instruction& i, const ast_function& f, const ast_operand& results, const ast_operand& arguments);
  /// Places the bodies of the functions after the kernel's code.
  void place_bodies();

 private:
  struct outlined {
    const ast_function* function = nullptr;
    std::uint32_t entry = 0, exit = 0;  // labels
    scope formals;
    activation frame;
    value return_to;                                // index of the call in `returns`
    std::uint32_t first_register = 0, own_end = 0;  // registers of its parameters
    std::uint32_t body_first = 0;
    std::vector<std::uint32_t> returns;  // labels after its calls
  };

  outlined& body_of(const ast_function& f);
  void mark(ptx_op op, std::uint32_t site);
  void place_body(outlined& o);
  void translate_body(outlined& o);
  void return_to_callers(const outlined& o);

  block_builder& code_;
  hir_function& out_;
  memory_places& places_;
  name_table& names_;
  parameter_uses& uses_;
  declarations& declarations_;
  argument_binder& binder_;
  parameter_moves& moves_;
  call_stack& stack_;
  open_function& now_;
  block_translator& blocks_;
  outlined* instance_ = nullptr;  // whose body is being translated; null: the kernel's
  std::unordered_map<std::string, std::unique_ptr<outlined>> outlined_;
  std::vector<outlined*> waiting_;                          // whose bodies are still to be translated
  std::vector<std::pair<outlined*, std::uint32_t>> exits_;  // with the label of the return sequence
};

}  // namespace heddle::ptx
