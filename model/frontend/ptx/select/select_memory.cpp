// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/select/selector.h"
#include "heddle/isa/program.h"

namespace heddle::ptx {

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

}  // namespace

void selector::memory_address(machine_instruction& i, const value& base) {
  i.base.mem_space = machine_space(now_->m.space);
  const bool narrow_space = i.base.mem_space != isa::space::global && i.base.mem_space != isa::space::generic;
  operand& a = i.src[0];
  if (base.is_immediate()) {
    const std::int64_t absolute = static_cast<std::int64_t>(base.bits) + now_->offset;
    if (narrow_space || fits_offset(absolute)) {
      i.base.offset = narrow_space ? static_cast<std::int64_t>(static_cast<std::uint32_t>(absolute)) : absolute;
      a = zero();
      a.count = narrow_space ? 1 : 2;
    } else {
      a = immediate(static_cast<std::uint64_t>(absolute), 2);
    }
    return;
  }
  if (base.is_reg() && f_.registers[base.reg].words == 0) fail("predicate register as an address");
  a = to_operand(base, narrow_space || address_words(base) == 1 ? dtype::b32 : dtype::b64);
  if (a.count == 1 && !narrow_space) {  // 32-bit addresses are the low part of the 64-bit space
    const register_part t = temp(2);
    copy({t.reg, 0, 1}, a);
    copy({t.reg, 1, 1}, zero());
    a = t;
  }
  if (fits_offset(now_->offset)) {
    i.base.offset = now_->offset;
    return;
  }
  const auto far = static_cast<std::uint64_t>(now_->offset);
  const register_part sum = temp(narrow_space ? 1 : 2);
  if (narrow_space) put(opcode::iadd3, sum, {a, immediate(far & 0xffffffffu), zero()});
  else add_wide(sum, {word(a, 0), word(a, 1)}, {immediate(far & 0xffffffffu), immediate(far >> 32)}, false);
  a = sum;
}

namespace {
// An access that must be visible outside the GPU: by its scope, volatile (which is .relaxed.sys), or bypassing all
// caches.
bool of_system(const modifiers& m) {
  using cache = isa::cache_op;
  if (m.order != modifiers::order_kind::weak) return m.scope == 2;
  return m.cache == cache::volatile_ || m.cache == cache::cv || m.cache == cache::wt;
}
}  // namespace

void selector::order_before(const modifiers& m) {
  using order = modifiers::order_kind;
  if (m.order == order::release || m.order == order::acq_rel || m.order == order::sc)
    put(opcode::membar, {no_register, 0, 0}, {}).base.sub = static_cast<std::uint8_t>(m.scope);
}

void selector::order_after(const modifiers& m) {
  using order = modifiers::order_kind;
  if (m.order == order::acquire || m.order == order::acq_rel || m.order == order::sc)
    put(opcode::membar, {no_register, 0, 0}, {}).base.sub = static_cast<std::uint8_t>(m.scope);
}

void selector::load() {
  const dtype t = now_->m.type;
  const unsigned size = isa::size_of(t), bytes = size * now_->m.vector;
  if (size == 0 || bytes > 16) unsupported();
  need(1);
  order_before(now_->m);
  machine_instruction i;
  memory_address(i, now_->src[0]);
  const bool constant = i.base.mem_space == isa::space::constant;
  const bool one = now_->m.vector == 1;
  const bool direct =
      one && (!now_->dst[0].is_reg() || f_.registers[now_->dst[0].reg].words * 4u == (bytes < 4 ? 4 : bytes));
  const register_part d = direct ? dst() : temp(bytes < 4 ? 1 : bytes / 4);
  const operand address = i.src[0];
  machine_instruction& ld = put(constant ? opcode::ldc : opcode::ld, d, {address});
  ld.base.mem_space = i.base.mem_space;
  ld.base.offset = i.base.offset;
  ld.base.type = one && size < 4 && isa::is_signed(t) ? t : access_type(bytes);
  ld.base.cache = now_->m.order != modifiers::order_kind::weak ? isa::cache_op::volatile_ : now_->m.cache;
  ld.base.system = !constant && of_system(now_->m);
  if (constant) {
    ld.base.sub = now_->m.space == state_space::param ? 0 : 3;
    ld.base.cache = isa::cache_op::ca;
  }
  if (now_->guard.what != value::kind::none) ld.guard = {now_->guard.reg, now_->guard.negate};
  if (direct) return order_after(now_->m);
  if (one) {
    write_extended(now_->dst[0], d, t);
  } else if (size < 4) {
    extract_elements(d, size, isa::is_signed(t));
  } else {
    for (unsigned k = 0; k < now_->m.vector; ++k) {
      operand e(register_part{d.reg, static_cast<std::uint8_t>(k * size / 4), static_cast<std::uint8_t>(size / 4)});
      write_extended(now_->dst[k], e, t);
    }
  }
  order_after(now_->m);
}

