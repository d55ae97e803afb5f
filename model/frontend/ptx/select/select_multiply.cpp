// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/select/selector.h"

namespace heddle::ptx {

namespace {

/// The position of the only set bit, or -1.
int exponent_of(const virtual_operand& o) {
  if (!o.is_immediate() || o.value == 0 || (o.value & (o.value - 1)) != 0) return -1;
  int k = 0;
  while (!(o.value >> k & 1)) ++k;
  return k;
}

bool is_literal(const virtual_operand& o) { return o.is_immediate() || o.is_zero_register(); }

}  // namespace

void selector::multiply_lo(register_part d, operand a, operand b, operand c) {
  if (is_literal(a)) std::swap(a, b);
  const int k = exponent_of(b);
  if (k >= 0 && k < 32) {
    if (c.is_zero_register()) {
      put(opcode::shl, d, {a, immediate(k)});
    } else {
      put(opcode::lea, d, {a, c}).base.sub = static_cast<std::uint8_t>(k);
    }
    return;
  }
  if (has_imad()) {
    put(opcode::imad, d, {a, b, c}).base.type = dtype::s32;
    return;
  }
  using namespace isa::xmad;
  const register_part cross = temp(), low = temp();
  put(opcode::xmad, cross, {a, b, zero()}).base.sub = mrg | h1b;
  put(opcode::xmad, low, {a, b, c}).base.sub = 0;
  put(opcode::xmad, d, {a, cross, low}).base.sub = psl | cbcc | h1a | h1b;
}

void selector::multiply_wide(register_part d, operand a, operand b, bool is_signed) {
  if (is_literal(a)) std::swap(a, b);
  const register_part lo{d.reg, d.part, 1}, hi{d.reg, static_cast<std::uint8_t>(d.part + 1), 1};
  if (has_imad()) {
    machine_instruction& i = put(opcode::imad, d, {a, b, zero()});
    i.base.wide = true;
    i.base.type = is_signed ? dtype::s32 : dtype::u32;
    i.src[2].count = 2;
    return;
  }
  const int k = exponent_of(b);
  if (k >= 0 && k < 31) {
    put(opcode::shl, lo, {a, immediate(k)});
    if (k == 0 && !is_signed) copy(hi, zero());
    else put(opcode::shr, hi, {a, immediate(k == 0 ? 31 : 32 - k)}).base.type = is_signed ? dtype::s32 : dtype::u32;
    return;
  }
  using namespace isa::xmad;
  // Schoolbook multiplication on halves; each partial sum fits 32 bits: (2^16-1)^2 + 2 (2^16-1) = 2^32 - 1.
  const register_part low = temp(), mid = temp(), mid2 = temp(), top = temp();
  put(opcode::xmad, low, {a, b, zero()}).base.sub = 0;
  put(opcode::xmad, mid, {a, b, low}).base.sub = h1b | chi;
  put(opcode::xmad, mid2, {a, b, mid}).base.sub = h1a | clo;
  put(opcode::xmad, top, {a, b, mid}).base.sub = h1a | h1b | chi;
  put(opcode::prmt, lo, {low, immediate(0x5410), mid2});
  const register_part raw = is_signed ? temp() : hi;
  machine_instruction& sum = put(opcode::lea, raw, {mid2, top, zero()});
  sum.base.sub = 16;
  sum.base.high = true;
  if (!is_signed) return;
  // Signed: subtract b for a negative a, and a for a negative b.
  const bool b_positive = b.is_immediate() && !(b.value & 0x80000000u);
  const register_part fa = temp(), ma = temp();
  put(opcode::shr, fa, {a, immediate(31)}).base.type = dtype::s32;
  put(opcode::lop3, ma, {fa, b, zero()}).base.sub = 0xc0;
  operand less_a = ma, less_b = zero();
  less_a.negate = true;
  if (!b_positive) {
    const register_part fb = temp(), mb = temp();
    put(opcode::shr, fb, {b, immediate(31)}).base.type = dtype::s32;
    put(opcode::lop3, mb, {fb, a, zero()}).base.sub = 0xc0;
    less_b = mb;
    less_b.negate = true;
  }
  put(opcode::iadd3, hi, {raw, less_a, less_b});
}

void selector::multiply_wide_add(register_part d, operand a, operand b, wide_value c, bool is_signed) {
  if (is_literal(a)) std::swap(a, b);
  const register_part lo{d.reg, d.part, 1}, hi{d.reg, static_cast<std::uint8_t>(d.part + 1), 1};
  const bool pair = c.lo.kind == c.hi.kind && (c.lo.is_constant() || c.lo.is_zero_register() ||
                                               (c.lo.is_reg() && c.lo.reg == c.hi.reg && c.hi.part == c.lo.part + 1));
  if (has_imad()) {
    operand whole = c.lo;
    whole.count = 2;
    if (!pair) {
      const register_part t = temp(2);
      copy({t.reg, 0, 1}, c.lo);
      copy({t.reg, 1, 1}, c.hi);
      whole = t;
    }
    machine_instruction& i = put(opcode::imad, d, {a, b, whole});
    i.base.wide = true;
    i.base.type = is_signed ? dtype::s32 : dtype::u32;
    return;
  }
  const int k = exponent_of(b);
  if (k > 0 && k < 31) {
    const std::uint32_t carry = temp_predicate();
    const register_part up = temp();
    put(opcode::shr, up, {a, immediate(32 - k)}).base.type = is_signed ? dtype::s32 : dtype::u32;
    machine_instruction& low = put(opcode::lea, lo, {a, c.lo});
    low.base.sub = static_cast<std::uint8_t>(k);
    low.pdst[0] = carry;
    machine_instruction& high = put(opcode::iadd3, hi, {up, c.hi, zero()});
    high.base.extended = true;
    high.psrc[0] = {carry, false};
    return;
  }
  const register_part t = temp(2);
  multiply_wide(t, a, b, is_signed);
  add_wide(d, {word(t, 0), word(t, 1)}, c, false);
}

register_part selector::multiply_hi(operand a, operand b, bool is_signed) {
  if (is_literal(a)) std::swap(a, b);
  if (has_imad()) {
    const register_part t = temp();
    machine_instruction& i = put(opcode::imad, t, {a, b, zero()});
    i.base.high = true;
    i.base.type = is_signed ? dtype::s32 : dtype::u32;
    return t;
  }
  const register_part t = temp(2);
  multiply_wide(t, a, b, is_signed);
  return {t.reg, 1, 1};
}

void selector::multiply_lo_wide(register_part d, wide_value a, wide_value b, const wide_value* c) {
  const register_part hi{d.reg, static_cast<std::uint8_t>(d.part + 1), 1};
  const wide_value none{zero(), zero()};
  operand cross = zero();
  if (!b.lo.is_zero_register() && !a.hi.is_zero_register()) {
    const register_part t = temp();
    multiply_lo(t, a.hi, b.lo, zero());
    cross = t;
  }
  if (!b.hi.is_zero_register() && !a.lo.is_zero_register()) {
    const register_part t = temp();
    multiply_lo(t, a.lo, b.hi, cross);
    cross = t;
  }
  const register_part whole = cross.is_zero_register() ? d : temp(2);
  if (c) multiply_wide_add(whole, a.lo, b.lo, *c, false);
  else if (has_imad()) multiply_wide_add(whole, a.lo, b.lo, none, false);
  else multiply_wide(whole, a.lo, b.lo, false);
  if (cross.is_zero_register()) return;
  copy({d.reg, d.part, 1}, word(whole, 0));
  put(opcode::iadd3, hi, {word(whole, 1), cross, zero()});
}

register_part selector::multiply_hi_wide(wide_value a, wide_value b, bool is_signed) {
  const register_part low = temp(2), first = temp(2), second = temp(2), top = temp(2), result = temp(2);
  multiply_wide(low, a.lo, b.lo, false);
  multiply_wide_add(first, a.hi, b.lo, {word(low, 1), zero()}, false);
  multiply_wide_add(second, a.lo, b.hi, {word(first, 0), zero()}, false);
  multiply_wide_add(top, a.hi, b.hi, {word(first, 1), zero()}, false);
  add_wide(result, {word(top, 0), word(top, 1)}, {word(second, 1), zero()}, false);
  if (!is_signed) return result;
  register_part sum = result;
  const wide_value* sides[2][2] = {{&a, &b}, {&b, &a}};
  for (auto& side : sides) {
    const register_part sign = temp(), masked = temp(2), next = temp(2);
    put(opcode::shr, sign, {side[0]->hi, immediate(31)}).base.type = dtype::s32;
    put(opcode::lop3, {masked.reg, 0, 1}, {sign, side[1]->lo, zero()}).base.sub = 0xc0;
    put(opcode::lop3, {masked.reg, 1, 1}, {sign, side[1]->hi, zero()}).base.sub = 0xc0;
    add_wide(next, {word(sum, 0), word(sum, 1)}, {word(masked, 0), word(masked, 1)}, true);
    sum = next;
  }
  return sum;
}

void selector::multiply() {
  using part = modifiers::part_kind;
  const dtype t = now_->m.type;
  const bool is_signed = isa::is_signed(t), adds = now_->op == ptx_op::mad;
  const unsigned size = isa::size_of(t);
  if (now_->m.part == part::none) fail("'" + now_->source->mnemonic() + "' needs .lo, .hi or .wide");
  if (now_->m.saturate && (t != dtype::s32 || now_->m.part != part::hi || !adds)) unsupported();
  if (size == 8) {
    const wide_value a = wide(0), b = wide(1);
    const register_part r = begin();
    if (now_->m.part == part::lo) {
      const wide_value c = adds ? wide(2) : wide_value{};
      multiply_lo_wide(r, a, b, adds ? &c : nullptr);
    } else if (now_->m.part == part::hi) {
      const register_part h = multiply_hi_wide(a, b, is_signed);
      if (adds) add_wide(r, {word(h, 0), word(h, 1)}, wide(2), false);
      else copy(r, h);
    } else {
      unsupported();
    }
    return end(r);
  }
  if (size == 4 && now_->m.part == part::wide) {
    const register_part r = begin();
    if (r.count != 2) unsupported();
    if (adds) multiply_wide_add(r, src(0), src(1), wide(2), is_signed);
    else multiply_wide(r, src(0), src(1), is_signed);
    return end(r);
  }
  if (size == 4 && now_->m.part == part::hi) {
    const register_part h = multiply_hi(src(0), src(1), is_signed);
    if (now_->m.saturate) add_saturated(h, src(2), false);
    else if (adds) put(opcode::iadd3, dst(), {h, src(2), zero()});
    else copy(dst(), h);
    return;
  }
  if (size == 4 || (size == 2 && now_->m.part == part::lo)) {
    const register_part r = has_imad() ? dst() : begin();
    multiply_lo(r, src(0), src(1), adds ? src(2) : zero());
    return end(r);
  }
  if (size != 2) unsupported();
  const operand a = narrow(0, t), b = narrow(1, t);
  const register_part r = begin();
  if (now_->m.part == part::wide) {
    multiply_lo(r, a, b, adds ? src(2, dtype::b32) : zero());
  } else {
    const register_part whole = temp();
    multiply_lo(whole, a, b, zero());
    const register_part high = temp();
    put(opcode::shr, high, {whole, immediate(16)}).base.type = is_signed ? dtype::s32 : dtype::u32;
    put(opcode::iadd3, r, {high, adds ? src(2) : zero(), zero()});
  }
  end(r);
}

void selector::multiply_24() {
  const bool is_signed = isa::is_signed(now_->m.type), adds = now_->op == ptx_op::mad24;
  const bool high = now_->m.part == modifiers::part_kind::hi;
  if (isa::size_of(now_->m.type) != 4 || (now_->m.saturate && (!is_signed || !high || !adds))) unsupported();
  const register_part a = temp(), b = temp();
  const dtype t = is_signed ? dtype::s32 : dtype::u32;
  put(opcode::bfe, a, {src(0), immediate(24 << 8)}).base.type = t;
  put(opcode::bfe, b, {src(1), immediate(24 << 8)}).base.type = t;
  const register_part r = begin();
  if (high) {  // bits 16 to 47 of the 48-bit product
    const register_part w = temp(2), middle = temp();
    multiply_wide(w, a, b, is_signed);
    put(opcode::shf, middle, {word(w, 0), immediate(16), word(w, 1)}).base.sub = 1;
    if (now_->m.saturate) return add_saturated(middle, src(2), false);
    put(opcode::iadd3, r, {middle, adds ? src(2) : zero(), zero()});
  } else {
    multiply_lo(r, a, b, adds ? src(2) : zero());
  }
  end(r);
}

void selector::carry_chain_multiply() {
  const dtype t = now_->m.type;
  const bool takes = now_->op == ptx_op::madc, high = now_->m.part == modifiers::part_kind::hi;
  const unsigned words = isa::size_of(t) / 4;
  if (words != 1 && words != 2) unsupported();
  register_part product;
  if (words == 1) {
    if (high) {
      product = multiply_hi(src(0), src(1), isa::is_signed(t));
    } else {
      product = temp();
      multiply_lo(product, src(0), src(1), zero());
    }
  } else if (high) {
    product = multiply_hi_wide(wide(0), wide(1), isa::is_signed(t));
  } else {
    product = temp(2);
    multiply_lo_wide(product, wide(0), wide(1), nullptr);
  }
  const operand c = src(2);
  const register_part d = dst();
  for (unsigned k = 0; k < words; ++k) {
    machine_instruction& i =
        put(opcode::iadd3, {d.reg, static_cast<std::uint8_t>(d.part + k), 1}, {word(product, k), word(c, k), zero()});
    i.base.extended = takes || k > 0;
    if (i.base.extended) i.psrc[0] = {carry_, false};
    if (now_->m.carry_out || k + 1 < words) i.pdst[0] = carry_;
  }
}

}  // namespace heddle::ptx
