// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/resolve/family/memory_translator.h"

#include <utility>

namespace heddle::ptx {

/// True for an access to a parameter in registers, which is complete then. Other ones are directed to where the
/// parameter is.
bool memory_translator::access_parameter(hir_instruction& h, const ast_instruction& i, const ast_operand& where) {
  kernel_symbol s;
  if (where.what == ast_operand::kind::address && names_.find(where.text, s) && s.what == kernel_symbol::kind::words) {
    if (h.op == ptx_op::st) moves_.store_words(h, s, where);
    else moves_.load_words(h, s, where);
    return true;
  }
  if (!parameters_.redirect(h, where) && h.op != ptx_op::ld)
    code_.fail(i.where, "'" + i.mnemonic() + "' cannot write kernel parameters");
  parameters_.check_bounds(h, where);
  return false;
}

void memory_translator::check_operation(const hir_instruction& h, const ast_instruction& i) const {
  const bool moves = h.op == ptx_op::ld || h.op == ptx_op::ldu || h.op == ptx_op::st;
  if (moves && i.operands.size() > (h.m.hinted || h.m.signals ? 3u : 2u))
    code_.fail(i.operands[2].where, "'" + i.mnemonic() + "' with too many operands");
  const auto operation = static_cast<isa::atomic_op>(h.m.sub);
  if (h.op == ptx_op::red && (operation == isa::atomic_op::cas || operation == isa::atomic_op::exch))
    code_.fail(i.where, "unsupported operation in instruction '" + i.mnemonic() + "'");
}

void memory_translator::translate(hir_instruction h, const ast_instruction& i) {
  const bool reads = h.op == ptx_op::ld || h.op == ptx_op::ldu;
  if (i.operands.size() < 2) code_.fail(i.where, "'" + i.mnemonic() + "' with too few operands");
  const ast_operand& where = i.operands[reads || h.op == ptx_op::atom ? 1 : 0];
  if (h.m.space == state_space::param && access_parameter(h, i, where)) return;
  check_operation(h, i);
  in_.address(h, where);
  if (reads) load(std::move(h), i);
  else if (h.op == ptx_op::st) store(std::move(h), i);
  else if (h.m.vector > 1) vector_atomic(h, i);
  else atomic(std::move(h), i);
}

/// The last source.
void memory_translator::add_policy(hir_instruction& h, const ast_instruction& i) {
  if (h.m.hinted) h.src.push_back(in_.operand(i.operands.back(), isa::dtype::b64, i.where));
}

void memory_translator::load(hir_instruction h, const ast_instruction& i) {
  in_.elements(i.operands[0], h.m.type, h.dst, true, i.where);
  if (h.dst.size() != h.m.vector)
    code_.fail(i.operands[0].where, "'" + i.mnemonic() + "' needs as many registers as elements");
  checker_.check_element_types(h.dst, 0, h.m.type, true, i.operands[0].where);
  add_policy(h, i);
  access(std::move(h));
}

void memory_translator::store(hir_instruction h, const ast_instruction& i) {
  in_.elements(i.operands[1], h.m.type, h.src, false, i.where);
  if (h.src.size() != h.m.vector + 1)
    code_.fail(i.operands[1].where, "'" + i.mnemonic() + "' needs as many registers as elements");
  checker_.check_element_types(h.src, 1, h.m.type, true, i.operands[1].where);
  add_policy(h, i);
  access(std::move(h));
}

void memory_translator::atomic(hir_instruction h, const ast_instruction& i) {
  const bool returns = h.op == ptx_op::atom;
  if (returns) h.dst.push_back(in_.destination(i.operands[0], i.where));
  // Behind them is a cache policy, or an mbarrier, which is the resolver's.
  const std::size_t last = i.operands.size() - (h.m.hinted || h.m.signals ? 1 : 0);
  for (std::size_t k = returns ? 2 : 1; k < last; ++k) h.src.push_back(in_.operand(i.operands[k], h.m.type, i.where));
  const std::size_t needed = static_cast<isa::atomic_op>(h.m.sub) == isa::atomic_op::cas ? 3 : 2;
  if (h.src.size() != needed) code_.fail(i.where, "'" + i.mnemonic() + "' with the wrong number of operands");
  checker_.check_element_types(h.dst, 0, h.m.type, false, i.operands[0].where);
  checker_.check_element_types(h.src, 1, h.m.type, false, i.where);
  add_policy(h, i);
  code_.append(std::move(h));
}

/// atom and red on vectors: one operation for each element.
void memory_translator::vector_atomic(const hir_instruction& h, const ast_instruction& i) {
  const bool returns = h.op == ptx_op::atom;
  const std::size_t data = returns ? 2 : 1;
  std::vector<value> to, from;
  const bool kept = returns && i.operands[0].what != ast_operand::kind::sink;
  if (kept) in_.elements(i.operands[0], h.m.type, to, true, i.where);
  in_.elements(i.operands[data], h.m.type, from, false, i.where);
  if (from.size() != h.m.vector || (kept && to.size() != h.m.vector))
    code_.fail(i.where, "'" + i.mnemonic() + "' needs as many registers as elements");
  checker_.check_element_types(to, 0, h.m.type, false, i.where);
  checker_.check_element_types(from, 0, h.m.type, false, i.where);
  const unsigned size = isa::size_of(h.m.type);
  std::vector<hir_instruction> moves;
  for (unsigned k = 0; k < h.m.vector; ++k) {
    hir_instruction one = h;
    one.offset += std::int64_t{k} * size;
    one.src.push_back(from[k]);
    add_policy(one, i);
    if (kept && to[k].is_reg()) {  // all sources are read before a destination is written
      const value old = register_value(code_.new_register(1, code_.registers()[to[k].reg].bits));
      one.dst.push_back(old);
      moves.push_back(in_place_of(h, ptx_op::mov, size == 2 ? isa::dtype::b16 : isa::dtype::b32, {to[k]}, {old}));
      moves.back().guard = h.guard;
    } else if (returns) {
      one.dst.push_back(value{});
    }
    code_.append(std::move(one));
  }
  for (hir_instruction& m : moves) code_.append(std::move(m));
}

/// Splits an access of more than 16 bytes into two (PTX has accesses of 32 bytes to global memory).
void memory_translator::access(hir_instruction h) {
  const unsigned elements = h.m.vector, bytes = isa::size_of(h.m.type) * elements;
  if ((h.op != ptx_op::ld && h.op != ptx_op::st) || bytes <= 16) return code_.append(std::move(h));
  if (bytes > 32 || (h.m.space != state_space::global && h.m.space != state_space::none))
    code_.fail(h.where, "unsupported type or form of instruction '" + code_.current()->mnemonic() + "'");
  const bool loads = h.op == ptx_op::ld;
  const value base = h.src[0];
  if (base.is_reg() && loads) {  // the first load may overwrite the base register
    const unsigned words = code_.registers()[base.reg].words;
    h.src[0] = register_value(code_.new_register(words, 32 * words));
    code_.append(in_place_of(h, ptx_op::mov, words == 2 ? isa::dtype::b64 : isa::dtype::b32, {h.src[0]}, {base}));
  }
  value policy;
  if (h.m.hinted) {
    policy = h.src.back();
    h.src.pop_back();
  }
  hir_instruction low = h, high = std::move(h);
  std::vector<value>& first = loads ? low.dst : low.src;
  std::vector<value>& second = loads ? high.dst : high.src;
  const auto begin = static_cast<std::ptrdiff_t>(loads ? 0 : 1), half = static_cast<std::ptrdiff_t>(elements / 2);
  first.resize(static_cast<std::size_t>(begin + half));
  second.erase(second.begin() + begin, second.begin() + begin + half);
  low.m.vector = high.m.vector = elements / 2;
  high.offset += 16;
  if (high.m.hinted)
    for (hir_instruction* const part : {&low, &high}) part->src.push_back(policy);
  code_.append(std::move(low));
  code_.append(std::move(high));
}

}  // namespace heddle::ptx
