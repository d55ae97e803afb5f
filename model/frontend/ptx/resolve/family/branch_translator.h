// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/resolve/call/open_function.h"
#include "heddle/frontend/ptx/resolve/name_table.h"
#include "heddle/frontend/ptx/resolve/operand_resolver.h"

namespace heddle::ptx {

/// bra and brx.idx, to labels of the function, and ret.
class branch_translator {
 public:
  branch_translator(block_builder& code, name_table& names, operand_resolver& in, const open_function& now)
      : code_(code), names_(names), in_(in), now_(now) {}

  void translate(hir_instruction h, const ast_instruction& i);

 private:
  void branch(hir_instruction h, const ast_instruction& i);
  void indirect_branch(const hir_instruction& h, const ast_instruction& i);
  void return_from(hir_instruction h);

  block_builder& code_;
  name_table& names_;
  operand_resolver& in_;
  const open_function& now_;
};

}  // namespace heddle::ptx
