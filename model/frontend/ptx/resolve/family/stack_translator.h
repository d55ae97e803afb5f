// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/resolve/call/call_stack.h"
#include "heddle/frontend/ptx/resolve/operand_resolver.h"

namespace heddle::ptx {

/// alloca reserves stack memory until the function returns; stacksave and stackrestore read and write the stack
/// pointer.
class stack_translator {
 public:
  stack_translator(block_builder& code, operand_resolver& in, call_stack& stack)
      : code_(code), in_(in), stack_(stack) {}

  void translate(const hir_instruction& h, const ast_instruction& i);

 private:
  void check(const hir_instruction& h, const ast_instruction& i) const;
  void restore(const hir_instruction& h, const ast_instruction& i, const value& top);
  void allocate(const hir_instruction& h, const ast_instruction& i, const value& top, hir_instruction read);

  block_builder& code_;
  operand_resolver& in_;
  call_stack& stack_;
};

}  // namespace heddle::ptx
