// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/resolve/family/copy_translator.h"

#include <utility>

namespace heddle::ptx {

using isa::dtype;

void copy_translator::translate(const hir_instruction& h, const ast_instruction& i) {
  switch (h.m.sub) {
    case copy_arrival:  // when all copies are complete; without .noinc increment and arrival cancel out
      wait_for_all(h, true);
      if (i.operands.size() != 1) code_.fail(i.where, "'" + i.mnemonic() + "' needs the address of an mbarrier");
      if (h.m.sums) arrivals_.arrive_at(h, i.operands[0], {}, immediate_value(1), immediate_value(0));
      return;
    case copy_itself: return copy(h, i);
    case copy_wait:
      if (i.operands.empty()) return wait_for_all(h, false);
      return group(h, copy_wait, in_.operand(i.operands[0], dtype::u32, i.where));
    case copy_commit: return group(h, copy_commit, {});
    default: return;
  }
}

/// An instruction on groups of copies. `newest`: the groups that need not be complete. `signals`: the group completes
/// at an mbarrier.
void copy_translator::group(const hir_instruction& h, std::uint8_t what, const value& newest, bool signals) {
  hir_instruction g = in_place_of(h, ptx_op::cp, dtype::b32, {}, {});
  g.m.sub = what;
  g.m.signals = signals;
  g.guard = h.guard;
  if (what == copy_wait) g.src.push_back(newest);
  code_.append(std::move(g));
}

/// Copies of no group yet count, too.
void copy_translator::wait_for_all(const hir_instruction& h, bool signals) {
  group(h, copy_commit, {}, signals);
  group(h, copy_wait, immediate_value(0));
}

std::uint64_t copy_translator::size(const hir_instruction& h, const ast_instruction& i) {
  if (i.operands.size() < 3) code_.fail(i.where, "'" + i.mnemonic() + "' with too few operands");
  const value length = in_.operand(i.operands[2], dtype::u32, i.where);
  const std::uint64_t bytes = length.bits;
  if (!length.is_immediate() || (bytes != 16 && (bytes != 4 && bytes != 8)) ||
      (bytes != 16 && h.m.cache == isa::cache_op::cg))
    code_.fail(i.where, "'" + i.mnemonic() + "' copies 4, 8 or 16 bytes, with .cg 16");
  return bytes;
}

void copy_translator::copy(const hir_instruction& h, const ast_instruction& i) {
  const std::uint64_t bytes = size(h, i);
  const expansion steps(code_, h);
  hir_instruction whole = in_place_of(h, ptx_op::cp, dtype::b32, {}, {});
  whole.m.sub = copy_itself;
  whole.m.space = state_space::global;
  whole.m.cache = h.m.cache;
  whole.m.vector = static_cast<unsigned>(bytes / 4);
  whole.guard = h.guard;
  in_.address(whole, i.operands[1]);
  hir_instruction to = in_place_of(h, ptx_op::st, dtype::b32, {}, {});
  to.m.space = state_space::shared;
  in_.address(to, i.operands[0]);
  whole.src.push_back(to.src[0]);
  whole.src.push_back(immediate_value(static_cast<std::uint64_t>(to.offset)));

  // The bytes to copy, or the predicate that nothing is copied; the rest of the destination is filled with zeros.
  value taken;
  if (i.operands.size() > 3 && i.operands[3].what != ast_operand::kind::sink) {
    taken = in_.operand(i.operands[3], dtype::u32, i.where);
    if (taken.is_reg() && code_.registers()[taken.reg].words == 2) taken = {};  // a cache policy
  }
  whole.m.hinted = h.m.hinted;
  const bool all = taken.what == value::kind::none || (taken.is_immediate() && taken.bits >= bytes);
  if (!all && taken.is_reg() && code_.registers()[taken.reg].words == 0) {
    taken.negate = !taken.negate;
    whole.src.push_back(taken);
  } else if (!all) {
    whole.m.hinted = false;  // of such copies, which are rare, the policy has no effect
    return copy_counted(steps, std::move(whole), taken, bytes);
  }
  if (whole.m.hinted) whole.src.push_back(in_.operand(i.operands.back(), dtype::b64, i.where));
  code_.append(std::move(whole));
}

/// Lanes that copy `taken` bytes: with `whole` those that copy all or nothing, byte by byte the others.
void copy_translator::copy_counted(const expansion& steps, hir_instruction whole, value taken, std::uint64_t bytes) {
  const std::uint32_t behind = code_.new_label(), some = code_.new_label();
  steps.jump_unless_guarded(behind);
  whole.guard = {};
  const value count = steps.make(ptx_op::mov, dtype::b32, {taken});
  const value all = steps.test(isa::compare::ge, dtype::u32, count, immediate_value(bytes));
  const value before = steps.make(ptx_op::sub, dtype::u32, {count, immediate_value(1)});
  steps.jump_if(steps.test(isa::compare::lt, dtype::u32, before, immediate_value(bytes - 1)), some);
  partial_.push_back({whole, count, bytes, some, behind});
  whole.src.push_back(all);
  code_.append(std::move(whole));
  code_.place_label(behind);
}

void copy_translator::finish() {
  if (partial_.empty()) return;
  for (const partial_copy& c : partial_) {
    code_.place_label(c.begin);
    copy_some(c);
    code_.jump(c.behind);
  }
}

/// Copies the first `count` bytes, and zeros. The loads come before the store.
void copy_translator::copy_some(const partial_copy& c) {
  const expansion steps(code_, c.whole);
  const std::vector<value> data = steps.words(static_cast<unsigned>(c.bytes / 4));
  for (const value& d : data) steps.put(ptx_op::mov, dtype::b32, {d}, {immediate_value(0)});
  const std::uint32_t loaded = code_.new_label();
  for (unsigned k = 0; k + 1 < c.bytes; ++k) {
    steps.jump_if(steps.test(isa::compare::le, dtype::u32, c.count, immediate_value(k)), loaded);
    copy_byte(steps, c.whole, k, data[k / 4]);
  }
  code_.place_label(loaded);
  hir_instruction store = in_place_of(c.whole, ptx_op::st, dtype::b32, {}, {c.whole.src[1]});
  store.m.space = state_space::shared;
  store.m.vector = c.whole.m.vector;
  store.offset = static_cast<std::int64_t>(c.whole.src[2].bits);
  store.src.insert(store.src.end(), data.begin(), data.end());
  code_.append(std::move(store));
}

/// Loads byte `k` of what `whole` copies, and inserts it into `word`.
void copy_translator::copy_byte(const expansion& steps, const hir_instruction& whole, unsigned k, const value& word) {
  hir_instruction one = in_place_of(whole, ptx_op::ld, dtype::u8, {steps.word()}, {whole.src[0]});
  one.m.space = state_space::global;
  one.m.cache = whole.m.cache;
  one.offset = whole.offset + k;
  const value byte = one.dst[0];
  code_.append(std::move(one));
  steps.put(ptx_op::bfi, dtype::b32, {word}, {byte, word, immediate_value(k % 4 * 8), immediate_value(8)});
}

}  // namespace heddle::ptx
