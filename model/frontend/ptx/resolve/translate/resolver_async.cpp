// SPDX-License-Identifier: MIT
// cp.async is expanded to the load and the store that it represents. A copy may complete at any time before its group
// is waited for; in the model it is complete when it has issued. Loads are placed ahead of the stores, so consecutive
// copies overlap.
#include "heddle/frontend/ptx/resolve/translate/resolver.h"

namespace heddle::ptx {

void resolver::asynchronous_copy(const hir_instruction& h, const ast_instruction& i) {
  hir_instruction capability = h;  // only checked by selection: a GPU without the instruction rejects it
  capability.guard = {};
  code_.append(std::move(capability));
  if (h.m.sub == copy_arrival) {  // all copies are complete; without .noinc increment and arrival cancel out
    if (i.operands.size() != 1) code_.fail(i.where, "'" + i.mnemonic() + "' needs the address of an mbarrier");
    if (h.m.sums) arrive_at(h, i.operands[0], {}, immediate_value(1), immediate_value(0));
    return;
  }
  if (h.m.sub == copy_bulk) return bulk_copy(h, i);
  if (h.m.sub != copy_itself) return;  // groups: no copy is outstanding
  if (i.operands.size() < 3) code_.fail(i.where, "'" + i.mnemonic() + "' with too few operands");
  const value length = in_.operand(i.operands[2], isa::dtype::u32, i.where);
  const std::uint64_t bytes = length.bits;
  if (!length.is_immediate() || (bytes != 16 && (bytes != 4 && bytes != 8)) ||
      (bytes != 16 && h.m.cache == isa::cache_op::cg))
    code_.fail(i.where, "'" + i.mnemonic() + "' copies 4, 8 or 16 bytes, with .cg 16");
  const unsigned words = static_cast<unsigned>(bytes / 4);
  std::vector<value> data;
  for (unsigned k = 0; k < words; ++k) data.push_back(register_value(code_.new_register(1, 32)));

  hir_instruction load = in_place_of(h, ptx_op::ld, isa::dtype::b32, data, {});
  load.m.space = state_space::global;
  load.m.cache = h.m.cache;
  load.m.vector = words;
  load.guard = h.guard;
  in_.address(load, i.operands[1]);
  hir_instruction store = in_place_of(h, ptx_op::st, isa::dtype::b32, {}, {});
  store.m.space = state_space::shared;
  store.m.vector = words;
  store.guard = h.guard;
  in_.address(store, i.operands[0]);
  for (const value& d : data) store.src.push_back(d);

  value taken;  // bytes to copy, or the predicate that nothing is copied; the rest of the destination is filled with
                // zeros
  bool ignores = false;
  if (i.operands.size() > 3 && i.operands[3].what != ast_operand::kind::sink) {
    taken = in_.operand(i.operands[3], isa::dtype::u32, i.where);
    ignores = taken.is_reg() && code_.registers()[taken.reg].words == 0;
    if (taken.is_reg() && code_.registers()[taken.reg].words == 2) taken = {};  // a cache policy
  }
  if (taken.what != value::kind::none && !(taken.is_immediate() && taken.bits >= bytes))
    copy_part(h, load, taken, ignores, bytes, data);
  else code_.append(std::move(load));
  code_.append(std::move(store));
}

/// cp.async.bulk between global and shared memory: the thread copies 16 bytes per iteration; then the bytes arrive at
/// the mbarrier.
void resolver::bulk_copy(const hir_instruction& h, const ast_instruction& i) {
  const bool inward = h.m.space == state_space::global;  // the source state space is named last
  const std::size_t operands = inward ? 4 : 3;
  if (i.operands.size() < operands || h.m.sums != inward)
    code_.fail(i.where, "unsupported form of instruction '" + i.mnemonic() + "'");
  const value size = in_.operand(i.operands[2], isa::dtype::u32, i.where);
  const std::uint32_t again = code_.new_label(), done = code_.new_label();
  const auto jump_if = [&](value condition, std::uint32_t label) {
    hir_instruction j = in_place_of(h, ptx_op::bra, isa::dtype::none, {}, {});
    j.target = label;
    j.guard = condition;
    code_.append(std::move(j));
  };
  if (h.guard.what != value::kind::none) {
    value skips = h.guard;
    skips.negate = !skips.negate;
    jump_if(skips, done);
  }
  std::vector<value> data;
  for (unsigned k = 0; k < 4; ++k) data.push_back(register_value(code_.new_register(1, 32)));
  hir_instruction load = in_place_of(h, ptx_op::ld, isa::dtype::b32, data, {}),
                  store = in_place_of(h, ptx_op::st, isa::dtype::b32, {}, {});
  load.m.vector = store.m.vector = 4;
  load.m.space = inward ? state_space::global : state_space::shared;
  store.m.space = inward ? state_space::shared : state_space::global;
  in_.address(load, i.operands[1]);
  in_.address(store, i.operands[0]);
  value moving[2];
  hir_instruction* const accesses[2] = {&load, &store};
  for (unsigned k = 0; k < 2; ++k) {
    value& base = accesses[k]->src[0];
    const unsigned words = base.is_reg()                                 ? code_.registers()[base.reg].words
                           : accesses[k]->m.space == state_space::global ? 2
                                                                         : 1;
    moving[k] = register_value(code_.new_register(words, 32 * words));
    code_.append(in_place_of(h, ptx_op::mov, words == 2 ? isa::dtype::b64 : isa::dtype::b32, {moving[k]}, {base}));
    base = moving[k];
  }
  for (const value& d : data) store.src.push_back(d);
  const value left = register_value(code_.new_register(1, 32)), more = register_value(code_.new_register(0, 1));
  code_.append(in_place_of(h, ptx_op::mov, isa::dtype::b32, {left}, {size}));
  const auto step = [&](ptx_op op, const value& v) {
    const isa::dtype type = code_.registers()[v.reg].words == 2 ? isa::dtype::u64 : isa::dtype::u32;
    code_.append(in_place_of(h, op, type, {v}, {v, immediate_value(16)}));
  };
  code_.place_label(again);
  code_.append(std::move(load));
  code_.append(std::move(store));
  for (const value& v : moving) step(ptx_op::add, v);
  step(ptx_op::sub, left);
  hir_instruction test = in_place_of(h, ptx_op::setp, isa::dtype::s32, {more}, {left, immediate_value(0)});
  test.m.cmp = isa::compare::gt;
  code_.append(std::move(test));
  jump_if(more, again);
  if (inward) {
    hir_instruction at = h;
    at.guard = {};
    at.m.space = state_space::shared;
    const value less = register_value(code_.new_register(1, 32));
    code_.append(in_place_of(h, ptx_op::neg, isa::dtype::s32, {less}, {size}));
    arrive_at(at, i.operands[3], {}, immediate_value(0), less);
  }
  code_.place_label(done);
}

/// Loads the bytes to be copied and fills the rest of `data` with zeros.
void resolver::copy_part(const hir_instruction& h, hir_instruction load, value taken, bool ignores, std::uint64_t bytes,
                         const std::vector<value>& data) {
  const auto jump_if = [&](value condition, bool negate, std::uint32_t label) {
    hir_instruction j;
    j.op = ptx_op::bra;
    j.target = label;
    j.guard = condition;
    j.guard.negate = negate;
    code_.append(std::move(j));
  };
  const auto compare = [&](isa::compare c, value a, std::uint64_t b) {
    hir_instruction t = in_place_of(h, ptx_op::setp, isa::dtype::u32, {register_value(code_.new_register(0, 1))},
                                    {a, immediate_value(b)});
    t.m.cmp = c;
    const value p = t.dst[0];
    code_.append(std::move(t));
    return p;
  };
  for (const value& d : data) code_.append(in_place_of(h, ptx_op::mov, isa::dtype::b32, {d}, {immediate_value(0)}));
  const std::uint32_t done = code_.new_label(), whole = code_.new_label();
  if (h.guard.what != value::kind::none) jump_if(h.guard, !h.guard.negate, done);
  load.guard = {};
  if (ignores) {
    jump_if(taken, !taken.negate ? false : true, done);
    code_.append(std::move(load));
    code_.place_label(done);
    return;
  }
  const value count = register_value(code_.new_register(1, 32));
  code_.append(in_place_of(h, ptx_op::mov, isa::dtype::b32, {count}, {taken}));
  jump_if(compare(isa::compare::ge, count, bytes), false, whole);
  for (unsigned k = 0; k < bytes; ++k) {
    jump_if(compare(isa::compare::le, count, k), false, done);
    const value byte = register_value(code_.new_register(1, 32));
    hir_instruction one = in_place_of(h, ptx_op::ld, isa::dtype::u8, {byte}, {load.src[0]});
    one.m.space = state_space::global;
    one.m.cache = load.m.cache;
    one.offset = load.offset + k;
    code_.append(std::move(one));
    code_.append(in_place_of(h, ptx_op::bfi, isa::dtype::b32, {data[k / 4]},
                             {byte, data[k / 4], immediate_value(k % 4 * 8), immediate_value(8)}));
  }
  code_.jump(done);
  code_.place_label(whole);
  code_.append(std::move(load));
  code_.place_label(done);
}

}  // namespace heddle::ptx
