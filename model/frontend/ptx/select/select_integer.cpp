// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/select/selector.h"

namespace heddle::ptx {

void selector::add_sub() {
  const bool subtract = now_->op == ptx_op::sub;
  const dtype t = now_->m.type;
  if (isa::size_of(t) == 8) return add_wide(dst(), wide(0), wide(1), subtract);
  if (now_->m.saturate) {
    if (t != dtype::s32) unsupported();
    return add_saturated(src(0), src(1), subtract);
  }
  operand b = src(1);
  b.negate = subtract;
  put(opcode::iadd3, dst(), {src(0), b, zero()});
}

/// The clamped sum or difference of two s32, computed in 64 bits.
void selector::add_saturated(operand a, operand b, bool subtract) {
  const register_part s = temp(2), ha = temp(), hb = temp();
  put(opcode::shr, ha, {a, immediate(31)}).base.type = dtype::s32;
  put(opcode::shr, hb, {b, immediate(31)}).base.type = dtype::s32;
  add_wide(s, {a, ha}, {b, hb}, subtract);
  saturate_integer(dst(), s, dtype::s32, dtype::s64);
}

void selector::add_wide(register_part d, wide_value a, wide_value b, bool subtract) {
  const std::uint32_t carry = temp_predicate();
  b.lo.negate = b.hi.negate = subtract;
  put(opcode::iadd3, {d.reg, d.part, 1}, {a.lo, b.lo, zero()}).pdst[0] = carry;
  machine_instruction& high =
      put(opcode::iadd3, {d.reg, static_cast<std::uint8_t>(d.part + 1), 1}, {a.hi, b.hi, zero()});
  high.base.extended = true;
  high.psrc[0] = {carry, false};
}

void selector::add_sub_carry() {
  const bool subtract = now_->op == ptx_op::sub || now_->op == ptx_op::subc;
  const bool takes = now_->op == ptx_op::addc || now_->op == ptx_op::subc;
  const unsigned words = isa::size_of(now_->m.type) / 4;
  if (words != 1 && words != 2) unsupported();
  const register_part d = dst();
  const operand a = src(0), b = src(1);
  virtual_predicate carry{carry_, false};
  for (unsigned k = 0; k < words; ++k) {
    operand y = word(b, k);
    y.negate = subtract;
    machine_instruction& i =
        put(opcode::iadd3, {d.reg, static_cast<std::uint8_t>(d.part + k), 1}, {word(a, k), y, zero()});
    i.base.extended = takes || k > 0;
    if (i.base.extended) i.psrc[0] = carry;
    if (now_->m.carry_out || k + 1 < words) i.pdst[0] = carry_;
  }
}

void selector::logic(unsigned lut) {
  const register_part d = dst();
  if (now_->op == ptx_op::lop3) {
    need(4);
    if (!now_->src[3].is_immediate()) unsupported();
    const register_part r = now_->m.combines && d.reg == no_register ? temp() : d;
    put(opcode::lop3, r, {src(0), src(1), src(2)}).base.sub = static_cast<std::uint8_t>(now_->src[3].bits);
    if (!now_->m.combines) return;
    need(5);
    machine_instruction& i = put_predicate(opcode::isetp, predicate_dst(1), {r, zero()});
    i.base.cmp = isa::compare::ne;
    i.base.bop = now_->m.bop;
    i.psrc[0] = predicate(now_->src[4]);
    return;
  }
  if (now_->op == ptx_op::cnot) {
    const unsigned words = isa::size_of(now_->m.type) == 8 ? 2 : 1;
    const operand a = words == 2 ? src(0) : narrow(0, isa::size_of(now_->m.type) == 2 ? dtype::u16 : dtype::u32);
    const register_part any = temp();
    put(opcode::lop3, any, {word(a, 0), words == 2 ? word(a, 1) : zero(), zero()}).base.sub = 0xfc;
    const std::uint32_t p = temp_predicate();
    put_predicate(opcode::isetp, p, {any, zero()}).base.cmp = isa::compare::eq;
    put(opcode::sel, {d.reg, d.part, 1}, {immediate(1), zero()}).psrc[0] = {p, false};
    if (words == 2) copy({d.reg, 1, 1}, zero());
    return;
  }
  const operand a = src(0), b = now_->op == ptx_op::not_ ? zero() : src(1);
  for (unsigned k = 0; k < d.count; ++k)
    put(opcode::lop3, {d.reg, static_cast<std::uint8_t>(d.part + k), 1}, {word(a, k), word(b, k), zero()}).base.sub =
        static_cast<std::uint8_t>(lut);
}

void selector::shift() {
  const bool left = now_->op == ptx_op::shl;
  const dtype t = now_->m.type;
  const operand amount = src(1, dtype::u32);
  if (isa::size_of(t) == 8) {
    const register_part r = begin();
    if (left) shift_wide_left(r, wide(0), amount);
    else shift_wide_right(r, wide(0), amount, isa::is_signed(t));
    return end(r);
  }
  const bool is_signed = isa::is_signed(t);
  const operand a = left ? src(0) : narrow(0, isa::size_of(t) == 2 ? (is_signed ? dtype::s16 : dtype::u16) : t);
  machine_instruction& i = put(left ? opcode::shl : opcode::shr, dst(), {a, amount});
  if (!left) i.base.type = is_signed ? dtype::s32 : dtype::u32;
}

void selector::min_max() {
  const bool min = now_->op == ptx_op::min;
  const dtype t = now_->m.type;
  const register_part d = dst();
  if (isa::size_of(t) == 8) {
    const std::uint32_t p = temp_predicate();
    const wide_value a = wide(0), b = wide(1);
    compare_wide(p, no_register, a, b, isa::is_signed(t), min ? isa::compare::lt : isa::compare::gt, isa::bool_op::and_,
                 {});
    const register_part r = begin();
    put(opcode::sel, {r.reg, r.part, 1}, {a.lo, b.lo}).psrc[0] = {p, false};
    put(opcode::sel, {r.reg, static_cast<std::uint8_t>(r.part + 1), 1}, {a.hi, b.hi}).psrc[0] = {p, false};
    return end(r);
  }
  if (t == dtype::b32 || t == dtype::b16) unsupported();
  const operand a = narrow(0, t), b = narrow(1, t);
  const register_part r = now_->m.relu ? temp() : d;
  machine_instruction& i = put(opcode::imnmx, r, {a, b});
  i.base.type = isa::is_signed(t) ? dtype::s32 : dtype::u32;
  i.psrc[0] = {no_register, !min};
  if (!now_->m.relu) return;
  machine_instruction& positive = put(opcode::imnmx, d, {r, zero()});
  positive.base.type = dtype::s32;
  positive.psrc[0] = {no_register, true};
}

void selector::absolute_negate() {
  const dtype t = now_->m.type;
  const register_part d = dst();
  if (now_->op == ptx_op::neg) {
    if (isa::size_of(t) == 8) return add_wide(d, {zero(), zero()}, wide(0), true);
    operand a = src(0);
    a.negate = true;
    put(opcode::iadd3, d, {zero(), a, zero()});
    return;
  }
  if (isa::size_of(t) != 8) {
    put(opcode::iabs, d, {narrow(0, t)});
    return;
  }
  const register_part m = temp(), x = temp(2);  // (a ^ m) - m, where m is all ones for a negative a
  const wide_value a = wide(0);
  put(opcode::shr, m, {a.hi, immediate(31)}).base.type = dtype::s32;
  put(opcode::lop3, {x.reg, 0, 1}, {a.lo, m, zero()}).base.sub = 0x3c;
  put(opcode::lop3, {x.reg, 1, 1}, {a.hi, m, zero()}).base.sub = 0x3c;
  add_wide(d, {word(x, 0), word(x, 1)}, {m, m}, true);
}

void selector::count_bits() {
  const bool brev = now_->op == ptx_op::brev;
  if (isa::size_of(now_->m.type) == 4) {
    put(brev ? opcode::brev : opcode::popc, brev ? dst() : register_part{dst().reg, 0, 1}, {src(0)});
    return;
  }
  const wide_value a = wide(0);
  if (brev) {
    const register_part r = begin();
    put(opcode::brev, {r.reg, r.part, 1}, {a.hi});
    put(opcode::brev, {r.reg, static_cast<std::uint8_t>(r.part + 1), 1}, {a.lo});
    return end(r);
  }
  const register_part low = temp(), high = temp();
  put(opcode::popc, low, {a.lo});
  put(opcode::popc, high, {a.hi});
  put(opcode::iadd3, dst(), {low, high, zero()});
}

void selector::find_leading() {
  const bool clz = now_->op == ptx_op::clz, distance = now_->m.shift_amount;
  const dtype t = now_->m.type;
  const register_part d = dst();
  if (isa::size_of(t) == 4) {
    if (!clz) {
      machine_instruction& i = put(opcode::flo, d, {src(0)});
      i.base.type = isa::is_signed(t) ? dtype::s32 : dtype::u32;
      i.base.sub = distance ? 1 : 0;
      return;
    }
    const register_part at = temp();
    put(opcode::flo, at, {src(0)}).base.type = dtype::u32;
    operand minus = at;
    minus.negate = true;
    put(opcode::iadd3, d, {immediate(31), minus, zero()});
    return;
  }
  wide_value a = wide(0);
  if (isa::is_signed(t)) {
    const register_part m = temp(), x = temp(2);
    put(opcode::shr, m, {a.hi, immediate(31)}).base.type = dtype::s32;
    put(opcode::lop3, {x.reg, 0, 1}, {a.lo, m, zero()}).base.sub = 0x3c;
    put(opcode::lop3, {x.reg, 1, 1}, {a.hi, m, zero()}).base.sub = 0x3c;
    a = {word(x, 0), word(x, 1)};
  }
  const std::uint32_t in_high = temp_predicate();
  const register_part high = temp(), low = temp(), moved = temp();
  put_predicate(opcode::isetp, in_high, {a.hi, zero()}).base.cmp = isa::compare::ne;
  machine_instruction& find_high = put(opcode::flo, high, {a.hi});
  find_high.base.type = dtype::u32;
  find_high.base.sub = distance ? 1 : 0;
  machine_instruction& find_low = put(opcode::flo, low, {a.lo});
  find_low.base.type = dtype::u32;
  find_low.base.sub = distance ? 1 : 0;
  if (distance) {  // distance from the top: 31 - p, or 63 - p if the bit is in the low word; all ones if there is none
    const std::uint32_t in_low = temp_predicate();
    const register_part some = temp();
    put_predicate(opcode::isetp, in_low, {a.lo, zero()}).base.cmp = isa::compare::ne;
    put(opcode::iadd3, moved, {low, immediate(32), zero()});
    put(opcode::sel, some, {moved, immediate(0xffffffffu)}).psrc[0] = {in_low, false};
    put(opcode::sel, d, {high, some}).psrc[0] = {in_high, false};
    return;
  }
  put(opcode::iadd3, moved, {high, immediate(32), zero()});
  const register_part at = clz ? temp() : d;
  put(opcode::sel, at, {moved, low}).psrc[0] = {in_high, false};
  if (!clz) return;
  operand minus = at;
  minus.negate = true;
  put(opcode::iadd3, d, {immediate(63), minus, zero()});
}

void selector::permute() { put(opcode::prmt, dst(), {src(0), src(2), src(1)}).base.sub = now_->m.sub; }

void selector::funnel() {
  machine_instruction& i = put(opcode::shf, dst(), {src(0), src(2), src(1)});
  i.base.sub = now_->m.left ? 0 : 1;
  i.base.wrap = now_->m.wrap;
}

void selector::dot_product() {
  machine_instruction& i = put(opcode::idp, dst(), {src(0, dtype::b32), src(1, dtype::b32), src(2, dtype::b32)});
  i.base.type = now_->m.type;
  i.base.src_type = now_->m.type2;
  if (now_->op == ptx_op::dp2a) i.base.sub = now_->m.part == modifiers::part_kind::hi ? 2 : 1;
}

void selector::absolute_difference() {
  const dtype t = now_->m.type;
  if (isa::size_of(t) == 8) return absolute_difference_wide();
  const operand a = narrow(0, t), b = narrow(1, t);
  const register_part least = temp(), most = temp();
  for (const bool min : {true, false}) {
    machine_instruction& i = put(opcode::imnmx, min ? least : most, {a, b});
    i.base.type = isa::is_signed(t) ? dtype::s32 : dtype::u32;
    i.psrc[0] = {no_register, !min};
  }
  operand minus = least;
  minus.negate = true;
  put(opcode::iadd3, dst(), {most, minus, src(2)});
}

void selector::absolute_difference_wide() {
  const wide_value a = wide(0), b = wide(1);
  const std::uint32_t less = temp_predicate();
  compare_wide(less, no_register, a, b, isa::is_signed(now_->m.type), isa::compare::lt, isa::bool_op::and_, {});
  const register_part least = temp(2), most = temp(2), distance = temp(2);
  for (std::uint8_t k = 0; k < 2; ++k) {
    put(opcode::sel, {least.reg, k, 1}, {k ? a.hi : a.lo, k ? b.hi : b.lo}).psrc[0] = {less, false};
    put(opcode::sel, {most.reg, k, 1}, {k ? a.hi : a.lo, k ? b.hi : b.lo}).psrc[0] = {less, true};
  }
  add_wide(distance, {word(most, 0), word(most, 1)}, {word(least, 0), word(least, 1)}, true);
  add_wide(dst(), {word(distance, 0), word(distance, 1)}, wide(2), false);
}

// vabsdiff of bytes or halves: the differences are summed and added to c, or each is kept in its place.
void selector::video_difference() {
  need(3);
  const auto is_word = [](dtype t) { return t == dtype::u32 || t == dtype::s32; };
  if (!is_word(now_->m.type) || !is_word(now_->m.type2) || !is_word(now_->m.type3)) unsupported();
  const bool bytes = now_->op == ptx_op::vabsdiff4, sums = now_->m.sums;
  machine_instruction& i = put(opcode::vabsdiff, dst(), {src(0), src(1), sums ? src(2) : operand()});
  i.base.sub = static_cast<std::uint8_t>((sums ? 1 : 3) + (bytes ? 0 : 1));
  i.base.type = now_->m.type2;
  i.base.src_type = now_->m.type3;
  i.base.saturate = now_->m.saturate;
  i.base.high = isa::is_signed(now_->m.type);
}

void selector::mask_bits() {
  machine_instruction& i =
      put(now_->op == ptx_op::bmsk ? opcode::bmsk : opcode::sgxt, dst(), {src(0), src(1, dtype::b32)});
  i.base.wrap = now_->m.wrap;
  i.base.type = isa::is_signed(now_->m.type) ? dtype::s32 : dtype::u32;
}

}  // namespace heddle::ptx
