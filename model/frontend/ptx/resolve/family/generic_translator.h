// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/resolve/expansion.h"
#include "heddle/frontend/ptx/resolve/operand_checker.h"
#include "heddle/frontend/ptx/resolve/operand_resolver.h"

namespace heddle::ptx {

/// Instructions that take their operands as the columns of ptx_op.h say, and hints.
class generic_translator {
 public:
  generic_translator(block_builder& code, operand_resolver& in, const operand_checker& checker)
      : code_(code), in_(in), checker_(checker) {}

  void translate(hir_instruction h, const ast_instruction& i);

 private:
  void read_destination(hir_instruction& h, const ast_instruction& i);
  void create_policy(const hir_instruction& h, const ast_instruction& i);
  value fraction(const expansion& steps, const hir_instruction& h, const ast_instruction& i);
  value range(const expansion& steps, const hir_instruction& h, const ast_instruction& i);

  block_builder& code_;
  operand_resolver& in_;
  const operand_checker& checker_;
};

}  // namespace heddle::ptx
