// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/select/family/memory_selector.h"

#include <algorithm>

#include "heddle/isa/cache_policy.h"
#include "heddle/isa/program.h"

namespace heddle::ptx {

using isa::dtype;
using isa::opcode;

namespace {

isa::dtype access_type(unsigned bytes) {
  switch (bytes) {
    case 1: return isa::dtype::u8;
    case 2: return isa::dtype::u16;
    case 4: return isa::dtype::b32;
    case 8: return isa::dtype::b64;
    default: return isa::dtype::b128;
  }
}

isa::space machine_space(state_space s) {
  switch (s) {
    case state_space::global: return isa::space::global;
    case state_space::shared: return isa::space::shared;
    case state_space::local: return isa::space::local;
    case state_space::constant:
    case state_space::param: return isa::space::constant;
    default: return isa::space::generic;
  }
}

bool fits_offset(std::int64_t v) { return v >= -(1 << 23) && v < (1 << 23); }
// An access that must be visible outside the GPU: by its scope, volatile (which is .relaxed.sys), or bypassing all
// caches.
bool of_system(const modifiers& m) {
  using cache = isa::cache_op;
  if (m.order != modifiers::order_kind::weak) return m.scope == 2;
  return m.cache == cache::volatile_ || m.cache == cache::cv || m.cache == cache::wt;
}

}  // namespace

void memory_selector::memory_address(machine_instruction& i, const value& base) {
  i.base.mem_space = machine_space(in_.now().m.space);
  const bool narrow_space = i.base.mem_space != isa::space::global && i.base.mem_space != isa::space::generic;
  virtual_operand& a = i.src[0];
  if (base.is_immediate()) {
    const std::int64_t absolute = static_cast<std::int64_t>(base.bits) + in_.now().offset;
    if (narrow_space || fits_offset(absolute)) {
      i.base.offset = narrow_space ? static_cast<std::int64_t>(static_cast<std::uint32_t>(absolute)) : absolute;
      a = zero();
      a.count = narrow_space ? 1 : 2;
    } else {
      a = immediate(static_cast<std::uint64_t>(absolute), 2);
    }
    return;
  }
  if (base.is_reg() && in_.registers()[base.reg].words == 0) in_.fail("predicate register as an address");
  a = in_.to_operand(base, narrow_space || in_.address_words(base) == 1 ? dtype::b32 : dtype::b64);
  if (a.count == 1 && !narrow_space) {  // 32-bit addresses are the low part of the 64-bit space
    const register_part t = out_.temp(2);
    out_.copy({t.reg, 0, 1}, a);
    out_.copy({t.reg, 1, 1}, zero());
    a = t;
  }
  if (fits_offset(in_.now().offset)) {
    i.base.offset = in_.now().offset;
    return;
  }
  const auto far = static_cast<std::uint64_t>(in_.now().offset);
  const register_part sum = out_.temp(narrow_space ? 1 : 2);
  if (narrow_space) out_.put(opcode::iadd3, sum, {a, immediate(far & 0xffffffffu), zero()});
  else wide_.add(sum, {word(a, 0), word(a, 1)}, {immediate(far & 0xffffffffu), immediate(far >> 32)}, false);
  a = sum;
}

/// The upper word of the access's cache policy; none: the L2's replacement does as for all others.
virtual_operand memory_selector::policy(isa::space space) const {
  using isa::eviction;
  const hir_instruction& h = in_.now();
  if (space != isa::space::global && space != isa::space::generic) return {};
  if (h.m.hinted) return word(in_.to_operand(h.src.back(), dtype::b64), 1);
  if (h.m.evict != eviction::first && h.m.evict != eviction::last) return {};
  return immediate(isa::cache_policy::of_fraction(h.m.evict, eviction::unchanged, 16));
}

void memory_selector::order_before(const modifiers& m) {
  using order = modifiers::order_kind;
  if (m.order == order::release || m.order == order::acq_rel || m.order == order::sc)
    out_.put(opcode::membar, {no_register, 0, 0}, {}).base.sub = static_cast<std::uint8_t>(m.scope);
}

void memory_selector::order_after(const modifiers& m) {
  using order = modifiers::order_kind;
  if (m.order == order::acquire || m.order == order::acq_rel || m.order == order::sc)
    out_.put(opcode::membar, {no_register, 0, 0}, {}).base.sub =
        static_cast<std::uint8_t>(static_cast<unsigned>(m.scope) | isa::membar_acquires);
}

void memory_selector::load() {
  const dtype t = in_.now().m.type;
  const unsigned size = isa::size_of(t), bytes = size * in_.now().m.vector;
  if (size == 0 || bytes > 16) in_.unsupported();
  in_.need(1);
  order_before(in_.now().m);
  machine_instruction i;
  memory_address(i, in_.now().src[0]);
  const bool constant = i.base.mem_space == isa::space::constant;
  const bool one = in_.now().m.vector == 1;
  const bool direct = one && (!in_.now().dst[0].is_reg() ||
                              in_.registers()[in_.now().dst[0].reg].words * 4u == (bytes < 4 ? 4 : bytes));
  const register_part d = direct ? in_.dst() : out_.temp(bytes < 4 ? 1 : bytes / 4);
  const virtual_operand address = i.src[0];
  machine_instruction& ld = out_.put(constant ? opcode::ldc : opcode::ld, d, {address});
  ld.base.mem_space = i.base.mem_space;
  ld.base.offset = i.base.offset;
  ld.src[3] = policy(i.base.mem_space);
  ld.base.type = one && size < 4 && isa::is_signed(t) ? t : access_type(bytes);
  ld.base.cache = in_.now().m.order != modifiers::order_kind::weak ? isa::cache_op::volatile_ : in_.now().m.cache;
  ld.base.system = !constant && of_system(in_.now().m);
  ld.base.block_scope = in_.now().m.scope == 0;
  if (constant) {
    ld.base.sub = in_.now().m.space == state_space::param ? 0 : 3;
    ld.base.cache = isa::cache_op::ca;
  }
  out_.guard(ld);
  if (direct) return order_after(in_.now().m);
  if (one) {
    out_.write_extended(in_.now().dst[0], d, t);
  } else if (size < 4) {
    runs_.extract_elements(d, size, isa::is_signed(t));
  } else {
    for (unsigned k = 0; k < in_.now().m.vector; ++k) {
      virtual_operand e(
          register_part{d.reg, static_cast<std::uint8_t>(k * size / 4), static_cast<std::uint8_t>(size / 4)});
      out_.write_extended(in_.now().dst[k], e, t);
    }
  }
  order_after(in_.now().m);
}

void memory_selector::store() {
  const dtype t = in_.now().m.type;
  const unsigned size = isa::size_of(t), bytes = size * in_.now().m.vector;
  if (size == 0 || bytes > 16) in_.unsupported();
  in_.need(2);
  if (in_.now().m.space == state_space::constant || in_.now().m.space == state_space::param) in_.unsupported();
  const virtual_operand data = in_.now().m.vector == 1 ? in_.src(1) : virtual_operand(runs_.pack_elements(size, 1));
  order_before(in_.now().m);
  machine_instruction i;
  memory_address(i, in_.now().src[0]);
  machine_instruction& st = out_.put(opcode::st, {no_register, 0, 0}, {i.src[0], data});
  st.base.mem_space = i.base.mem_space;
  st.base.offset = i.base.offset;
  st.src[3] = policy(i.base.mem_space);
  st.base.type = access_type(bytes);
  st.base.cache = in_.now().m.order != modifiers::order_kind::weak ? isa::cache_op::volatile_ : in_.now().m.cache;
  st.base.system = of_system(in_.now().m);
  st.base.block_scope = in_.now().m.scope == 0;
}

/// Each element of a vector is a separate atomic operation (PTX ISA: their order is unspecified).
void memory_selector::check_vector_atomic(isa::atomic_op kind) const {
  using op = isa::atomic_op;
  const dtype t = in_.now().m.type;
  chip_.require_capability(9);
  const bool single = t == dtype::f16 || t == dtype::bf16, pair = t == dtype::f16x2 || t == dtype::bf16x2;
  if (in_.now().m.space != state_space::global && in_.now().m.space != state_space::none) in_.unsupported();
  if (in_.now().m.vector > (single ? 8u : 4u) || !(single || pair || t == dtype::f32)) in_.unsupported();
  if (kind != op::add && (t == dtype::f32 || (kind != op::min && kind != op::max))) in_.unsupported();
}

/// Only exchanges have 16 bytes.
void memory_selector::check_wide_atomic(isa::atomic_op kind) const {
  chip_.require_capability(9);
  if (kind != isa::atomic_op::exch && kind != isa::atomic_op::cas) in_.unsupported();
}

/// From 8.0 on, ptxas makes ATOMS.POPC.INC.32 of additions of 1 to shared memory whose result is not used (found in the
/// code that it generates for 7.5, 8.0, 8.6 and 9.0).
bool memory_selector::counts_lanes(isa::atomic_op kind) const {
  const hir_instruction& h = in_.now();
  const bool adds_one = kind == isa::atomic_op::add && h.src[1].is_immediate() && h.src[1].bits == 1;
  const bool of_words = h.m.type == dtype::u32 || h.m.type == dtype::s32;
  return chip_.has_capability(8, 0) && h.m.space == state_space::shared && of_words && adds_one;
}

void memory_selector::atomic() {
  const dtype t = in_.now().m.type;
  const unsigned size = isa::size_of(t);
  const bool reduction = in_.now().op == ptx_op::red;
  const auto kind = static_cast<isa::atomic_op>(in_.now().m.sub);
  if (size < 2 || in_.now().m.types != 1) in_.unsupported();
  if (size > 8) check_wide_atomic(kind);
  if (in_.now().m.space == state_space::local || in_.now().m.space == state_space::constant ||
      in_.now().m.space == state_space::param)
    in_.unsupported();
  if (isa::is_float(t) && kind != isa::atomic_op::add && kind != isa::atomic_op::exch &&
      ((kind != isa::atomic_op::min && kind != isa::atomic_op::max) || size == 8 || t == dtype::f32))
    in_.unsupported();
  if (in_.now().m.vector > 1) check_vector_atomic(kind);
  order_before(in_.now().m);
  machine_instruction i;
  memory_address(i, in_.now().src[0]);
  const bool swaps = kind == isa::atomic_op::cas;
  machine_instruction& a =
      out_.put(reduction ? opcode::red : opcode::atom, reduction ? register_part{no_register, 0, 0} : in_.dst(),
               {i.src[0], in_.src(1), swaps ? in_.src(2) : virtual_operand()});
  a.base.mem_space = i.base.mem_space;
  a.base.offset = i.base.offset;
  a.src[3] = policy(i.base.mem_space);
  a.base.type = t;
  a.base.sub = in_.now().m.sub;
  a.base.system = in_.now().m.scope == 2;
  a.base.block_scope = in_.now().m.scope == 0;
  a.base.counts = reduction && counts_lanes(kind);
  order_after(in_.now().m);
}

void memory_selector::fence() {
  using order = modifiers::order_kind;
  const modifiers& m = in_.now().m;
  const unsigned acquires = m.order == order::acquire || m.of_views ? isa::membar_acquires : 0;
  out_.put(opcode::membar, {no_register, 0, 0}, {}).base.sub =
      static_cast<std::uint8_t>(static_cast<unsigned>(m.scope) | acquires);
}

/// cp.async and its groups. Sources of a copy: the address in global memory, address and offset in shared memory, and
/// the predicate that the lane copies, if it does not always.
void memory_selector::copy() {
  const register_part none{no_register, 0, 0};
  const hir_instruction& h = in_.now();
  if (h.m.sub >= copy_bulk) return bulk_copy();
  chip_.require_capability(8);
  if (h.m.sub == copy_commit) out_.put(opcode::ldgdepbar, none, {}).base.sub = h.m.signals;
  if (h.m.sub == copy_wait && !h.src.empty())
    out_.put(opcode::depbar, none, {}).base.sub =
        static_cast<std::uint8_t>(std::min<std::uint64_t>(h.src[0].bits, 255));
  if (h.m.sub != copy_itself) return;
  machine_instruction i;
  memory_address(i, h.src[0]);
  const virtual_operand to = in_.to_operand(h.src[1], dtype::b32);
  virtual_operand offset;
  if (h.src[2].bits != 0) offset = immediate(h.src[2].bits & 0xffffffffu);
  machine_instruction& c = out_.put(opcode::ldgsts, none, {i.src[0], to, offset});
  if (h.src.size() > (h.m.hinted ? 4u : 3u)) c.psrc[0] = in_.predicate(h.src[3]);
  c.src[3] = policy(isa::space::global);
  c.base.mem_space = isa::space::global;
  c.base.offset = i.base.offset;
  c.base.type = access_type(4 * h.m.vector);
  c.base.cache = h.m.cache;
}

/// Sources: the address in global memory or of the tensor map, then the words of each quad that the machine instruction
/// reads.
void memory_selector::bulk_copy() {
  chip_.require_bulk_copies();
  const register_part none{no_register, 0, 0};
  const hir_instruction& h = in_.now();
  if (h.m.sub == bulk_commit) out_.put(opcode::utmacmdflush, none, {});
  if (h.m.sub == bulk_wait) {
    machine_instruction& w = out_.put(opcode::depbar, none, {});
    w.base.sub = static_cast<std::uint8_t>(std::min<std::uint64_t>(h.src[0].bits, 255));
    w.base.offset = h.m.sums ? isa::copies::of_unit_reads : isa::copies::of_unit;
  }
  if (h.m.sub != copy_bulk) return;
  const virtual_operand address = in_.to_operand(h.src[0], dtype::b64), first = runs_.gather(1, 4, 1);
  virtual_operand second, third;
  if (h.src.size() == 6) second = in_.to_operand(h.src[5], dtype::b32);  // the cache policy
  if (h.src.size() > 6) {
    second = runs_.gather(5, 4, 1);
    third = runs_.gather(9, 4, 1);
  }
  machine_instruction& c = out_.put(h.m.bulk, none, {address, first, second, third});
  c.base.sub = h.m.bulk_sub;
  if (h.m.bulk == opcode::utmaredg) c.base.offset = h.m.reduces;
  if (h.m.bulk == opcode::ublkred) c.base.offset = h.m.sums;  // in shared memory
  c.base.type = h.m.type == dtype::none ? dtype::u32 : h.m.type;
}

/// mbarrier.try_wait: the address, a word with the phase that is waited for in its sign, and perhaps a time limit.
void memory_selector::arrival_wait() {
  chip_.require_capability(8);
  const hir_instruction& h = in_.now();
  if (h.src.empty()) return;
  machine_instruction i;
  memory_address(i, h.src[0]);
  const virtual_operand waited = in_.to_operand(h.src[1], dtype::b32);
  const std::uint32_t p = in_.predicate_dst();
  if (chip_.has_capability(9, 0)) {
    const virtual_operand limit = h.src.size() > 2 ? in_.to_operand(h.src[2], dtype::b32) : virtual_operand();
    machine_instruction& s = out_.put_predicate(opcode::syncs, p, {i.src[0], waited, limit});
    s.base.mem_space = i.base.mem_space;
    s.base.offset = i.base.offset;
    if (h.m.scope != 0) order_after(h.m);
    return;
  }
  const register_part object = out_.temp(2);
  machine_instruction& ld = out_.put(opcode::ld, object, {i.src[0]});
  ld.base.mem_space = i.base.mem_space;
  ld.base.offset = i.base.offset;
  ld.base.type = dtype::b64;
  ld.base.cache = isa::cache_op::volatile_;
  order_after(h.m);
  const register_part differs = out_.temp();
  out_.put(opcode::lop3, differs, {register_part{object.reg, 1, 1}, waited, zero()}).base.sub = 0x3c;
  machine_instruction& test = out_.put_predicate(opcode::isetp, p, {differs, zero()});
  test.base.cmp = isa::compare::lt;
  test.base.type = dtype::s32;
}

void memory_selector::convert_address() {
  const dtype t = in_.now().m.type;
  if (in_.now().m.space == state_space::global || in_.now().m.space == state_space::none)
    return out_.copy(in_.dst(), in_.src(0));
  if (in_.now().m.space != state_space::shared && in_.now().m.space != state_space::local) in_.unsupported();
  virtual_operand window;
  window.kind = isa::operand_kind::constant;
  window.value = in_.now().m.space == state_space::shared ? isa::bank0::shared_window : isa::bank0::local_window;
  window.count = 2;
  if (isa::size_of(t) == 4) {  // the windows are within the 32-bit address range
    window.count = 1;
    window.negate = in_.now().m.to;
    out_.put(opcode::iadd3, in_.dst(), {in_.src(0), window, zero()});
    return;
  }
  wide_.add(in_.dst(), in_.wide(0), {word(window, 0), word(window, 1)}, in_.now().m.to);
}

void memory_selector::is_space() {
  in_.need(1);
  const std::uint32_t p = in_.predicate_dst();
  const bool global = in_.now().m.space == state_space::global || in_.now().m.space == state_space::none;
  if (!global && in_.now().m.space != state_space::shared && in_.now().m.space != state_space::local)
    return out_.move_predicate(p, {no_register, true});
  const bool narrow = in_.address_words(in_.now().src[0]) == 1;
  const wide_value a = narrow ? wide_value{in_.src(0, dtype::b32), zero()} : in_.wide(0, dtype::b64);
  const bool local = in_.now().m.space == state_space::local;
  const bool own_block = !local && !global && !in_.now().m.any_block;
  const std::uint64_t base = local ? isa::local_window_base : isa::shared_window_base;
  const std::uint64_t bytes = global      ? 2 * isa::window_bytes  // the two windows are adjacent
                              : own_block ? std::uint64_t{1} << isa::cluster_offset_bits
                                          : isa::window_bytes;
  const register_part t = out_.temp();
  const std::uint32_t low = out_.temp_predicate(), inside = out_.temp_predicate();
  out_.put_predicate(opcode::isetp, low, {a.hi, zero()}).base.cmp = isa::compare::eq;
  virtual_operand from = immediate(static_cast<std::uint32_t>(0 - base));
  out_.put(opcode::iadd3, t, {a.lo, from, zero()});
  machine_instruction& c = out_.put_predicate(opcode::isetp, inside, {t, immediate(bytes)});
  c.base.cmp = isa::compare::lt;
  c.base.type = dtype::u32;
  c.psrc[0] = {low, false};
  out_.move_predicate(p, {inside, global});
}

}  // namespace heddle::ptx
