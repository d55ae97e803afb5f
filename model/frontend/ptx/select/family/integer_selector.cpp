// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/select/family/integer_selector.h"

namespace heddle::ptx {

using isa::dtype;
using isa::opcode;

void integer_selector::add_sub() {
  const bool subtract = in_.now().op == ptx_op::sub;
  const dtype t = in_.now().m.type;
  if (isa::size_of(t) == 8) return wide_.add(in_.dst(), in_.wide(0), in_.wide(1), subtract);
  if (in_.now().m.saturate) {
    if (t != dtype::s32) in_.unsupported();
    return wide_.add_saturated(in_.dst(), in_.src(0), in_.src(1), subtract);
  }
  virtual_operand b = in_.src(1);
  b.negate = subtract;
  out_.put(opcode::iadd3, in_.dst(), {in_.src(0), b, zero()});
}

void integer_selector::add_sub_carry() {
  const bool subtract = in_.now().op == ptx_op::sub || in_.now().op == ptx_op::subc;
  const bool takes = in_.now().op == ptx_op::addc || in_.now().op == ptx_op::subc;
  const unsigned words = isa::size_of(in_.now().m.type) / 4;
  if (words != 1 && words != 2) in_.unsupported();
  const register_part d = in_.dst();
  const virtual_operand a = in_.src(0), b = in_.src(1);
  virtual_predicate carry{out_.carry(), false};
  for (unsigned k = 0; k < words; ++k) {
    virtual_operand y = word(b, k);
    y.negate = subtract;
    machine_instruction& i =
        out_.put(opcode::iadd3, {d.reg, static_cast<std::uint8_t>(d.part + k), 1}, {word(a, k), y, zero()});
    i.base.extended = takes || k > 0;
    if (i.base.extended) i.psrc[0] = carry;
    if (in_.now().m.carry_out || k + 1 < words) i.pdst[0] = out_.carry();
  }
}

void integer_selector::logic(unsigned lut) {
  const register_part d = in_.dst();
  if (in_.now().op == ptx_op::lop3) {
    in_.need(4);
    if (!in_.now().src[3].is_immediate()) in_.unsupported();
    const register_part r = in_.now().m.combines && d.reg == no_register ? out_.temp() : d;
    out_.put(opcode::lop3, r, {in_.src(0), in_.src(1), in_.src(2)}).base.sub =
        static_cast<std::uint8_t>(in_.now().src[3].bits);
    if (!in_.now().m.combines) return;
    in_.need(5);
    machine_instruction& i = out_.put_predicate(opcode::isetp, in_.predicate_dst(1), {r, zero()});
    i.base.cmp = isa::compare::ne;
    i.base.bop = in_.now().m.bop;
    i.psrc[0] = in_.predicate(in_.now().src[4]);
    return;
  }
  if (in_.now().op == ptx_op::cnot) {
    const unsigned words = isa::size_of(in_.now().m.type) == 8 ? 2 : 1;
    const virtual_operand a =
        words == 2 ? in_.src(0) : out_.narrow(0, isa::size_of(in_.now().m.type) == 2 ? dtype::u16 : dtype::u32);
    const register_part any = out_.temp();
    out_.put(opcode::lop3, any, {word(a, 0), words == 2 ? word(a, 1) : zero(), zero()}).base.sub = 0xfc;
    const std::uint32_t p = out_.temp_predicate();
    out_.put_predicate(opcode::isetp, p, {any, zero()}).base.cmp = isa::compare::eq;
    out_.put(opcode::sel, {d.reg, d.part, 1}, {immediate(1), zero()}).psrc[0] = {p, false};
    if (words == 2) out_.copy({d.reg, 1, 1}, zero());
    return;
  }
  const virtual_operand a = in_.src(0), b = in_.now().op == ptx_op::not_ ? zero() : in_.src(1);
  for (unsigned k = 0; k < d.count; ++k)
    out_.put(opcode::lop3, {d.reg, static_cast<std::uint8_t>(d.part + k), 1}, {word(a, k), word(b, k), zero()})
        .base.sub = static_cast<std::uint8_t>(lut);
}

void integer_selector::shift() {
  const bool left = in_.now().op == ptx_op::shl;
  const dtype t = in_.now().m.type;
  const virtual_operand amount = in_.src(1, dtype::u32);
  if (isa::size_of(t) == 8) {
    const register_part r = out_.begin();
    if (left) wide_.shift_left(r, in_.wide(0), amount);
    else wide_.shift_right(r, in_.wide(0), amount, isa::is_signed(t));
    return out_.end(r);
  }
  const bool is_signed = isa::is_signed(t);
  const virtual_operand a =
      left ? in_.src(0) : out_.narrow(0, isa::size_of(t) == 2 ? (is_signed ? dtype::s16 : dtype::u16) : t);
  machine_instruction& i = out_.put(left ? opcode::shl : opcode::shr, in_.dst(), {a, amount});
  if (!left) i.base.type = is_signed ? dtype::s32 : dtype::u32;
}

void integer_selector::min_max() {
  const bool min = in_.now().op == ptx_op::min;
  const dtype t = in_.now().m.type;
  const register_part d = in_.dst();
  if (isa::size_of(t) == 8) {
    const std::uint32_t p = out_.temp_predicate();
    const wide_value a = in_.wide(0), b = in_.wide(1);
    wide_.compare(p, no_register, a, b, isa::is_signed(t), min ? isa::compare::lt : isa::compare::gt,
                  isa::bool_op::and_, {});
    const register_part r = out_.begin();
    out_.put(opcode::sel, {r.reg, r.part, 1}, {a.lo, b.lo}).psrc[0] = {p, false};
    out_.put(opcode::sel, {r.reg, static_cast<std::uint8_t>(r.part + 1), 1}, {a.hi, b.hi}).psrc[0] = {p, false};
    return out_.end(r);
  }
  if (t == dtype::b32 || t == dtype::b16) in_.unsupported();
  const virtual_operand a = out_.narrow(0, t), b = out_.narrow(1, t);
  const register_part r = in_.now().m.relu ? out_.temp() : d;
  machine_instruction& i = out_.put(opcode::imnmx, r, {a, b});
  i.base.type = isa::is_signed(t) ? dtype::s32 : dtype::u32;
  i.psrc[0] = {no_register, !min};
  if (!in_.now().m.relu) return;
  machine_instruction& positive = out_.put(opcode::imnmx, d, {r, zero()});
  positive.base.type = dtype::s32;
  positive.psrc[0] = {no_register, true};
}

void integer_selector::absolute_negate() {
  const dtype t = in_.now().m.type;
  const register_part d = in_.dst();
  if (in_.now().op == ptx_op::neg) {
    if (isa::size_of(t) == 8) return wide_.add(d, {zero(), zero()}, in_.wide(0), true);
    virtual_operand a = in_.src(0);
    a.negate = true;
    out_.put(opcode::iadd3, d, {zero(), a, zero()});
    return;
  }
  if (isa::size_of(t) != 8) {
    out_.put(opcode::iabs, d, {out_.narrow(0, t)});
    return;
  }
  const register_part m = out_.temp(), x = out_.temp(2);  // (a ^ m) - m, where m is all ones for a negative a
  const wide_value a = in_.wide(0);
  out_.put(opcode::shr, m, {a.hi, immediate(31)}).base.type = dtype::s32;
  out_.put(opcode::lop3, {x.reg, 0, 1}, {a.lo, m, zero()}).base.sub = 0x3c;
  out_.put(opcode::lop3, {x.reg, 1, 1}, {a.hi, m, zero()}).base.sub = 0x3c;
  wide_.add(d, {word(x, 0), word(x, 1)}, {m, m}, true);
}

void integer_selector::dot_product() {
  machine_instruction& i =
      out_.put(opcode::idp, in_.dst(), {in_.src(0, dtype::b32), in_.src(1, dtype::b32), in_.src(2, dtype::b32)});
  i.base.type = in_.now().m.type;
  i.base.src_type = in_.now().m.type2;
  if (in_.now().op == ptx_op::dp2a) i.base.sub = in_.now().m.part == modifiers::part_kind::hi ? 2 : 1;
}

void integer_selector::absolute_difference() {
  const dtype t = in_.now().m.type;
  if (isa::size_of(t) == 8) return absolute_difference_wide();
  const virtual_operand a = out_.narrow(0, t), b = out_.narrow(1, t);
  const register_part least = out_.temp(), most = out_.temp();
  for (const bool min : {true, false}) {
    machine_instruction& i = out_.put(opcode::imnmx, min ? least : most, {a, b});
    i.base.type = isa::is_signed(t) ? dtype::s32 : dtype::u32;
    i.psrc[0] = {no_register, !min};
  }
  virtual_operand minus = least;
  minus.negate = true;
  out_.put(opcode::iadd3, in_.dst(), {most, minus, in_.src(2)});
}

void integer_selector::absolute_difference_wide() {
  const wide_value a = in_.wide(0), b = in_.wide(1);
  const std::uint32_t less = out_.temp_predicate();
  wide_.compare(less, no_register, a, b, isa::is_signed(in_.now().m.type), isa::compare::lt, isa::bool_op::and_, {});
  const register_part least = out_.temp(2), most = out_.temp(2), distance = out_.temp(2);
  for (std::uint8_t k = 0; k < 2; ++k) {
    out_.put(opcode::sel, {least.reg, k, 1}, {k ? a.hi : a.lo, k ? b.hi : b.lo}).psrc[0] = {less, false};
    out_.put(opcode::sel, {most.reg, k, 1}, {k ? a.hi : a.lo, k ? b.hi : b.lo}).psrc[0] = {less, true};
  }
  wide_.add(distance, {word(most, 0), word(most, 1)}, {word(least, 0), word(least, 1)}, true);
  wide_.add(in_.dst(), {word(distance, 0), word(distance, 1)}, in_.wide(2), false);
}

// vabsdiff of bytes or halves: the differences are summed and added to c, or each is kept in its place.
void integer_selector::video_difference() {
  in_.need(3);
  const auto is_word = [](dtype t) { return t == dtype::u32 || t == dtype::s32; };
  if (!is_word(in_.now().m.type) || !is_word(in_.now().m.type2) || !is_word(in_.now().m.type3)) in_.unsupported();
  const bool bytes = in_.now().op == ptx_op::vabsdiff4, sums = in_.now().m.sums;
  machine_instruction& i =
      out_.put(opcode::vabsdiff, in_.dst(), {in_.src(0), in_.src(1), sums ? in_.src(2) : virtual_operand()});
  i.base.sub = static_cast<std::uint8_t>((sums ? 1 : 3) + (bytes ? 0 : 1));
  i.base.type = in_.now().m.type2;
  i.base.src_type = in_.now().m.type3;
  i.base.saturate = in_.now().m.saturate;
  i.base.high = isa::is_signed(in_.now().m.type);
}

}  // namespace heddle::ptx
