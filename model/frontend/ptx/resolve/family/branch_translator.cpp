// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/resolve/family/branch_translator.h"

#include <utility>

#include "heddle/frontend/ptx/resolve/expansion.h"

namespace heddle::ptx {

void branch_translator::translate(hir_instruction h, const ast_instruction& i) {
  switch (h.op) {
    case ptx_op::bra: return branch(std::move(h), i);
    case ptx_op::brx: return indirect_branch(h, i);
    case ptx_op::ret: return return_from(std::move(h));
    default: code_.append(std::move(h));  // exit
  }
}

void branch_translator::return_from(hir_instruction h) {
  h.op = now_.is_kernel() ? ptx_op::exit : ptx_op::bra;
  if (!now_.is_kernel()) h.target = now_.return_label();
  code_.append(std::move(h));
}

void branch_translator::branch(hir_instruction h, const ast_instruction& i) {
  if (i.operands.size() != 1 || i.operands[0].what != ast_operand::kind::identifier || i.operands[0].offset != 0)
    code_.fail(i.where, "'bra' needs a label");
  h.target = names_.find_label(i.operands[0].text, i.operands[0].where);
  code_.append(std::move(h));
}

void branch_translator::indirect_branch(const hir_instruction& h, const ast_instruction& i) {
  kernel_symbol s;
  if (i.operands.size() != 2 || !names_.find(i.operands[1].text, s) || s.what != kernel_symbol::kind::prototype ||
      !s.targets)
    code_.fail(i.where, "'brx.idx' needs an index and the name of a .branchtargets list");
  const value index = in_.operand(i.operands[0], isa::dtype::u32, i.where);
  const std::vector<std::string>& targets = s.targets->targets;
  const bool guarded = h.guard.what != value::kind::none;
  const std::uint32_t behind = guarded ? code_.branch_around(h) : 0;
  // The machine code compares and branches; the last target needs no comparison, because an index beyond the list is
  // undefined.
  const expansion steps(code_, h);
  for (std::size_t k = 0; k < targets.size(); ++k) {
    const std::uint32_t target = names_.find_label(targets[k], i.where);
    const bool last = k + 1 == targets.size();
    steps.jump_if(last ? value{} : steps.test(isa::compare::eq, isa::dtype::u32, index, immediate_value(k)), target);
  }
  if (guarded) code_.place_label(behind);
}

}  // namespace heddle::ptx
