// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/select/code/products.h"

#include <utility>

namespace heddle::ptx {

using isa::dtype;
using isa::opcode;

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

void products::low(register_part d, virtual_operand a, virtual_operand b, virtual_operand c) {
  if (is_literal(a)) std::swap(a, b);
  const int k = exponent_of(b);
  if (k >= 0 && k < 32) {
    if (c.is_zero_register()) {
      out_.put(opcode::shl, d, {a, immediate(k)});
    } else {
      out_.put(opcode::lea, d, {a, c}).base.sub = static_cast<std::uint8_t>(k);
    }
    return;
  }
  if (chip_.has_imad()) {
    out_.put(opcode::imad, d, {a, b, c}).base.type = dtype::s32;
    return;
  }
  using namespace isa::xmad;
  const register_part cross = out_.temp(), low = out_.temp();
  out_.put(opcode::xmad, cross, {a, b, zero()}).base.sub = mrg | h1b;
  out_.put(opcode::xmad, low, {a, b, c}).base.sub = 0;
  out_.put(opcode::xmad, d, {a, cross, low}).base.sub = psl | cbcc | h1a | h1b;
}

void products::wide(register_part d, virtual_operand a, virtual_operand b, bool is_signed) {
  if (is_literal(a)) std::swap(a, b);
  const register_part lo{d.reg, d.part, 1}, hi{d.reg, static_cast<std::uint8_t>(d.part + 1), 1};
  if (chip_.has_imad()) {
    machine_instruction& i = out_.put(opcode::imad, d, {a, b, zero()});
    i.base.wide = true;
    i.base.type = is_signed ? dtype::s32 : dtype::u32;
    i.src[2].count = 2;
    return;
  }
  const int k = exponent_of(b);
  if (k >= 0 && k < 31) {
    out_.put(opcode::shl, lo, {a, immediate(k)});
    if (k == 0 && !is_signed) out_.copy(hi, zero());
    else
      out_.put(opcode::shr, hi, {a, immediate(k == 0 ? 31 : 32 - k)}).base.type = is_signed ? dtype::s32 : dtype::u32;
    return;
  }
  using namespace isa::xmad;
  // Schoolbook multiplication on halves; each partial sum fits 32 bits: (2^16-1)^2 + 2 (2^16-1) = 2^32 - 1.
  const register_part low = out_.temp(), mid = out_.temp(), mid2 = out_.temp(), top = out_.temp();
  out_.put(opcode::xmad, low, {a, b, zero()}).base.sub = 0;
  out_.put(opcode::xmad, mid, {a, b, low}).base.sub = h1b | chi;
  out_.put(opcode::xmad, mid2, {a, b, mid}).base.sub = h1a | clo;
  out_.put(opcode::xmad, top, {a, b, mid}).base.sub = h1a | h1b | chi;
  out_.put(opcode::prmt, lo, {low, immediate(0x5410), mid2});
  const register_part raw = is_signed ? out_.temp() : hi;
  machine_instruction& sum = out_.put(opcode::lea, raw, {mid2, top, zero()});
  sum.base.sub = 16;
  sum.base.high = true;
  if (!is_signed) return;
  // Signed: subtract b for a negative a, and a for a negative b.
  const bool b_positive = b.is_immediate() && !(b.value & 0x80000000u);
  const register_part fa = out_.temp(), ma = out_.temp();
  out_.put(opcode::shr, fa, {a, immediate(31)}).base.type = dtype::s32;
  out_.put(opcode::lop3, ma, {fa, b, zero()}).base.sub = 0xc0;
  virtual_operand less_a = ma, less_b = zero();
  less_a.negate = true;
  if (!b_positive) {
    const register_part fb = out_.temp(), mb = out_.temp();
    out_.put(opcode::shr, fb, {b, immediate(31)}).base.type = dtype::s32;
    out_.put(opcode::lop3, mb, {fb, a, zero()}).base.sub = 0xc0;
    less_b = mb;
    less_b.negate = true;
  }
  out_.put(opcode::iadd3, hi, {raw, less_a, less_b});
}

void products::wide_sum(register_part d, virtual_operand a, virtual_operand b, wide_value c, bool is_signed) {
  if (is_literal(a)) std::swap(a, b);
  const register_part lo{d.reg, d.part, 1}, hi{d.reg, static_cast<std::uint8_t>(d.part + 1), 1};
  const bool pair = c.lo.kind == c.hi.kind && (c.lo.is_constant() || c.lo.is_zero_register() ||
                                               (c.lo.is_reg() && c.lo.reg == c.hi.reg && c.hi.part == c.lo.part + 1));
  if (chip_.has_imad()) {
    virtual_operand whole = c.lo;
    whole.count = 2;
    if (!pair) {
      const register_part t = out_.temp(2);
      out_.copy({t.reg, 0, 1}, c.lo);
      out_.copy({t.reg, 1, 1}, c.hi);
      whole = t;
    }
    machine_instruction& i = out_.put(opcode::imad, d, {a, b, whole});
    i.base.wide = true;
    i.base.type = is_signed ? dtype::s32 : dtype::u32;
    return;
  }
  const int k = exponent_of(b);
  if (k > 0 && k < 31) {
    const std::uint32_t carry = out_.temp_predicate();
    const register_part up = out_.temp();
    out_.put(opcode::shr, up, {a, immediate(32 - k)}).base.type = is_signed ? dtype::s32 : dtype::u32;
    machine_instruction& low = out_.put(opcode::lea, lo, {a, c.lo});
    low.base.sub = static_cast<std::uint8_t>(k);
    low.pdst[0] = carry;
    machine_instruction& high = out_.put(opcode::iadd3, hi, {up, c.hi, zero()});
    high.base.extended = true;
    high.psrc[0] = {carry, false};
    return;
  }
  const register_part t = out_.temp(2);
  wide(t, a, b, is_signed);
  wide_.add(d, {word(t, 0), word(t, 1)}, c, false);
}

register_part products::high(virtual_operand a, virtual_operand b, bool is_signed) {
  if (is_literal(a)) std::swap(a, b);
  if (chip_.has_imad()) {
    const register_part t = out_.temp();
    machine_instruction& i = out_.put(opcode::imad, t, {a, b, zero()});
    i.base.high = true;
    i.base.type = is_signed ? dtype::s32 : dtype::u32;
    return t;
  }
  const register_part t = out_.temp(2);
  wide(t, a, b, is_signed);
  return {t.reg, 1, 1};
}

void products::low_of_wide(register_part d, wide_value a, wide_value b, const wide_value* c) {
  const register_part hi{d.reg, static_cast<std::uint8_t>(d.part + 1), 1};
  const wide_value none{zero(), zero()};
  virtual_operand cross = zero();
  if (!b.lo.is_zero_register() && !a.hi.is_zero_register()) {
    const register_part t = out_.temp();
    low(t, a.hi, b.lo, zero());
    cross = t;
  }
  if (!b.hi.is_zero_register() && !a.lo.is_zero_register()) {
    const register_part t = out_.temp();
    low(t, a.lo, b.hi, cross);
    cross = t;
  }
  const register_part whole = cross.is_zero_register() ? d : out_.temp(2);
  if (c) wide_sum(whole, a.lo, b.lo, *c, false);
  else if (chip_.has_imad()) wide_sum(whole, a.lo, b.lo, none, false);
  else wide(whole, a.lo, b.lo, false);
  if (cross.is_zero_register()) return;
  out_.copy({d.reg, d.part, 1}, word(whole, 0));
  out_.put(opcode::iadd3, hi, {word(whole, 1), cross, zero()});
}

register_part products::high_of_wide(wide_value a, wide_value b, bool is_signed) {
  const register_part low = out_.temp(2), first = out_.temp(2), second = out_.temp(2), top = out_.temp(2),
                      result = out_.temp(2);
  wide(low, a.lo, b.lo, false);
  wide_sum(first, a.hi, b.lo, {word(low, 1), zero()}, false);
  wide_sum(second, a.lo, b.hi, {word(first, 0), zero()}, false);
  wide_sum(top, a.hi, b.hi, {word(first, 1), zero()}, false);
  wide_.add(result, {word(top, 0), word(top, 1)}, {word(second, 1), zero()}, false);
  if (!is_signed) return result;
  register_part sum = result;
  const wide_value* sides[2][2] = {{&a, &b}, {&b, &a}};
  for (auto& side : sides) {
    const register_part sign = out_.temp(), masked = out_.temp(2), next = out_.temp(2);
    out_.put(opcode::shr, sign, {side[0]->hi, immediate(31)}).base.type = dtype::s32;
    out_.put(opcode::lop3, {masked.reg, 0, 1}, {sign, side[1]->lo, zero()}).base.sub = 0xc0;
    out_.put(opcode::lop3, {masked.reg, 1, 1}, {sign, side[1]->hi, zero()}).base.sub = 0xc0;
    wide_.add(next, {word(sum, 0), word(sum, 1)}, {word(masked, 0), word(masked, 1)}, true);
    sum = next;
  }
  return sum;
}

}  // namespace heddle::ptx
