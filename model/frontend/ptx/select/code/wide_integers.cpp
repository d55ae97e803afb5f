// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/select/code/wide_integers.h"

namespace heddle::ptx {

using isa::dtype;
using isa::opcode;

void wide_integers::compare(std::uint32_t p, std::uint32_t q, wide_value a, wide_value b, bool is_signed,
                            isa::compare c, isa::bool_op bop, virtual_predicate with) {
  const std::uint32_t low = out_.temp_predicate();
  machine_instruction& first = out_.put_predicate(opcode::isetp, low, {a.lo, b.lo});
  first.base.cmp = c;
  first.base.type = dtype::u32;
  machine_instruction& second = out_.put_predicate(opcode::isetp, p, {a.hi, b.hi});
  second.base.cmp = c;
  second.base.bop = bop;
  second.base.type = is_signed ? dtype::s32 : dtype::u32;
  second.base.extended = true;
  second.pdst[1] = q;
  second.psrc[0] = with;
  second.psrc[1] = {low, false};
}

/// The clamped sum or difference of two s32, computed in 64 bits.
void wide_integers::add_saturated(register_part d, virtual_operand a, virtual_operand b, bool subtract) {
  const register_part s = out_.temp(2), ha = out_.temp(), hb = out_.temp();
  out_.put(opcode::shr, ha, {a, immediate(31)}).base.type = dtype::s32;
  out_.put(opcode::shr, hb, {b, immediate(31)}).base.type = dtype::s32;
  add(s, {a, ha}, {b, hb}, subtract);
  saturate(d, s, dtype::s32, dtype::s64);
}

void wide_integers::add(register_part d, wide_value a, wide_value b, bool subtract) {
  const std::uint32_t carry = out_.temp_predicate();
  b.lo.negate = b.hi.negate = subtract;
  out_.put(opcode::iadd3, {d.reg, d.part, 1}, {a.lo, b.lo, zero()}).pdst[0] = carry;
  machine_instruction& high =
      out_.put(opcode::iadd3, {d.reg, static_cast<std::uint8_t>(d.part + 1), 1}, {a.hi, b.hi, zero()});
  high.base.extended = true;
  high.psrc[0] = {carry, false};
}

void wide_integers::saturate(register_part d, virtual_operand a, dtype to, dtype from) {
  const bool from_signed = isa::is_signed(from), to_signed = isa::is_signed(to);
  const unsigned from_bits = isa::size_of(from) * 8, to_bits = isa::size_of(to) * 8;
  const std::uint64_t top = to_signed ? (std::uint64_t{1} << (to_bits - 1)) - 1
                                      : (to_bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << to_bits) - 1);
  const std::int64_t bottom = to_signed ? -static_cast<std::int64_t>(top) - 1 : 0;
  const bool clamp_low = from_signed && (!to_signed || to_bits < from_bits);
  const bool clamp_high = to_bits - (to_signed ? 1 : 0) < from_bits - (from_signed ? 1 : 0);
  const dtype compare_type = from_signed ? dtype::s32 : dtype::u32;
  for (const bool low : {true, false}) {
    if (low ? !clamp_low : !clamp_high) continue;
    const std::uint64_t limit = low ? static_cast<std::uint64_t>(bottom) : top;
    if (from_bits <= 32) {
      const register_part t = out_.temp();
      machine_instruction& i = out_.put(opcode::imnmx, t, {a, limit == 0 ? zero() : immediate(limit)});
      i.base.type = compare_type;
      i.psrc[0] = {no_register, low};
      a = t;
      continue;
    }
    const register_part t = out_.temp(2);
    const virtual_operand bound = immediate(limit, 2);
    const std::uint32_t p = out_.temp_predicate();
    compare(p, no_register, {word(a, 0), word(a, 1)}, {word(bound, 0), word(bound, 1)}, from_signed,
            low ? isa::compare::gt : isa::compare::lt, isa::bool_op::and_, {});
    for (unsigned k = 0; k < 2; ++k)
      out_.put(opcode::sel, {t.reg, static_cast<std::uint8_t>(k), 1}, {word(a, k), word(bound, k)}).psrc[0] = {p,
                                                                                                               false};
    a = t;
  }
  if (d.count == 1) return out_.copy(d, word(a, 0));
  out_.copy({d.reg, d.part, 1}, word(a, 0));
  const register_part hi{d.reg, static_cast<std::uint8_t>(d.part + 1), 1};
  if (from_bits == 64) out_.copy(hi, word(a, 1));
  else if (from_signed && to_signed) out_.put(opcode::shr, hi, {word(a, 0), immediate(31)}).base.type = dtype::s32;
  else out_.copy(hi, zero());
}

