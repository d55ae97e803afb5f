// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/select/family/float_selector.h"

namespace heddle::ptx {

using isa::dtype;
using isa::opcode;

namespace {

constexpr std::uint64_t f32_infinity = 0x7f800000u, f32_least_normal = 0x00800000u;
constexpr std::uint64_t f64_infinity = 0x7ff0000000000000u, f64_least_normal = 0x0010000000000000u;

std::uint32_t sign_bits(dtype t) {
  return t == dtype::f16x2 || t == dtype::bf16x2 ? 0x80008000u
         : t == dtype::f16 || t == dtype::bf16   ? 0x8000u
                                                 : 0x80000000u;
}

}  // namespace

void float_selector::arithmetic() {
  const dtype t = in_.now().m.type;
  if (is_half(t)) return half_arithmetic();
  if (in_.now().m.relu) in_.unsupported();
  if (t == dtype::f32x2) return pair_arithmetic();
  const bool fused = in_.now().op == ptx_op::fma || in_.now().op == ptx_op::mad;
  const bool sum = in_.now().op == ptx_op::add || in_.now().op == ptx_op::sub;
  const bool single = t == dtype::f32;
  const opcode op = fused ? (single ? opcode::ffma : opcode::dfma)
                    : sum ? (single ? opcode::fadd : opcode::dadd)
                          : (single ? opcode::fmul : opcode::dmul);
  virtual_operand a = in_.float_src(0, in_.now().m.ftz), b = in_.float_src(1, in_.now().m.ftz), c;
  if (in_.now().op == ptx_op::sub) b.negate = !b.negate;
  if (fused) c = in_.float_src(2, in_.now().m.ftz);
  // Products support one sign and no absolute values.
  if (!sum && (a.absolute || b.absolute)) {
    a = in_.src(0);
    b = in_.src(1);
  }
  if (fused && c.absolute) c = in_.src(2);
  machine_instruction& i = out_.put(op, in_.dst(), {a, b, c});
  i.base.type = t;
  i.base.round = in_.now().m.round;
  i.base.ftz = in_.now().m.ftz;
  i.base.saturate = in_.now().m.saturate;
}

/// Two f32 in a register pair, as two instructions.
void float_selector::pair_arithmetic() {
  const bool fused = in_.now().op == ptx_op::fma, sum = in_.now().op == ptx_op::add || in_.now().op == ptx_op::sub;
  if (in_.now().m.saturate) in_.unsupported();
  in_.need(fused ? 3 : 2);
  const virtual_operand a = in_.src(0), b = in_.src(1), c = fused ? in_.src(2) : virtual_operand();
  const register_part d = out_.begin();
  for (unsigned k = 0; k < 2; ++k) {
    virtual_operand y = word(b, k);
    if (in_.now().op == ptx_op::sub) y.negate = !y.negate;
    machine_instruction& i = out_.put(fused ? opcode::ffma
                                      : sum ? opcode::fadd
                                            : opcode::fmul,
                                      {d.reg, static_cast<std::uint8_t>(d.part + k), 1},
                                      {word(a, k), y, fused ? word(c, k) : virtual_operand()});
    i.base.type = dtype::f32;
    i.base.round = in_.now().m.round;
    i.base.ftz = in_.now().m.ftz;
  }
  out_.end(d);
}

void float_selector::half_arithmetic() {
  chip_.require_half();
  const bool fused = in_.now().op == ptx_op::fma;
  if (in_.now().op == ptx_op::mad || in_.now().m.round != isa::rounding::rn) in_.unsupported();
  const opcode op = fused ? opcode::hfma2 : in_.now().op == ptx_op::mul ? opcode::hmul2 : opcode::hadd2;
  virtual_operand b = in_.src(1);
  if (in_.now().op == ptx_op::sub) b.negate = true;
  machine_instruction& i = out_.put(op, in_.dst(), {in_.src(0), b, fused ? in_.src(2) : virtual_operand()});
  i.base.type = in_.now().m.type;
  i.base.ftz = in_.now().m.ftz;
  i.base.saturate = in_.now().m.saturate;
  i.base.nan = in_.now().m.relu;
}

void float_selector::min_max() {
  const dtype t = in_.now().m.type;
  const opcode op = t == dtype::f32 ? opcode::fmnmx : t == dtype::f64 ? opcode::dmnmx : opcode::hmnmx2;
  const bool plain = is_half(t) || in_.now().m.xorsign;
  virtual_operand a = plain ? in_.src(0) : in_.float_src(0, in_.now().m.ftz),
                  b = plain ? in_.src(1) : in_.float_src(1, in_.now().m.ftz);
  const virtual_operand x = a, y = b;
  if (in_.now().m.xorsign) a = magnitude(a), b = magnitude(b);
  const register_part r = in_.now().m.xorsign ? out_.temp() : in_.dst();
  machine_instruction& i = out_.put(op, r, {a, b});
  i.base.type = t;
  i.base.ftz = in_.now().m.ftz;
  i.base.nan = in_.now().m.nan;
  i.psrc[0] = {no_register, in_.now().op == ptx_op::max};
  if (!in_.now().m.xorsign) return;
  const virtual_operand signs = immediate(sign_bits(t));  // (x ^ y) & signs | r & ~signs
  const register_part sign = out_.temp();
  out_.put(opcode::lop3, sign, {x, y, signs}).base.sub = 0x28;
  out_.put(opcode::lop3, in_.dst(), {sign, r, signs}).base.sub = 0xf4;
}

virtual_operand float_selector::magnitude(const virtual_operand& o) {
  const register_part r = out_.temp();
  out_.put(opcode::lop3, r, {o, immediate(sign_bits(in_.now().m.type)), zero()}).base.sub = 0x30;
  return r;
}

void float_selector::sign() {
  const dtype t = in_.now().m.type;
  const bool negates = in_.now().op == ptx_op::neg;
  if (is_half(t)) {  // adding -0 keeps every number, flushes denormals if requested and makes a NaN 0x7fff
    chip_.require_half();
    virtual_operand a = in_.src(0);
    a.negate = negates;
    a.absolute = !negates;
    machine_instruction& i = out_.put(opcode::hadd2, in_.dst(), {a, immediate(sign_bits(t))});
    i.base.type = t;
    i.base.ftz = in_.now().m.ftz;
    return;
  }
  virtual_operand a = in_.src(0), nothing = zero();  // adding -0 keeps every value and flushes denormals if requested
  a.negate = negates;
  a.absolute = !negates;
  nothing.negate = true;
  nothing.count = t == dtype::f64 ? 2 : 1;
  machine_instruction& i = out_.put(t == dtype::f64 ? opcode::dadd : opcode::fadd, in_.dst(), {a, nothing});
  i.base.type = t;
  i.base.ftz = in_.now().m.ftz;
}

void float_selector::copy_sign() {
  const dtype t = in_.now().m.type;
  if (t != dtype::f32 && t != dtype::f64) in_.unsupported();
  const unsigned top = t == dtype::f64 ? 1 : 0;
  const register_part r = out_.begin();
  if (top) out_.copy({r.reg, r.part, 1}, word(in_.src(1), 0));
  out_.put(opcode::lop3, {r.reg, static_cast<std::uint8_t>(r.part + top), 1},
           {word(in_.src(0), top), immediate(0x80000000u), word(in_.src(1), top)})
      .base.sub = 0xe2;
  out_.end(r);
}

void float_selector::test_property() {
  const dtype t = in_.now().m.type;
  const bool single = t == dtype::f32;
  if (!single && t != dtype::f64) in_.unsupported();
  const virtual_operand infinity = single ? immediate(f32_infinity) : immediate(f64_infinity, 2);
  const virtual_operand least = single ? immediate(f32_least_normal) : immediate(f64_least_normal, 2);
  virtual_operand none = zero(), a = in_.src(0);
  none.count = single ? 1 : 2;
  a.absolute = true;
  const std::uint32_t p = in_.predicate_dst();
  const auto compare = [&](std::uint32_t to, const virtual_operand& b, isa::compare c, virtual_predicate with) {
    machine_instruction& i = out_.put_predicate(single ? opcode::fsetp : opcode::dsetp, to, {a, b});
    i.base.type = t;
    i.base.cmp = c;
    i.psrc[0] = with;
  };
  const std::uint32_t first = out_.temp_predicate();
  switch (in_.now().m.sub) {
    case 0: return compare(p, infinity, isa::compare::lt, {});
    case 1: return compare(p, infinity, isa::compare::eq, {});
    case 2: return compare(p, none, isa::compare::num, {});
    case 3: return compare(p, none, isa::compare::nan, {});
    case 4: {  // neither subnormal nor infinite; zero is normal
      const std::uint32_t subnormal = out_.temp_predicate();
      compare(first, none, isa::compare::gt, {});
      compare(subnormal, least, isa::compare::lt, {first, false});
      return compare(p, infinity, isa::compare::lt, {subnormal, true});
    }
    default: compare(first, none, isa::compare::gt, {}); return compare(p, least, isa::compare::lt, {first, false});
  }
}

}  // namespace heddle::ptx
