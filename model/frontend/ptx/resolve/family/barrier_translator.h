// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/resolve/operand_resolver.h"

namespace heddle::ptx {

/// bar and barrier: their numbers and thread counts, and how many barriers the kernel needs.
class barrier_translator {
 public:
  barrier_translator(block_builder& code, operand_resolver& in, hir_function& out) : code_(code), in_(in), out_(out) {}

  void translate(hir_instruction h, const ast_instruction& i);

 private:
  void check(const hir_instruction& h, const ast_instruction& i) const;

  block_builder& code_;
  operand_resolver& in_;
  hir_function& out_;
};

}  // namespace heddle::ptx
