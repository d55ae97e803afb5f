// SPDX-License-Identifier: MIT
// Branches.
#include "heddle/frontend/ptx/resolve/translate/resolver.h"

namespace heddle::ptx {

void resolver::branch(hir_instruction h, const ast_instruction& i) {
  if (i.operands.size() != 1 || i.operands[0].what != ast_operand::kind::identifier || i.operands[0].offset != 0)
    code_.fail(i.where, "'bra' needs a label");
  h.target = names_.find_label(i.operands[0].text, i.operands[0].where);
  code_.append(std::move(h));
}

void resolver::indirect_branch(const hir_instruction& h, const ast_instruction& i) {
  kernel_symbol s;
  if (i.operands.size() != 2 || !names_.find(i.operands[1].text, s) || s.what != kernel_symbol::kind::prototype ||
      !s.targets)
    code_.fail(i.where, "'brx.idx' needs an index and the name of a .branchtargets list");
  const value index = in_.operand(i.operands[0], isa::dtype::u32, i.where);
  const std::vector<std::string>& targets = s.targets->targets;
  const bool guarded = h.guard.what != value::kind::none;
  const std::uint32_t behind = guarded ? code_.go_around(h) : 0;
  // The machine code compares and branches; the last target needs no comparison, because an index beyond the list is
  // undefined.
  for (std::size_t k = 0; k < targets.size(); ++k) {
    hir_instruction jump = h;
    jump.op = ptx_op::bra;
    jump.m = {};
    jump.guard = {};
    jump.target = names_.find_label(targets[k], i.where);
    if (k + 1 < targets.size()) {
      hir_instruction test = h;
      test.op = ptx_op::setp;
      test.guard = {};
      test.m = {};
      test.m.type = isa::dtype::u32;
      test.m.types = 1;
      test.m.cmp = isa::compare::eq;
      test.dst = {register_value(code_.new_register(0, 1))};
      test.src = {index, immediate_value(k)};
      jump.guard = test.dst[0];
      code_.append(std::move(test));
    }
    code_.append(std::move(jump));
  }
  if (guarded) code_.place_label(behind);
}

void resolver::return_from(hir_instruction h) {
  if (call_chain_.size() > 1) {
    h.op = ptx_op::bra;
    h.target = return_label_;
  } else {
    h.op = ptx_op::exit;
  }
  code_.append(std::move(h));
}

}  // namespace heddle::ptx