void wide_integers::shift_left(register_part d, wide_value a, virtual_operand amount) {
  const register_part lo{d.reg, d.part, 1}, hi{d.reg, static_cast<std::uint8_t>(d.part + 1), 1};
  if (amount.is_zero_register()) amount = immediate(0);
  if (amount.is_immediate()) {
    const std::uint64_t n = amount.value;
    if (n == 0) {
      out_.copy(hi, a.hi);
      out_.copy(lo, a.lo);
    } else if (n < 32) {
      out_.put(opcode::shf, hi, {a.lo, amount, a.hi});
      out_.put(opcode::shl, lo, {a.lo, amount});
    } else {
      if (n == 32) out_.copy(hi, a.lo);
      else if (n < 64) out_.put(opcode::shl, hi, {a.lo, immediate(n - 32)});
      else out_.copy(hi, zero());
      out_.copy(lo, zero());
    }
    return;
  }
  // The funnel shift clamps at 32, where the low word has moved up completely; beyond that the low word is shifted
  // alone.
  const register_part funnel = out_.temp(), beyond = out_.temp(), alone = out_.temp();
  const std::uint32_t far = out_.temp_predicate();
  out_.put(opcode::shf, funnel, {a.lo, amount, a.hi});
  out_.put(opcode::iadd3, beyond, {amount, immediate(0xffffffe0u), zero()});
  out_.put(opcode::shl, alone, {a.lo, beyond});
  machine_instruction& c = out_.put_predicate(opcode::isetp, far, {amount, immediate(32)});
  c.base.cmp = isa::compare::gt;
  c.base.type = dtype::u32;
  out_.put(opcode::shl, lo, {a.lo, amount});
  out_.put(opcode::sel, hi, {alone, funnel}).psrc[0] = {far, false};
}

void wide_integers::shift_right(register_part d, wide_value a, virtual_operand amount, bool is_signed) {
  const register_part lo{d.reg, d.part, 1}, hi{d.reg, static_cast<std::uint8_t>(d.part + 1), 1};
  const dtype t = is_signed ? dtype::s32 : dtype::u32;
  if (amount.is_zero_register()) amount = immediate(0);
  if (amount.is_immediate()) {
    const std::uint64_t n = amount.value;
    if (n == 0) {
      out_.copy(lo, a.lo);
      out_.copy(hi, a.hi);
    } else if (n < 32) {
      out_.put(opcode::shf, lo, {a.lo, amount, a.hi}).base.sub = 1;
      out_.put(opcode::shr, hi, {a.hi, amount}).base.type = t;
    } else {
      if (n == 32) out_.copy(lo, a.hi);
      else if (n < 64 || is_signed) out_.put(opcode::shr, lo, {a.hi, immediate(n < 64 ? n - 32 : 31)}).base.type = t;
      else out_.copy(lo, zero());
      if (is_signed) out_.put(opcode::shr, hi, {a.hi, immediate(31)}).base.type = t;
      else out_.copy(hi, zero());
    }
    return;
  }
  const register_part funnel = out_.temp(), beyond = out_.temp(), alone = out_.temp();
  const std::uint32_t far = out_.temp_predicate();
  out_.put(opcode::shf, funnel, {a.lo, amount, a.hi}).base.sub = 1;
  out_.put(opcode::iadd3, beyond, {amount, immediate(0xffffffe0u), zero()});
  out_.put(opcode::shr, alone, {a.hi, beyond}).base.type = t;
  machine_instruction& c = out_.put_predicate(opcode::isetp, far, {amount, immediate(32)});
  c.base.cmp = isa::compare::gt;
  c.base.type = dtype::u32;
  out_.put(opcode::sel, lo, {alone, funnel}).psrc[0] = {far, false};
  out_.put(opcode::shr, hi, {a.hi, amount}).base.type = t;
}

}  // namespace heddle::ptx
