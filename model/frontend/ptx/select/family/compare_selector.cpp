// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/select/family/compare_selector.h"

namespace heddle::ptx {

using isa::dtype;
using isa::opcode;

void compare_selector::compare_into(std::uint32_t p, std::uint32_t q, virtual_predicate with, bool combine) {
  const dtype t = in_.now().op == ptx_op::set ? in_.now().m.type2 : in_.now().m.type;
  const isa::bool_op bop = combine ? in_.now().m.bop : isa::bool_op::and_;
  const bool is_signed = isa::is_signed(t) && !in_.now().m.unsigned_compare;
  if (!isa::is_float(t) && isa::size_of(t) == 8)
    return wide_.compare(p, q, in_.wide(0, t), in_.wide(1, t), is_signed, in_.now().m.cmp, bop, with);
  opcode op = opcode::isetp;
  virtual_operand a, b;
  switch (t) {
    case dtype::f32:
    case dtype::f64:
      op = t == dtype::f32 ? opcode::fsetp : opcode::dsetp;
      a = in_.now().op == ptx_op::set ? in_.src(0, t) : in_.float_src(0, in_.now().m.ftz);
      b = in_.now().op == ptx_op::set ? in_.src(1, t) : in_.float_src(1, in_.now().m.ftz);
      break;
    case dtype::f16:
    case dtype::f16x2:
    case dtype::bf16:
    case dtype::bf16x2:
      op = opcode::hsetp2;
      a = in_.src(0, t);
      b = in_.src(1, t);
      break;
    case dtype::pred:
    case dtype::none: in_.unsupported();
    default:
      a = out_.narrow(0, t);
      b = out_.narrow(1, t);
      break;
  }
  machine_instruction& i = out_.put_predicate(op, p, {a, b});
  i.base.type = op == opcode::isetp ? (is_signed ? dtype::s32 : dtype::u32) : t;
  i.base.cmp = in_.now().m.cmp;
  i.base.bop = bop;
  i.base.ftz = in_.now().m.ftz;
  i.pdst[1] = q;
  i.psrc[0] = with;
}

void compare_selector::set_predicate() {
  if (in_.now().m.types != 1) in_.unsupported();
  virtual_predicate with;
  if (in_.now().m.combines) {
    in_.need(3);
    with = in_.predicate(in_.now().src[2]);
  }
  compare_into(in_.predicate_dst(0), in_.predicate_dst(1), with, in_.now().m.combines);
}

void compare_selector::set_value() {
  const dtype to = in_.now().m.type, from = in_.now().m.type2;
  virtual_predicate with;
  if (in_.now().m.combines) {
    in_.need(3);
    with = in_.predicate(in_.now().src[2]);
  }
  if (from == dtype::f16x2 || from == dtype::bf16x2) {
    machine_instruction& i = out_.put(opcode::hset2, in_.dst(), {in_.src(0, from), in_.src(1, from)});
    i.base.type = from;
    i.base.cmp = in_.now().m.cmp;
    i.base.bop = in_.now().m.combines ? in_.now().m.bop : isa::bool_op::and_;
    i.base.ftz = in_.now().m.ftz;
    i.base.wide = !isa::is_float(to);
    i.psrc[0] = with;
    return;
  }
  const std::uint32_t p = out_.temp_predicate();
  compare_into(p, no_register, with, in_.now().m.combines);
  std::uint32_t one = 0xffffffffu;
  if (to == dtype::f32) one = 0x3f800000u;
  if (to == dtype::f16) one = 0x3c00u;
  if (to == dtype::bf16) one = 0x3f80u;
  if (isa::size_of(to) == 8) in_.unsupported();
  out_.put(opcode::sel, in_.dst(), {immediate(one), zero()}).psrc[0] = {p, false};
}

void compare_selector::select_value() {
  in_.need(3);
  const virtual_predicate p = in_.predicate(in_.now().src[2]);
  const register_part d = in_.dst();
  const virtual_operand a = in_.src(0), b = in_.src(1);
  for (unsigned k = 0; k < d.count; ++k)
    out_.put(opcode::sel, {d.reg, static_cast<std::uint8_t>(k), 1}, {word(a, k), word(b, k)}).psrc[0] = p;
}

void compare_selector::select_by_sign() {
  const bool real = in_.now().m.type2 == dtype::f32;
  const std::uint32_t p = out_.temp_predicate();
  machine_instruction& i =
      out_.put_predicate(real ? opcode::fsetp : opcode::isetp, p, {in_.src(2, dtype::b32), zero()});
  i.base.cmp = isa::compare::ge;
  i.base.type = real ? dtype::f32 : dtype::s32;
  i.base.ftz = in_.now().m.ftz;
  const register_part d = in_.dst();
  const virtual_operand a = in_.src(0), b = in_.src(1);
  for (unsigned k = 0; k < d.count; ++k)
    out_.put(opcode::sel, {d.reg, static_cast<std::uint8_t>(k), 1}, {word(a, k), word(b, k)}).psrc[0] = {p, false};
}

void compare_selector::predicate_logic() {
  in_.need(in_.now().op == ptx_op::not_ ? 1 : 2);
  const std::uint32_t d = in_.predicate_dst();
  const virtual_predicate a = in_.predicate(in_.now().src[0]);
  if (in_.now().op == ptx_op::not_) return out_.move_predicate(d, {a.reg, !a.negate});
  const virtual_predicate b = in_.predicate(in_.now().src[1]);
  machine_instruction& i = out_.put_predicate(opcode::plop3, d, {});
  i.psrc[0] = a;
  i.psrc[1] = b;
  i.base.sub = in_.now().op == ptx_op::and_ ? 0xc0 : in_.now().op == ptx_op::or_ ? 0xfc : 0x3c;
}

}  // namespace heddle::ptx
