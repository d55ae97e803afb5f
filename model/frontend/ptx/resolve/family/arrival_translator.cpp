// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/resolve/family/arrival_translator.h"

#include <utility>

#include "heddle/isa/instruction.h"

namespace heddle::ptx {

namespace {

using isa::dtype;

constexpr unsigned expected_shift = 20;    // position of the expected arrivals in the object
constexpr std::uint64_t drops = 1u << 20;  // one dropped thread, in the encoding of an arrival

}  // namespace

void arrival_translator::arrive_at(const hir_instruction& h, const ast_operand& where, value state, value count,
                                   value bytes) {
  const value change = expansion(code_, h).make(ptx_op::pack, dtype::b64, {count, bytes});
  hir_instruction a = in_place_of(h, state.is_reg() ? ptx_op::atom : ptx_op::red, dtype::b64, {}, {});
  if (state.is_reg()) a.dst = {state};
  a.m.space = h.m.space;
  a.m.sub = static_cast<std::uint8_t>(isa::atomic_op::arrive);
  a.m.order = h.m.order == modifiers::order_kind::relaxed ? h.m.order : modifiers::order_kind::release;
  a.m.scope = 0;
  a.guard = h.guard;
  in_.address(a, where);
  a.src.push_back(change);
  code_.append(std::move(a));
}

value arrival_translator::number(const ast_instruction& i, std::size_t k) {
  return in_.operand(i.operands[k], dtype::u32, i.where);
}

void arrival_translator::start(const hir_instruction& h, const ast_instruction& i) {
  const expansion steps(code_, h);
  const value count = number(i, 1);
  const value whole = steps.make(ptx_op::pack, dtype::b64, {count, immediate_value(0)});
  const value next = steps.make(ptx_op::shl, dtype::b64, {whole, immediate_value(expected_shift)});
  const value both = steps.make(ptx_op::or_, dtype::b64, {whole, next});
  hir_instruction store = in_place_of(h, ptx_op::st, dtype::b64, {}, {});
  store.m.space = h.m.space;
  store.guard = h.guard;
  in_.address(store, i.operands[0]);
  store.src.push_back(both);
  code_.append(std::move(store));
}

/// A wait that may suspend: one instruction of the machine, whose sources are the address, a word with the phase in its
/// sign, and the time limit. Chips without it test once.
void arrival_translator::suspend(const hir_instruction& h, const ast_instruction& i) {
  const expansion steps(code_, h);
  const value waited = steps.word();
  if (h.m.parity) steps.put(ptx_op::shl, dtype::b32, {waited}, {number(i, 2), immediate_value(31)});
  else steps.put(ptx_op::unpack, dtype::b64, {steps.word(), waited}, {in_.operand(i.operands[2], dtype::b64, i.where)});
  hir_instruction w = in_place_of(h, ptx_op::mbarrier, dtype::b64, {in_.destination(i.operands[0], i.where)}, {});
  w.m.sub = h.m.sub;
  w.m.space = h.m.space;
  w.m.order = h.m.order == modifiers::order_kind::relaxed ? h.m.order : modifiers::order_kind::acquire;
  w.m.scope = i.has("cluster") ? 1 : 0;
  w.guard = h.guard;
  in_.address(w, i.operands[1]);
  w.src.push_back(waited);
  if (i.operands.size() > 3) w.src.push_back(number(i, 3));
  code_.append(std::move(w));
}

/// The phase is complete if the object's phase differs from that of the state, or from the parity, that is waited for.
void arrival_translator::wait(const hir_instruction& h, const ast_instruction& i) {
  const expansion steps(code_, h);
  const value object = steps.pair(), low = steps.word(), high = steps.word(), differs = steps.word();
  hir_instruction load = in_place_of(h, ptx_op::ld, dtype::b64, {object}, {});
  load.m.space = h.m.space;
  load.m.order = h.m.order == modifiers::order_kind::relaxed ? h.m.order : modifiers::order_kind::acquire;
  load.m.scope = 0;
  load.guard = h.guard;
  in_.address(load, i.operands[1]);
  code_.append(std::move(load));
  steps.put(ptx_op::unpack, dtype::b64, {low, high}, {object});
  if (h.m.parity) {
    const value sign = steps.word();
    steps.put(ptx_op::shl, dtype::b32, {sign}, {number(i, 2), immediate_value(31)});
    steps.put(ptx_op::xor_, dtype::b32, {differs}, {high, sign});
  } else {
    const value old_low = steps.word(), old_high = steps.word();
    steps.put(ptx_op::unpack, dtype::b64, {old_low, old_high}, {in_.operand(i.operands[2], dtype::b64, i.where)});
    steps.put(ptx_op::xor_, dtype::b32, {differs}, {high, old_high});
  }
  hir_instruction test = in_place_of(h, ptx_op::setp, dtype::s32, {in_.destination(i.operands[0], i.where)},
                                     {differs, immediate_value(0)});
  test.m.cmp = isa::compare::lt;
  test.guard = h.guard;
  code_.append(std::move(test));
}

void arrival_translator::pending_count(const hir_instruction& h, const ast_instruction& i) {
  const expansion steps(code_, h);
  const value low = steps.word(), high = steps.word();
  steps.put(ptx_op::unpack, dtype::b64, {low, high}, {in_.operand(i.operands[1], dtype::b64, i.where)});
  steps.finish(ptx_op::and_, dtype::b32, in_.destination(i.operands[0], i.where), {low, immediate_value(drops - 1)});
}

/// arrive and arrive_drop.
void arrival_translator::arrive(const hir_instruction& h, const ast_instruction& i) {
  const bool counts = i.operands.size() > 2;
  value count = counts && !h.m.sums ? number(i, 2) : immediate_value(1);
  if (static_cast<arrival_kind>(h.m.sub) == arrival_kind::arrive_drop)
    count = expansion(code_, h).make(ptx_op::or_, dtype::b32, {count, immediate_value(drops)});
  const value bytes = counts && h.m.sums ? number(i, 2) : immediate_value(0);
  arrive_at(h, i.operands[1], in_.destination(i.operands[0], i.where), count, bytes);
}

void arrival_translator::check(const hir_instruction& h, const ast_instruction& i) const {
  using k = arrival_kind;
  const auto kind = static_cast<k>(h.m.sub);
  const bool arrives = kind == k::arrive || kind == k::arrive_drop, waits = kind == k::test_wait || kind == k::try_wait;
  const std::size_t least = kind == k::inval ? 1 : waits || (arrives && h.m.sums) ? 3 : 2;
  if (h.m.type != dtype::b64 && kind != k::expect_tx && kind != k::complete_tx)
    code_.fail(i.where, "'" + i.mnemonic() + "' needs type .b64");
  if (i.operands.size() < least) code_.fail(i.where, "'" + i.mnemonic() + "' with too few operands");
}

void arrival_translator::translate(const hir_instruction& h, const ast_instruction& i) {
  using k = arrival_kind;
  const expansion steps(code_, h);
  steps.require();
  check(h, i);
  switch (static_cast<k>(h.m.sub)) {
    case k::init: return start(h, i);
    case k::inval: return;
    case k::test_wait: return wait(h, i);
    case k::try_wait: return suspend(h, i);
    case k::pending_count: return pending_count(h, i);
    case k::expect_tx: return arrive_at(h, i.operands[0], {}, immediate_value(0), number(i, 1));
    case k::complete_tx: {
      const value less = steps.word();
      steps.put(ptx_op::neg, dtype::s32, {less}, {number(i, 1)});
      return arrive_at(h, i.operands[0], {}, immediate_value(0), less);
    }
    case k::arrive:
    case k::arrive_drop: return arrive(h, i);
  }
}

}  // namespace heddle::ptx
