// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/resolve/operand_checker.h"
#include "heddle/frontend/ptx/resolve/operand_resolver.h"

namespace heddle::ptx {

/// mov: of values, of special registers, between a register and its parts, of vectors.
class move_translator {
 public:
  move_translator(block_builder& code, name_table& names, const special_registers& special, operand_resolver& in,
                  const operand_checker& checker)
      : code_(code), names_(names), special_(special), in_(in), checker_(checker) {}

  void translate(hir_instruction h, const ast_instruction& i);

 private:
  bool is_vector(const ast_operand& o);
  std::vector<value> read_elements(const hir_instruction& h, const ast_operand& s);
  void move_elements(hir_instruction h, const ast_operand& d, const ast_operand& s);

  block_builder& code_;
  name_table& names_;
  const special_registers& special_;
  operand_resolver& in_;
  const operand_checker& checker_;
};

}  // namespace heddle::ptx
