// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "heddle/frontend/ptx/resolve/call/argument_binder.h"
#include "heddle/frontend/ptx/resolve/operand_resolver.h"

namespace heddle::ptx {

/// Calls of functions that the CUDA device runtime provides: vprintf, malloc, free, __assertfail.
class system_calls {
 public:
  system_calls(const ast_module& m, block_builder& code, operand_resolver& in, argument_binder& binder)
      : module_(m), code_(code), in_(in), binder_(binder) {}

  /// False: the name is none of these functions.
  bool call(const hir_instruction& h, const ast_instruction& i, const ast_operand& results, const std::string& name,
            const ast_operand& arguments);

 private:
  struct routine;
  const ast_function& declaration(const routine& r, const ast_instruction& i, const ast_operand& results,
                                  const ast_operand& arguments) const;
  std::vector<value> read(const routine& r, const ast_instruction& i, const ast_function& declared,
                          const ast_operand& arguments);
  void append_with_result(const hir_instruction& h, hir_instruction c, const ast_variable& formal, unsigned words,
                          const ast_operand& actual);

  const ast_module& module_;
  block_builder& code_;
  operand_resolver& in_;
  argument_binder& binder_;
};

}  // namespace heddle::ptx
