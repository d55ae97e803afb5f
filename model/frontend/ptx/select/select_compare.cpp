// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/select/selector.h"

namespace heddle::ptx {

void selector::compare_wide(std::uint32_t p, std::uint32_t q, wide_value a, wide_value b, bool is_signed,
                            isa::compare c, isa::bool_op bop, virtual_predicate with) {
  const std::uint32_t low = temp_predicate();
  machine_instruction& first = put_predicate(opcode::isetp, low, {a.lo, b.lo});
  first.base.cmp = c;
  first.base.type = dtype::u32;
  machine_instruction& second = put_predicate(opcode::isetp, p, {a.hi, b.hi});
  second.base.cmp = c;
  second.base.bop = bop;
  second.base.type = is_signed ? dtype::s32 : dtype::u32;
  second.base.extended = true;
  second.pdst[1] = q;
  second.psrc[0] = with;
  second.psrc[1] = {low, false};
}

void selector::compare_into(std::uint32_t p, std::uint32_t q, virtual_predicate with, bool combine) {
  const dtype t = now_->op == ptx_op::set ? now_->m.type2 : now_->m.type;
  const isa::bool_op bop = combine ? now_->m.bop : isa::bool_op::and_;
  const bool is_signed = isa::is_signed(t) && !now_->m.unsigned_compare;
  if (!isa::is_float(t) && isa::size_of(t) == 8)
    return compare_wide(p, q, wide(0, t), wide(1, t), is_signed, now_->m.cmp, bop, with);
  opcode op = opcode::isetp;
  operand a, b;
  switch (t) {
    case dtype::f32:
    case dtype::f64:
      op = t == dtype::f32 ? opcode::fsetp : opcode::dsetp;
      a = now_->op == ptx_op::set ? src(0, t) : float_src(0, now_->m.ftz);
      b = now_->op == ptx_op::set ? src(1, t) : float_src(1, now_->m.ftz);
      break;
    case dtype::f16:
    case dtype::f16x2:
    case dtype::bf16:
    case dtype::bf16x2:
      op = opcode::hsetp2;
      a = src(0, t);
      b = src(1, t);
      break;
    case dtype::pred:
    case dtype::none: unsupported();
    default:
      a = narrow(0, t);
      b = narrow(1, t);
      break;
  }
  machine_instruction& i = put_predicate(op, p, {a, b});
  i.base.type = op == opcode::isetp ? (is_signed ? dtype::s32 : dtype::u32) : t;
  i.base.cmp = now_->m.cmp;
  i.base.bop = bop;
  i.base.ftz = now_->m.ftz;
  i.pdst[1] = q;
  i.psrc[0] = with;
  if (is_temporary(p) && q == no_register) i.guard = {};
}

void selector::set_predicate() {
  if (now_->m.types != 1) unsupported();
  virtual_predicate with;
  if (now_->m.combines) {
    need(3);
    with = predicate(now_->src[2]);
  }
  compare_into(predicate_dst(0), predicate_dst(1), with, now_->m.combines);
}

void selector::set_value() {
  const dtype to = now_->m.type, from = now_->m.type2;
  virtual_predicate with;
  if (now_->m.combines) {
    need(3);
    with = predicate(now_->src[2]);
  }
  if (from == dtype::f16x2 || from == dtype::bf16x2) {
    machine_instruction& i = put(opcode::hset2, dst(), {src(0, from), src(1, from)});
    i.base.type = from;
    i.base.cmp = now_->m.cmp;
    i.base.bop = now_->m.combines ? now_->m.bop : isa::bool_op::and_;
    i.base.ftz = now_->m.ftz;
    i.base.wide = !isa::is_float(to);
    i.psrc[0] = with;
    return;
  }
  const std::uint32_t p = temp_predicate();
  compare_into(p, no_register, with, now_->m.combines);
  std::uint32_t one = 0xffffffffu;
  if (to == dtype::f32) one = 0x3f800000u;
  if (to == dtype::f16) one = 0x3c00u;
  if (to == dtype::bf16) one = 0x3f80u;
  if (isa::size_of(to) == 8) unsupported();
  put(opcode::sel, dst(), {immediate(one), zero()}).psrc[0] = {p, false};
}

void selector::select_value() {
  need(3);
  const virtual_predicate p = predicate(now_->src[2]);
  const register_part d = dst();
  const operand a = src(0), b = src(1);
  for (unsigned k = 0; k < d.count; ++k)
    put(opcode::sel, {d.reg, static_cast<std::uint8_t>(k), 1}, {word(a, k), word(b, k)}).psrc[0] = p;
}

void selector::select_by_sign() {
  const bool real = now_->m.type2 == dtype::f32;
  const std::uint32_t p = temp_predicate();
  machine_instruction& i = put_predicate(real ? opcode::fsetp : opcode::isetp, p, {src(2, dtype::b32), zero()});
  i.base.cmp = isa::compare::ge;
  i.base.type = real ? dtype::f32 : dtype::s32;
  i.base.ftz = now_->m.ftz;
  const register_part d = dst();
  const operand a = src(0), b = src(1);
  for (unsigned k = 0; k < d.count; ++k)
    put(opcode::sel, {d.reg, static_cast<std::uint8_t>(k), 1}, {word(a, k), word(b, k)}).psrc[0] = {p, false};
}

void selector::move_predicate(std::uint32_t d, virtual_predicate s) {
  machine_instruction& i = put_predicate(opcode::plop3, d, {});
  i.psrc[0] = s;
  i.base.sub = 0xf0;
}

void selector::predicate_logic() {
  need(now_->op == ptx_op::not_ ? 1 : 2);
  const std::uint32_t d = predicate_dst();
  const virtual_predicate a = predicate(now_->src[0]);
  if (now_->op == ptx_op::not_) return move_predicate(d, {a.reg, !a.negate});
  const virtual_predicate b = predicate(now_->src[1]);
  machine_instruction& i = put_predicate(opcode::plop3, d, {});
  i.psrc[0] = a;
  i.psrc[1] = b;
  i.base.sub = now_->op == ptx_op::and_ ? 0xc0 : now_->op == ptx_op::or_ ? 0xfc : 0x3c;
}

}  // namespace heddle::ptx
