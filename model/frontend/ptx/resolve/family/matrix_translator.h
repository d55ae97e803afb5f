// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "heddle/frontend/ptx/hir/matrix_form.h"
#include "heddle/frontend/ptx/resolve/expansion.h"
#include "heddle/frontend/ptx/resolve/operand_checker.h"
#include "heddle/frontend/ptx/resolve/operand_resolver.h"

namespace heddle::ptx {

/// wmma, mma, ldmatrix, movmatrix, stmatrix.
class matrix_translator {
 public:
  matrix_translator(const std::string& file, block_builder& code, name_table& names, operand_resolver& in,
                    operand_checker& checker, hir_function& out)
      : file_(file), code_(code), names_(names), in_(in), checker_(checker), out_(out) {}

  void translate(hir_instruction h, const ast_instruction& i);

 private:
  void check_counts(const hir_instruction& h, const ast_instruction& i, const matrix_form& form) const;
  void check_fragment(const hir_instruction& h, const ast_instruction& i, std::size_t k, const matrix_form& form);
  void check_elements(const ast_instruction& i, const std::vector<ast_operand>& elements, isa::dtype t);
  void read_selector(const ast_instruction& i, matrix_form& form) const;
  void store(const hir_instruction& h, const ast_instruction& i, const matrix_form& form);
  value shared_address(const hir_instruction& h, const expansion& steps, const value& generic);

  const std::string& file_;
  block_builder& code_;
  name_table& names_;
  operand_resolver& in_;
  operand_checker& checker_;
  hir_function& out_;
};

}  // namespace heddle::ptx