void selector::extract_elements(register_part from, unsigned size, bool is_signed) {
  for (unsigned k = 0; k < now_->dst.size(); ++k) {
    if (!now_->dst[k].is_reg()) continue;
    const unsigned at = k * size;
    const unsigned b = at % 4, fill = is_signed ? 8 + b + size - 1 : 4;  // 4: a zero byte of RZ
    const unsigned selector_word =
        size == 1 ? (b | fill << 4 | fill << 8 | fill << 12) : (b | (b + 1) << 4 | fill << 8 | fill << 12);
    const register_part t = temp();
    put(opcode::prmt, t, {word(from, at / 4), immediate(selector_word), zero()});
    write_extended(now_->dst[k], t, is_signed ? dtype::s32 : dtype::u32);
  }
}

/// Elements are src[first...]; bytes are packed into pairs, pairs into words.
register_part selector::pack_elements(unsigned size, std::size_t first) {
  const std::size_t count = now_->src.size() - first;
  const dtype t = size == 1 ? dtype::b8 : size == 2 ? dtype::b16 : size == 4 ? dtype::b32 : dtype::b64;
  const unsigned bytes = static_cast<unsigned>(count) * size;
  const register_part packed = temp(bytes < 4 ? 1 : bytes / 4);
  std::vector<operand> parts;
  for (std::size_t k = 0; k < count; ++k) parts.push_back(src(first + k, t));
  for (unsigned width = size; width < 4 && parts.size() > 1; width *= 2) {
    std::vector<operand> next;
    for (std::size_t k = 0; k + 1 < parts.size(); k += 2) {
      const bool last = width == 2 || parts.size() == 2;
      const register_part w = last ? register_part{packed.reg, static_cast<std::uint8_t>(k / 2), 1} : temp();
      put(opcode::prmt, w, {parts[k], immediate(width == 1 ? 0x0040 : 0x5410), parts[k + 1]});
      next.push_back(w);
    }
    parts = next;
  }
  if (size >= 4)
    for (std::size_t k = 0; k < count; ++k)
      copy({packed.reg, static_cast<std::uint8_t>(k * size / 4), static_cast<std::uint8_t>(size / 4)}, parts[k]);
  return packed;
}

void selector::store() {
  const dtype t = now_->m.type;
  const unsigned size = isa::size_of(t), bytes = size * now_->m.vector;
  if (size == 0 || bytes > 16) unsupported();
  need(2);
  if (now_->m.space == state_space::constant || now_->m.space == state_space::param) unsupported();
  const operand data = now_->m.vector == 1 ? src(1) : operand(pack_elements(size, 1));
  order_before(now_->m);
  machine_instruction i;
  memory_address(i, now_->src[0]);
  machine_instruction& st = put(opcode::st, {no_register, 0, 0}, {i.src[0], data});
  st.base.mem_space = i.base.mem_space;
  st.base.offset = i.base.offset;
  st.base.type = access_type(bytes);
  st.base.cache = now_->m.order != modifiers::order_kind::weak ? isa::cache_op::volatile_ : now_->m.cache;
  st.base.system = of_system(now_->m);
}

