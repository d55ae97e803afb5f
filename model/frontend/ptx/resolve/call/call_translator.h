// SPDX-License-Identifier: MIT
#pragma once

#include <unordered_set>
#include <vector>

#include "heddle/frontend/ptx/resolve/call/outlined_functions.h"
#include "heddle/frontend/ptx/resolve/call/system_calls.h"
#include "heddle/frontend/ptx/syntax/call_graph.h"

namespace heddle::ptx {

/// call: of a function, which is inlined if it can be; of one of the device runtime; through a register, which is
/// compared with the addresses of all possible functions.
class call_translator {
 public:
  call_translator(const ast_module& m, const ast_function& kernel, const call_graph& calls, block_builder& code,
                  name_table& names, operand_resolver& in, argument_binder& binder, system_calls& system,
                  outlined_functions& outlined, call_stack& stack, open_function& now, block_translator& blocks)
      : module_(m),
        kernel_(kernel),
        calls_(calls),
        code_(code),
        names_(names),
        in_(in),
        binder_(binder),
        system_(system),
        outlined_(outlined),
        stack_(stack),
        now_(now),
        blocks_(blocks) {}

  void translate(const hir_instruction& h, const ast_instruction& i);

 private:
  /// The operands of a call.
  struct parts {
    const ast_operand* results;
    const ast_operand* name;
    const ast_operand* arguments;
    const ast_operand* shape;  // of an indirect call: the name of a prototype or a list of functions; null: none
  };
  parts parts_of(const ast_instruction& i) const;
  [[noreturn]] void refuse(const ast_operand& name) const;
  void call_function(const ast_instruction& i, const ast_function& f, const parts& p);
  void inline_call(const ast_instruction& i, const ast_function& f, const parts& p);
  void indirect_call(const ast_instruction& i, const parts& p);
  value address_of(const ast_instruction& i, const ast_operand& target);
  std::vector<const ast_function*> possible_targets(const ast_instruction& i, const parts& p);
  std::vector<const ast_function*> listed_targets(const ast_instruction& i, const parts& p,
                                                  const ast_statement& list) const;

  const ast_module& module_;
  const ast_function& kernel_;
  const call_graph& calls_;
  block_builder& code_;
  name_table& names_;
  operand_resolver& in_;
  argument_binder& binder_;
  system_calls& system_;
  outlined_functions& outlined_;
  call_stack& stack_;
  open_function& now_;
  block_translator& blocks_;
  std::unordered_set<const ast_function*> reached_;
  std::size_t inlined_calls_ = 0;
};

}  // namespace heddle::ptx
