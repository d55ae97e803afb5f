// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "heddle/frontend/ptx/resolve/name_table.h"
#include "heddle/frontend/ptx/resolve/special_registers.h"

namespace heddle::ptx {

/// Translates operands to values, with the instructions that compute them.
class operand_resolver {
 public:
  operand_resolver(block_builder& code, name_table& names, special_registers& special)
      : code_(code), names_(names), special_(special) {}

  value operand(const ast_operand& o, isa::dtype type, const location& where);
  value identifier(const ast_operand& o, const location& where);
  value destination(const ast_operand& o, const location& where);
  void elements(const ast_operand& o, isa::dtype type, std::vector<value>& to, bool write, const location& where);
  void address(hir_instruction& h, const ast_operand& o);
  value wide_address(value v);

 private:
  void name_space(hir_instruction& h, const ast_operand& o);
  value handle_of(const kernel_symbol& s);
  value sum_with(const value& v, const ast_operand& o);
  value stack_address(value base, std::int64_t offset);

  block_builder& code_;
  name_table& names_;
  special_registers& special_;
};

}  // namespace heddle::ptx
