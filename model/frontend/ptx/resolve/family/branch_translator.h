// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/resolve/name_table.h"
#include "heddle/frontend/ptx/resolve/operand_resolver.h"

namespace heddle::ptx {

/// bra and brx.idx: to labels of the function.
class branch_translator {
 public:
  branch_translator(block_builder& code, name_table& names, operand_resolver& in)
      : code_(code), names_(names), in_(in) {}

  void branch(hir_instruction h, const ast_instruction& i);
  void indirect_branch(const hir_instruction& h, const ast_instruction& i);

 private:
  block_builder& code_;
  name_table& names_;
  operand_resolver& in_;
};

}  // namespace heddle::ptx