/// Each element of a vector is a separate atomic operation (PTX ISA: their order is unspecified).
void selector::check_vector_atomic(isa::atomic_op kind) const {
  using op = isa::atomic_op;
  const dtype t = now_->m.type;
  require_capability(9);
  const bool single = t == dtype::f16 || t == dtype::bf16, pair = t == dtype::f16x2 || t == dtype::bf16x2;
  if (now_->m.space != state_space::global && now_->m.space != state_space::none) unsupported();
  if (now_->m.vector > (single ? 8u : 4u) || !(single || pair || t == dtype::f32)) unsupported();
  if (kind != op::add && (t == dtype::f32 || (kind != op::min && kind != op::max))) unsupported();
}

void selector::atomic() {
  const dtype t = now_->m.type;
  const unsigned size = isa::size_of(t);
  const bool reduction = now_->op == ptx_op::red;
  const auto kind = static_cast<isa::atomic_op>(now_->m.sub);
  if (size < 2 || size > 8 || now_->m.types != 1) unsupported();
  if (now_->m.space == state_space::local || now_->m.space == state_space::constant ||
      now_->m.space == state_space::param)
    unsupported();
  if (isa::is_float(t) && kind != isa::atomic_op::add && kind != isa::atomic_op::exch &&
      ((kind != isa::atomic_op::min && kind != isa::atomic_op::max) || size == 8 || t == dtype::f32))
    unsupported();
  if (now_->m.vector > 1) check_vector_atomic(kind);
  order_before(now_->m);
  machine_instruction i;
  memory_address(i, now_->src[0]);
  const bool swaps = kind == isa::atomic_op::cas;
  machine_instruction& a =
      put(reduction ? opcode::red : opcode::atom, reduction ? register_part{no_register, 0, 0} : dst(),
          {i.src[0], src(1), swaps ? src(2) : operand()});
  a.base.mem_space = i.base.mem_space;
  a.base.offset = i.base.offset;
  a.base.type = t;
  a.base.sub = now_->m.sub;
  a.base.system = now_->m.scope == 2;
  order_after(now_->m);
}

void selector::fence() {
  put(opcode::membar, {no_register, 0, 0}, {}).base.sub = static_cast<std::uint8_t>(now_->m.scope);
}

void selector::shuffle() {
  need(3);
  const bool has_mask = now_->src.size() > 3;
  const register_part d = dst();
  const std::uint32_t p = predicate_dst(1);
  machine_instruction& i =
      put(opcode::shfl, d,
          {src(0, dtype::b32), src(1, dtype::b32), src(2, dtype::b32), has_mask ? src(3, dtype::b32) : operand()});
  i.pdst[0] = p;
  i.base.sub = now_->m.sub;
}

void selector::vote() {
  if (now_->op == ptx_op::activemask) {
    put(opcode::vote, dst(), {immediate(0xffffffffu)}).base.sub = static_cast<std::uint8_t>(isa::vote_mode::activemask);
    return;
  }
  need(1);
  const operand mask = now_->src.size() > 1 ? src(1, dtype::b32) : operand();
  const bool ballot = now_->m.sub == static_cast<unsigned>(isa::vote_mode::ballot);
  machine_instruction& i =
      ballot ? put(opcode::vote, dst(), {mask}) : put_predicate(opcode::vote, predicate_dst(), {mask});
  i.psrc[0] = predicate(now_->src[0]);
  i.base.sub = now_->m.sub;
}

/// Elects the lowest lane of the member mask.
void selector::elect() {
  require_capability(9);
  need(1);
  const register_part reversed = temp(), leader = temp(), lane = temp();
  put(opcode::brev, reversed, {src(0, dtype::b32)});
  machine_instruction& first = put(opcode::flo, leader, {reversed});
  first.base.type = dtype::u32;
  first.base.sub = 1;
  put(opcode::s2r, lane, {}).base.sub = static_cast<std::uint8_t>(isa::special::laneid);
  const std::uint32_t p = predicate_dst(1);
  copy(dst(), leader);
  put_predicate(opcode::isetp, p, {lane, leader}).base.cmp = isa::compare::eq;
}

void selector::match() {
  require_capability(7);
  need(2);
  const bool all = now_->m.sub == static_cast<unsigned>(isa::match_mode::all);
  if (now_->m.type != dtype::b32 && now_->m.type != dtype::b64) unsupported();
  register_part d = dst();
  if (d.count > 1) fail("destination of '" + now_->source->mnemonic() + "' must have 32 bits");
  if (!all && now_->dst.size() > 1) fail("'" + now_->source->mnemonic() + "' has no predicate");
  const operand a = src(0);
  machine_instruction& i = put(opcode::match, d, {a, src(1, dtype::b32)});
  i.base.sub = now_->m.sub;
  if (all) i.pdst[0] = predicate_dst(1);
}

