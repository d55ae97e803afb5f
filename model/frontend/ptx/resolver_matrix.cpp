// SPDX-License-Identifier: MIT
#include "frontend/ptx/matrix_form.h"
#include "frontend/ptx/resolver.h"

namespace heddle::ptx {

/// wmma, mma, ldmatrix, movmatrix: the first operand's registers are written, unless it is the address of a store; what follows is
/// read, register by register.
void resolver::matrix_instruction(hir_instruction h, const ast_instruction& i) {
  const matrix_form form = decode_matrix_form(i, module_.ast->file);
  h.m.space = form.space;
  if (i.operands.size() < 2) fail(i.where, "'" + i.mnemonic() + "' with too few operands");
  const std::size_t most = h.op == ptx_op::wmma || h.op == ptx_op::mma ? 4 : 2;
  if (i.operands.size() > most) fail(i.operands[most].where, "'" + i.mnemonic() + "' with too many operands");
  for (std::size_t k = 0; k < i.operands.size(); ++k) {
    const ast_operand& o = i.operands[k];
    if (o.what == ast_operand::kind::address) {
      if (!h.src.empty()) fail(o.where, "operand form not supported in instruction '" + i.mnemonic() + "'");
      address(h, o);
    } else if (k == 0) {
      elements(o, isa::dtype::b32, h.dst, true, i.where);
    } else {
      elements(o, isa::dtype::b32, h.src, false, i.where);
    }
  }
  append(std::move(h));
}

}  // namespace heddle::ptx
