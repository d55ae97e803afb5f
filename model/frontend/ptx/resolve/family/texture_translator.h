// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "heddle/frontend/ptx/hir/texture_form.h"
#include "heddle/frontend/ptx/resolve/operand_checker.h"
#include "heddle/frontend/ptx/resolve/operand_resolver.h"

namespace heddle::ptx {

/// tex, tld4, suld, sust, txq, suq.
class texture_translator {
 public:
  texture_translator(const ast_module& m, const ast_function& kernel, block_builder& code, name_table& names,
                     operand_resolver& in, const operand_checker& checker, hir_function& out)
      : module_(m), kernel_(kernel), code_(code), names_(names), in_(in), checker_(checker), out_(out) {}

  void translate(hir_instruction h, const ast_instruction& i);

 private:
  void check_place(const hir_instruction& h, const ast_instruction& i, const ast_operand& at) const;
  void check_reference(const hir_instruction& h, const ast_instruction& i, const ast_operand& at) const;
  void check_coordinates(const hir_instruction& h, const ast_instruction& i, const ast_operand& at,
                         const texture_form& form);
  void check_texels(const hir_instruction& h, const ast_instruction& i, const texture_form& form);
  void check_register(const ast_operand& o, isa::dtype t, bool wider);

  const ast_module& module_;
  const ast_function& kernel_;
  block_builder& code_;
  name_table& names_;
  operand_resolver& in_;
  const operand_checker& checker_;
  hir_function& out_;
};

}  // namespace heddle::ptx
