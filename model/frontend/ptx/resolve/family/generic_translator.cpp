// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/resolve/family/generic_translator.h"

#include <utility>

#include "heddle/frontend/ptx/hir/operand_counts.h"

namespace heddle::ptx {

/// createpolicy: its value has no effect.
void generic_translator::create_policy(hir_instruction h, const ast_instruction& i) {
  if (i.operands.empty()) code_.fail(i.where, "'" + i.mnemonic() + "' without operands");
  h.op = ptx_op::mov;
  h.m.type = isa::dtype::b64;
  h.dst.push_back(in_.destination(i.operands[0], i.where));
  h.src.push_back(immediate_value(0));
  code_.append(std::move(h));
}

void generic_translator::read_destination(hir_instruction& h, const ast_instruction& i) {
  if (i.operands.empty()) code_.fail(i.where, "'" + i.mnemonic() + "' without operands");
  const ast_operand& d = i.operands[0];
  if (d.what == ast_operand::kind::pair) {
    for (const ast_operand& e : d.list) h.dst.push_back(in_.destination(e, i.where));
  } else {
    h.dst.push_back(in_.destination(d, i.where));
  }
}

void generic_translator::translate(hir_instruction h, const ast_instruction& i) {
  switch (h.op) {  // hints, and guarantees that always hold: no computation and no wait
    case ptx_op::applypriority:
    case ptx_op::discard: return checker_.check_literal(i, 1, 128, 128);
    case ptx_op::prefetch:
    case ptx_op::prefetchu: return;
    case ptx_op::pmevent: checker_.check_literal(i, 0, 0, h.m.masked ? 0xffff : 15); break;
    case ptx_op::createpolicy: return create_policy(std::move(h), i);
    default: break;
  }
  const bool writes = info(h.op).operands == operand_use::result;
  if (writes) read_destination(h, i);
  for (std::size_t k = writes ? 1 : 0; k < i.operands.size(); ++k)
    h.src.push_back(in_.operand(i.operands[k], source_type(h, h.src.size()), i.where));
  if (h.op == ptx_op::isspacep && !h.src.empty()) h.src[0] = in_.wide_address(h.src[0]);
  if (h.src.size() < info(h.op).sources) code_.fail(i.where, "'" + i.mnemonic() + "' with too few operands");
  if (h.src.size() > most_sources(h))
    code_.fail(i.operands.back().where, "'" + i.mnemonic() + "' with too many operands");
  code_.append(std::move(h));
}

}  // namespace heddle::ptx
