// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/resolve/family/barrier_translator.h"

#include <algorithm>
#include <utility>

namespace heddle::ptx {

void barrier_translator::check(const hir_instruction& h, const ast_instruction& i) const {
  if (h.m.sub == 1 && h.src.size() != 2)
    code_.fail(i.where, "'" + i.mnemonic() + "' needs a barrier number and a thread count");
  const value& number = h.src[0];
  if (number.is_immediate() && number.bits > 15)
    code_.fail(i.where,
               "barrier number " + std::to_string(static_cast<std::int64_t>(number.bits)) + ", expected 0 to 15");
  const bool counts = h.src.size() > (h.m.sub >= 2 ? 2u : 1u);  // the last source of a reduction is its predicate
  if (counts && h.src[1].is_immediate() && (h.src[1].bits % 32 != 0 || (h.m.sub == 1 && h.src[1].bits == 0)))
    code_.fail(i.where, "thread count " + std::to_string(static_cast<std::int64_t>(h.src[1].bits)) + " of '" +
                            i.mnemonic() + "', expected a multiple of 32");
}

void barrier_translator::translate(hir_instruction h, const ast_instruction& i) {
  if (h.op == ptx_op::griddepcontrol) return code_.append(std::move(h));
  if (h.m.uniform) {  // bar.warp.sync: its membermask is for hardware with independent progress of lanes
    for (const ast_operand& o : i.operands) h.src.push_back(in_.operand(o, isa::dtype::u32, i.where));
    code_.append(std::move(h));
    return;
  }
  if (h.m.sub >= cluster_arrive) {
    out_.cluster_barrier = true;
    return code_.append(std::move(h));
  }
  std::size_t k = 0;
  if (h.m.sub >= 2) {
    if (i.operands.size() < 3) code_.fail(i.where, "'" + i.mnemonic() + "' with too few operands");
    h.dst.push_back(in_.destination(i.operands[k++], i.where));
  }
  for (; k < i.operands.size(); ++k) h.src.push_back(in_.operand(i.operands[k], isa::dtype::u32, i.where));
  if (h.src.empty()) code_.fail(i.where, "'" + i.mnemonic() + "' needs a barrier number");
  check(h, i);
  const value& number = h.src[0];
  out_.barriers = std::max(out_.barriers, number.is_immediate() ? static_cast<std::uint32_t>(number.bits) + 1 : 16u);
  code_.append(std::move(h));
}

}  // namespace heddle::ptx
