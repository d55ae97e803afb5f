// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/select/selector.h"

namespace heddle::ptx {

void selector::shift_wide_left(register_part d, wide_value a, operand amount) {
  const register_part lo{d.reg, d.part, 1}, hi{d.reg, static_cast<std::uint8_t>(d.part + 1), 1};
  if (amount.is_zero_register()) amount = immediate(0);
  if (amount.is_immediate()) {
    const std::uint64_t n = amount.value;
    if (n == 0) {
      copy(hi, a.hi);
      copy(lo, a.lo);
    } else if (n < 32) {
      put(opcode::shf, hi, {a.lo, amount, a.hi});
      put(opcode::shl, lo, {a.lo, amount});
    } else {
      if (n == 32) copy(hi, a.lo);
      else if (n < 64) put(opcode::shl, hi, {a.lo, immediate(n - 32)});
      else copy(hi, zero());
      copy(lo, zero());
    }
    return;
  }
  // The funnel shift clamps at 32, where the low word has moved up completely; beyond that the low word is shifted
  // alone.
  const register_part funnel = temp(), beyond = temp(), alone = temp();
  const std::uint32_t far = temp_predicate();
  put(opcode::shf, funnel, {a.lo, amount, a.hi});
  put(opcode::iadd3, beyond, {amount, immediate(0xffffffe0u), zero()});
  put(opcode::shl, alone, {a.lo, beyond});
  machine_instruction& c = put_predicate(opcode::isetp, far, {amount, immediate(32)});
  c.base.cmp = isa::compare::gt;
  c.base.type = dtype::u32;
  put(opcode::shl, lo, {a.lo, amount});
  put(opcode::sel, hi, {alone, funnel}).psrc[0] = {far, false};
}

void selector::shift_wide_right(register_part d, wide_value a, operand amount, bool is_signed) {
  const register_part lo{d.reg, d.part, 1}, hi{d.reg, static_cast<std::uint8_t>(d.part + 1), 1};
  const dtype t = is_signed ? dtype::s32 : dtype::u32;
  if (amount.is_zero_register()) amount = immediate(0);
  if (amount.is_immediate()) {
    const std::uint64_t n = amount.value;
    if (n == 0) {
      copy(lo, a.lo);
      copy(hi, a.hi);
    } else if (n < 32) {
      put(opcode::shf, lo, {a.lo, amount, a.hi}).base.sub = 1;
      put(opcode::shr, hi, {a.hi, amount}).base.type = t;
    } else {
      if (n == 32) copy(lo, a.hi);
      else if (n < 64 || is_signed) put(opcode::shr, lo, {a.hi, immediate(n < 64 ? n - 32 : 31)}).base.type = t;
      else copy(lo, zero());
      if (is_signed) put(opcode::shr, hi, {a.hi, immediate(31)}).base.type = t;
      else copy(hi, zero());
    }
    return;
  }
  const register_part funnel = temp(), beyond = temp(), alone = temp();
  const std::uint32_t far = temp_predicate();
  put(opcode::shf, funnel, {a.lo, amount, a.hi}).base.sub = 1;
  put(opcode::iadd3, beyond, {amount, immediate(0xffffffe0u), zero()});
  put(opcode::shr, alone, {a.hi, beyond}).base.type = t;
  machine_instruction& c = put_predicate(opcode::isetp, far, {amount, immediate(32)});
  c.base.cmp = isa::compare::gt;
  c.base.type = dtype::u32;
  put(opcode::sel, lo, {alone, funnel}).psrc[0] = {far, false};
  put(opcode::shr, hi, {a.hi, amount}).base.type = t;
}

selector::operand selector::packed_field(std::size_t position, std::size_t length) {
  const operand p = src(position, dtype::u32), n = src(length, dtype::u32);
  if (!p.is_reg() && !n.is_reg() && !p.is_constant() && !n.is_constant())
    return immediate((p.value & 0xff) | (n.value & 0xff) << 8);
  const register_part t = temp();
  put(opcode::prmt, t, {p, immediate(0x4040), n});
  return t;
}

void selector::bit_field_extract() {
  const dtype t = now_->m.type;
  if (isa::size_of(t) == 8) return field_extract_wide();
  const operand field = packed_field(1, 2);
  const operand a = now_->src[0].is_reg() && f_.registers[now_->src[0].reg].words == 1 ? src(0, dtype::b32) : src(0);
  put(opcode::bfe, dst(), {a, field}).base.type = isa::is_signed(t) ? dtype::s32 : dtype::u32;
}

void selector::field_extract_wide() {
  const bool is_signed = isa::is_signed(now_->m.type);
  const operand length = src(2, dtype::u32), position = src(1, dtype::u32);
  const register_part down = temp(2), left = temp(), keep = temp(2), up = temp(2), r = begin(), p8 = temp(),
                      n8 = temp();
  put(opcode::lop3, p8, {position, immediate(0xff), zero()}).base.sub = 0xc0;
  put(opcode::lop3, n8, {length, immediate(0xff), zero()}).base.sub = 0xc0;
  shift_wide_right(down, wide(0), p8, is_signed);
  // Shift left so that the field's top bit becomes the word's top bit, and back; a length of 64 or more keeps all
  // bits.
  machine_instruction& m = put(opcode::imnmx, left, {n8, immediate(64)});
  m.base.type = dtype::u32;
  operand minus = left;
  minus.negate = true;
  const register_part distance = temp();
  put(opcode::iadd3, distance, {immediate(64), minus, zero()});
  shift_wide_left(up, {word(down, 0), word(down, 1)}, distance);
  shift_wide_right(keep, {word(up, 0), word(up, 1)}, distance, is_signed);
  copy(r, keep);
  end(r);
}

void selector::bit_field_insert() {
  if (isa::size_of(now_->m.type) == 8) return field_insert_wide();
  const operand field = packed_field(2, 3);
  put(opcode::bfi, dst(), {src(0, dtype::b32), field, src(1, dtype::b32)});
}

void selector::field_insert_wide() {
  const operand position = src(2, dtype::u32), length = src(3, dtype::u32);
  const wide_value a = wide(0), c = wide(1);
  const register_part r = begin();
  wide_value mask, value;
  const bool known = !position.is_reg() && !length.is_reg() && !position.is_constant() && !length.is_constant();
  const register_part moved = temp(2);
  if (known) {
    const unsigned p = position.value & 0xff, n = length.value & 0xff;
    const std::uint64_t ones = n >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1;
    const operand m = immediate(p >= 64 ? 0 : ones << p, 2);
    mask = {word(m, 0), word(m, 1)};
    shift_wide_left(moved, a, immediate(p));
  } else {
    const register_part p8 = temp(), n8 = temp(), ones = temp(2), low = temp(2), m = temp(2);
    put(opcode::lop3, p8, {position, immediate(0xff), zero()}).base.sub = 0xc0;
    put(opcode::lop3, n8, {length, immediate(0xff), zero()}).base.sub = 0xc0;
    shift_wide_left(low, {immediate(0xffffffffu), immediate(0xffffffffu)}, n8);
    for (unsigned k = 0; k < 2; ++k)
      put(opcode::lop3, {ones.reg, static_cast<std::uint8_t>(k), 1}, {word(low, k), zero(), zero()}).base.sub = 0x0f;
    shift_wide_left(m, {word(ones, 0), word(ones, 1)}, p8);
    shift_wide_left(moved, a, p8);
    mask = {word(m, 0), word(m, 1)};
  }
  for (unsigned k = 0; k < 2; ++k) {
    const operand& m = k == 0 ? mask.lo : mask.hi;
    const operand& old = k == 0 ? c.lo : c.hi;
    const register_part w{r.reg, static_cast<std::uint8_t>(r.part + k), 1};
    if (m.is_zero_register()) copy(w, old);
    else if (m.is_immediate() && m.value == 0xffffffffu) copy(w, word(moved, k));
    else put(opcode::lop3, w, {word(moved, k), m, old}).base.sub = 0xe2;  // mask ? moved : old
  }
  end(r);
}

}  // namespace heddle::ptx