void selector::reduce() {
  require_capability(8);
  need(2);
  const dtype t = now_->m.type;
  const auto op = static_cast<isa::redux_op>(now_->m.sub);
  const bool bitwise = op == isa::redux_op::and_ || op == isa::redux_op::or_ || op == isa::redux_op::xor_;
  if (bitwise ? t != dtype::b32 : t != dtype::u32 && t != dtype::s32) unsupported();
  machine_instruction& i = put(opcode::redux, dst(), {src(0), src(1, dtype::b32)});
  i.base.sub = now_->m.sub;
  i.base.type = t == dtype::s32 ? dtype::s32 : dtype::u32;
}

void selector::barrier() {
  if (now_->m.uniform) {
    put(opcode::nop, {no_register, 0, 0}, {now_->src.empty() ? operand() : src(0, dtype::b32)});
    return;
  }
  const bool reduces = now_->m.sub >= 2, counts = now_->m.sub == 2;
  const std::size_t sources = now_->src.size() - (reduces ? 1 : 0);
  if (now_->src.empty() || sources < 1 || sources > 2)
    fail("'" + now_->source->mnemonic() + "' with the wrong number of operands");
  machine_instruction& i = put(opcode::bar, counts ? dst() : register_part{no_register, 0, 0},
                               {src(0, dtype::u32), sources == 2 ? src(1, dtype::u32) : operand()});
  if (i.src[0].is_zero_register()) i.src[0] = immediate(0);
  i.base.sub = now_->m.sub;
  if (reduces) i.psrc[0] = predicate(now_->src.back());
  if (reduces && !counts) i.pdst[0] = predicate_dst();
}

void selector::convert_address() {
  const dtype t = now_->m.type;
  if (now_->m.space == state_space::global || now_->m.space == state_space::none) return copy(dst(), src(0));
  if (now_->m.space != state_space::shared && now_->m.space != state_space::local) unsupported();
  operand window;
  window.kind = isa::operand_kind::constant;
  window.value = now_->m.space == state_space::shared ? isa::bank0::shared_window : isa::bank0::local_window;
  window.count = 2;
  if (isa::size_of(t) == 4) {  // the windows are within the 32-bit address range
    window.count = 1;
    window.negate = now_->m.to;
    put(opcode::iadd3, dst(), {src(0), window, zero()});
    return;
  }
  add_wide(dst(), wide(0), {word(window, 0), word(window, 1)}, now_->m.to);
}

void selector::is_space() {
  need(1);
  const std::uint32_t p = predicate_dst();
  const bool global = now_->m.space == state_space::global || now_->m.space == state_space::none;
  if (!global && now_->m.space != state_space::shared && now_->m.space != state_space::local)
    return move_predicate(p, {no_register, true});
  const bool narrow = address_words(now_->src[0]) == 1;
  const wide_value a = narrow ? wide_value{src(0, dtype::b32), zero()} : wide(0, dtype::b64);
  const bool local = now_->m.space == state_space::local;
  const std::uint64_t base = local ? isa::local_window_base : isa::shared_window_base;
  const std::uint64_t bytes = global ? 2 * isa::window_bytes : isa::window_bytes;  // the two windows are adjacent
  const register_part t = temp();
  const std::uint32_t low = temp_predicate(), inside = temp_predicate();
  put_predicate(opcode::isetp, low, {a.hi, zero()}).base.cmp = isa::compare::eq;
  operand from = immediate(static_cast<std::uint32_t>(0 - base));
  put(opcode::iadd3, t, {a.lo, from, zero()});
  machine_instruction& c = put_predicate(opcode::isetp, inside, {t, immediate(bytes)});
  c.base.cmp = isa::compare::lt;
  c.base.type = dtype::u32;
  c.psrc[0] = {low, false};
  move_predicate(p, {inside, global});
}

}  // namespace heddle::ptx
