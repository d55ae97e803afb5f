// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "heddle/frontend/ptx/hir/hir.h"
#include "heddle/frontend/ptx/hir/operand_form.h"
#include "heddle/frontend/ptx/resolve/name_table.h"

namespace heddle::ptx {

/// Compares operands with the form of their instruction: their number, their kinds and the types of registers and
/// literals.
class operand_checker {
 public:
  operand_checker(const ast_module& m, const block_builder& code, name_table& names)
      : module_(m), code_(code), names_(names) {}

  void check_operands(const hir_instruction& h, const ast_instruction& i, const std::vector<matched_form>& forms);
  void check_literal(const ast_instruction& i, std::size_t k, std::uint64_t least, std::uint64_t most) const;

  // For instructions with decoders of their own. The functions that return a text return what is wrong, or nothing.
  void check_type(const value& v, isa::dtype wanted, bool wider, const location& where) const;
  void check_element_types(const std::vector<value>& elements, std::size_t from, isa::dtype wanted, bool wider,
                           const location& where) const;
  [[nodiscard]] std::string compare_register(isa::dtype declared, isa::dtype t, bool wider, bool narrow) const;
  std::string compare_address(const hir_instruction& h, const ast_operand& given);
  bool is_vector_register(const ast_operand& given);

 private:
  struct mismatch {
    std::string what;  // empty: none
    location where;
    bool counts = false;  // the number of operands is wrong
  };
  mismatch compare_operands(const hir_instruction& h, const ast_instruction& i, const matched_form& f);
  std::string compare_operand(const hir_instruction& h, const ast_operand& given, const operand_form& o,
                              const matched_form& f);
  std::string compare_value(const hir_instruction& h, const ast_operand& given, const operand_form& o, isa::dtype t);
  std::string compare_identifier(const hir_instruction& h, const ast_operand& given, const operand_form& o,
                                 isa::dtype t);
  std::string compare_components(const ast_operand& given, isa::dtype t);
  std::string compare_parts(const std::vector<ast_operand>& parts, isa::dtype t);

  const ast_module& module_;
  const block_builder& code_;
  name_table& names_;
};

}  // namespace heddle::ptx
