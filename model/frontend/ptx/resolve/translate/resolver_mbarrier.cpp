// SPDX-License-Identifier: MIT
// mbarrier: an object of 64 bits (simt/scalar/arrival.h). Arrivals update it by a dedicated atomic operation; waits
// read it.
#include "heddle/frontend/ptx/resolve/translate/resolver.h"
#include "heddle/isa/instruction.h"

namespace heddle::ptx {

namespace {

using isa::dtype;

constexpr unsigned expected_shift = 20;    // position of the expected arrivals in the object
constexpr std::uint64_t drops = 1u << 20;  // one dropped thread, in the encoding of an arrival

}  // namespace

/// Appends an arrival of `count` at the object, which also adds `bytes` to the expected bytes. `state` receives the
/// old value; none: not needed.
void resolver::arrive_at(const hir_instruction& h, const ast_operand& where, value state, value count, value bytes) {
  const value change = register_value(code_.new_register(2, 64));
  code_.append(in_place_of(h, ptx_op::pack, dtype::b64, {change}, {count, bytes}));
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

void resolver::arrival_start(const hir_instruction& h, const ast_instruction& i) {
  const auto fresh = [&] { return register_value(code_.new_register(2, 64)); };
  const value count = in_.operand(i.operands[1], dtype::u32, i.where), whole = fresh(), next = fresh(), both = fresh();
  code_.append(in_place_of(h, ptx_op::pack, dtype::b64, {whole}, {count, immediate_value(0)}));
  code_.append(in_place_of(h, ptx_op::shl, dtype::b64, {next}, {whole, immediate_value(expected_shift)}));
  code_.append(in_place_of(h, ptx_op::or_, dtype::b64, {both}, {whole, next}));
  hir_instruction store = in_place_of(h, ptx_op::st, dtype::b64, {}, {});
  store.m.space = h.m.space;
  store.guard = h.guard;
  in_.address(store, i.operands[0]);
  store.src.push_back(both);
  code_.append(std::move(store));
}

/// The phase is complete if the object's phase differs from that of the state, or from the parity, that is waited for.
void resolver::arrival_wait(const hir_instruction& h, const ast_instruction& i) {
  const auto fresh = [&] { return register_value(code_.new_register(1, 32)); };
  const value object = register_value(code_.new_register(2, 64)), low = fresh(), high = fresh(), differs = fresh();
  hir_instruction load = in_place_of(h, ptx_op::ld, dtype::b64, {object}, {});
  load.m.space = h.m.space;
  load.m.order = h.m.order == modifiers::order_kind::relaxed ? h.m.order : modifiers::order_kind::acquire;
  load.m.scope = 0;
  load.guard = h.guard;
  in_.address(load, i.operands[1]);
  code_.append(std::move(load));
  code_.append(in_place_of(h, ptx_op::unpack, dtype::b64, {low, high}, {object}));
  if (h.m.parity) {
    const value sign = fresh();
    code_.append(in_place_of(h, ptx_op::shl, dtype::b32, {sign},
                             {in_.operand(i.operands[2], dtype::u32, i.where), immediate_value(31)}));
    code_.append(in_place_of(h, ptx_op::xor_, dtype::b32, {differs}, {high, sign}));
  } else {
    const value old_low = fresh(), old_high = fresh();
    code_.append(in_place_of(h, ptx_op::unpack, dtype::b64, {old_low, old_high},
                             {in_.operand(i.operands[2], dtype::b64, i.where)}));
    code_.append(in_place_of(h, ptx_op::xor_, dtype::b32, {differs}, {high, old_high}));
  }
  hir_instruction test = in_place_of(h, ptx_op::setp, dtype::s32, {in_.destination(i.operands[0], i.where)},
                                     {differs, immediate_value(0)});
  test.m.cmp = isa::compare::lt;
  test.guard = h.guard;
  code_.append(std::move(test));
}

void resolver::arrival_barrier(const hir_instruction& h, const ast_instruction& i) {
  using k = arrival_kind;
  hir_instruction capability = h;  // only checked by selection: a GPU without the instruction rejects it
  capability.guard = {};
  code_.append(std::move(capability));
  const auto kind = static_cast<k>(h.m.sub);
  const bool arrives = kind == k::arrive || kind == k::arrive_drop, waits = kind == k::test_wait || kind == k::try_wait;
  const std::size_t least = kind == k::inval ? 1 : waits || (arrives && h.m.sums) ? 3 : 2;
  if (h.m.type != dtype::b64 && kind != k::expect_tx && kind != k::complete_tx)
    code_.fail(i.where, "'" + i.mnemonic() + "' needs type .b64");
  if (i.operands.size() < least) code_.fail(i.where, "'" + i.mnemonic() + "' with too few operands");
  const auto number = [&](std::size_t n) { return in_.operand(i.operands[n], dtype::u32, i.where); };
  switch (kind) {
    case k::init: return arrival_start(h, i);
    case k::inval: return;
    case k::test_wait:
    case k::try_wait: return arrival_wait(h, i);
    case k::pending_count: {
      const value low = register_value(code_.new_register(1, 32)), high = register_value(code_.new_register(1, 32));
      code_.append(
          in_place_of(h, ptx_op::unpack, dtype::b64, {low, high}, {in_.operand(i.operands[1], dtype::b64, i.where)}));
      hir_instruction cut = in_place_of(h, ptx_op::and_, dtype::b32, {in_.destination(i.operands[0], i.where)},
                                        {low, immediate_value(drops - 1)});
      cut.guard = h.guard;
      return code_.append(std::move(cut));
    }
    case k::expect_tx: return arrive_at(h, i.operands[0], {}, immediate_value(0), number(1));
    case k::complete_tx: {
      const value less = register_value(code_.new_register(1, 32));
      code_.append(in_place_of(h, ptx_op::neg, dtype::s32, {less}, {number(1)}));
      return arrive_at(h, i.operands[0], {}, immediate_value(0), less);
    }
    default: break;
  }
  const bool counts = i.operands.size() > 2;
  value count = counts && !h.m.sums ? number(2) : immediate_value(1);
  if (kind == k::arrive_drop) {
    const value marked = register_value(code_.new_register(1, 32));
    code_.append(in_place_of(h, ptx_op::or_, dtype::b32, {marked}, {count, immediate_value(drops)}));
    count = marked;
  }
  const value bytes = counts && h.m.sums ? number(2) : immediate_value(0);
  arrive_at(h, i.operands[1], in_.destination(i.operands[0], i.where), count, bytes);
}

}  // namespace heddle::ptx
