// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/select/family/divide_selector.h"

namespace heddle::ptx {

using isa::assist_function;
using isa::dtype;
using isa::mufu_function;
using isa::opcode;

namespace {

constexpr std::uint64_t f32_one = 0x3f800000u, f32_minus_one = 0xbf800000u, half_bits = 0x3f000000u;
constexpr std::uint64_t f64_one = 0x3ff0000000000000u;

}  // namespace

void divide_selector::divide() {
  const dtype t = in_.now().m.type;
  in_.need(2);
  if (in_.now().op == ptx_op::rem || (t != dtype::f32 && t != dtype::f64)) in_.unsupported();
  if (t == dtype::f32 && (in_.now().m.approx || in_.now().m.full)) return divide_f32_approx();
  if (in_.now().m.approx || in_.now().m.full) in_.unsupported();
  if (in_.now().m.round != isa::rounding::rn)
    return out_.assist(in_.dst(), t == dtype::f32 ? assist_function::div_f32 : assist_function::div_f64,
                       {in_.src(0), in_.src(1)}, {});
  return t == dtype::f32 ? divide_f32() : divide_f64();
}

void divide_selector::divide_f32() {
  const virtual_operand a = in_.src(0), b = in_.src(1);
  const register_part r0 = out_.temp(), e = out_.temp(), r = out_.temp(), q0 = out_.temp(), m = out_.temp();
  const std::uint32_t special = out_.temp_predicate();
  const register_part q = out_.begin();
  out_.keep(q);
  out_.put_predicate(opcode::fchk, special, {a, b}).base.sub = static_cast<std::uint8_t>(assist_function::div_f32);
  out_.put(opcode::mufu, r0, {b}).base.sub = static_cast<std::uint8_t>(mufu_function::rcp);
  out_.put(opcode::ffma, e, {minus(b), r0, immediate(f32_one)});
  out_.put(opcode::ffma, r, {r0, e, r0});
  out_.put(opcode::ffma, q0, {a, r, zero()});
  out_.put(opcode::ffma, m, {minus(b), q0, a});
  out_.put(opcode::ffma, q, {r, m, q0}).guard = {};
  out_.assist(q, assist_function::div_f32, {a, b}, {special, false});
  out_.end(q);
}

/// Predicate: the magnitude of the float with the bits of `word` compares so with the one with `bits`, and `with`.
/// Tests the exponent of a double by its high word.
std::uint32_t divide_selector::compare_magnitude(virtual_operand word, isa::compare c, std::uint64_t bits,
                                                 virtual_predicate with) {
  const std::uint32_t p = out_.temp_predicate();
  virtual_operand magnitude = word;
  magnitude.absolute = true;
  magnitude.negate = false;
  machine_instruction& i = out_.put_predicate(opcode::fsetp, p, {magnitude, immediate(bits)});
  i.base.cmp = c;
  i.base.type = dtype::f32;
  i.psrc[0] = with;
  return p;
}

/// A copy of an operand to be changed under a guard.
register_part divide_selector::scaled(const virtual_operand& o) {
  const register_part r = out_.temp();
  out_.keep(r);
  machine_instruction& i = out_.put(opcode::mov, r, {o});
  i.base.type = dtype::f32;
  i.guard = {};
  return r;
}

/// The operand without sign modifiers, which integer instructions understand otherwise.
virtual_operand divide_selector::without_sign(const virtual_operand& o) {
  if (!o.negate && !o.absolute) return o;
  const register_part r = out_.temp(o.count);
  for (unsigned k = 0; k < o.count; ++k) {
    virtual_operand w = word(o, k);
    if (k + 1 < o.count) w.negate = w.absolute = false;
    out_.put(opcode::mov, {r.reg, static_cast<std::uint8_t>(k), 1}, {w}).base.type = dtype::f32;
  }
  return r;
}

void divide_selector::divide_f32_approx() {
  virtual_operand a = in_.src(0), b = in_.src(1);
  const bool ftz = in_.now().m.ftz;
  if (in_.now().m.full || !ftz) {
    // Scaling keeps the reciprocal in range: divisor and dividend are scaled up for denormal divisors and, with .full,
    // down for huge ones.
    const virtual_operand divisor = b;
    const register_part sa = scaled(a), sb = scaled(b);
    const auto scale = [&](virtual_predicate when, std::uint64_t factor) {
      for (const register_part x : {sb, sa}) {
        machine_instruction& i = out_.put(opcode::fmul, x, {x, immediate(factor)});
        i.base.ftz = ftz;
        i.guard = when;
      }
    };
    const std::uint32_t huge =
        in_.now().m.full ? compare_magnitude(divisor, isa::compare::gt, 0x7e800000u, {}) : no_register;
    const std::uint32_t normal = compare_magnitude(divisor, isa::compare::geu, 0x00800000u, {});
    if (huge != no_register) scale({huge, false}, 0x3e800000u);
    scale({normal, true}, 0x4b800000u);
    a = sa;
    b = sb;
  }
  const register_part r = out_.temp();
  machine_instruction& i = out_.put(opcode::mufu, r, {b});
  i.base.sub = static_cast<std::uint8_t>(mufu_function::rcp);
  i.base.ftz = ftz;
  out_.put(opcode::fmul, in_.dst(), {a, r}).base.ftz = ftz;
}

/// `start`: the first estimate, whose low word may hold anything.
void divide_selector::reciprocal_f64_core(register_part r, virtual_operand a, register_part start) {
  const register_part e0 = out_.temp(2), e1 = out_.temp(2), r1 = out_.temp(2), e2 = out_.temp(2);
  out_.put(opcode::mufu, {start.reg, 1, 1}, {word(a, 1)}).base.sub = static_cast<std::uint8_t>(mufu_function::rcp64h);
  out_.put(opcode::dfma, e0, {minus(a), start, immediate(f64_one, 2)});
  out_.put(opcode::dfma, e1, {e0, e0, e0});
  out_.put(opcode::dfma, r1, {start, e1, start});
  out_.put(opcode::dfma, e2, {minus(a), r1, immediate(f64_one, 2)});
  out_.put(opcode::dfma, r, {r1, e2, r1}).guard = {};
}

void divide_selector::divide_f64() {
  const virtual_operand a = in_.src(0), b = in_.src(1);
  const register_part start = out_.temp(2), r = out_.temp(2), q0 = out_.temp(2), m = out_.temp(2), test = out_.temp();
  const register_part q = out_.begin();
  out_.keep(q);
  // With a low word of zero the reciprocal of the largest mantissa would be a unit too small.
  out_.put(opcode::mov, {start.reg, 0, 1}, {immediate(1)});
  reciprocal_f64_core(r, b, start);
  const std::uint32_t large = compare_magnitude(word(a, 1), isa::compare::ge, 0x03600000u, {});
  out_.put(opcode::dmul, q0, {a, r});
  out_.put(opcode::dfma, m, {minus(b), q0, a});
  out_.put(opcode::dfma, q, {r, m, q0}).guard = {};
  // Not normal, or not a number: where the quotient is not, or where the divisor's reciprocal may be denormal.
  out_.put(opcode::ffma, test, {zero(), word(b, 1), register_part{q.reg, static_cast<std::uint8_t>(q.part + 1), 1}});
  const std::uint32_t exact = compare_magnitude(test, isa::compare::gt, 0x00100000u, {large, false});
  out_.assist(q, assist_function::div_f64, {a, b}, {exact, true});
  out_.end(q);
}

void divide_selector::reciprocal() {
  const dtype t = in_.now().m.type;
  const virtual_operand a = in_.src(0);
  if (t == dtype::f64 && in_.now().m.approx) {
    const register_part r = out_.begin();
    out_.put(opcode::mufu, {r.reg, static_cast<std::uint8_t>(r.part + 1), 1}, {word(a, 1)}).base.sub =
        static_cast<std::uint8_t>(mufu_function::rcp64h);
    out_.copy({r.reg, r.part, 1}, zero());
    return out_.end(r);
  }
  if (t != dtype::f32 && t != dtype::f64) in_.unsupported();
  if (in_.now().m.approx) {
    machine_instruction& i = out_.put(opcode::mufu, in_.dst(), {in_.float_src(0, in_.now().m.ftz)});
    i.base.sub = static_cast<std::uint8_t>(mufu_function::rcp);
    i.base.ftz = in_.now().m.ftz;
    return;
  }
  const assist_function f = t == dtype::f32 ? assist_function::rcp_f32 : assist_function::rcp_f64;
  if (in_.now().m.round != isa::rounding::rn) return out_.assist(in_.dst(), f, {a}, {});
  const register_part r = out_.begin();
  out_.keep(r);
  // The exponent is above the lowest three (one of a double), and not so high that the reciprocal may be denormal.
  virtual_operand bits = a.count == 2 ? word(a, 1) : a;
  bits.negate = bits.absolute = false;
  std::uint32_t exact;
  if (t == dtype::f32) {
    const register_part r0 = out_.temp(), error = out_.temp(), e = out_.temp(), moved = out_.temp(),
                        exponent = out_.temp();
    out_.put(opcode::iadd3, moved, {bits, immediate(0x01800000u), zero()});
    out_.put(opcode::lop3, exponent, {moved, immediate(0x7f800000u), zero()}).base.sub = 0xc0;
    exact = out_.temp_predicate();
    machine_instruction& c = out_.put_predicate(opcode::isetp, exact, {exponent, immediate(0x01ffffffu)});
    c.base.cmp = isa::compare::gt;
    c.base.type = dtype::u32;
    out_.put(opcode::mufu, r0, {a}).base.sub = static_cast<std::uint8_t>(mufu_function::rcp);
    out_.put(opcode::ffma, error, {a, r0, immediate(f32_minus_one)});
    out_.put(opcode::fadd, e, {minus(error), minus(zero())});
    out_.put(opcode::ffma, r, {r0, e, r0}).guard = {};
  } else {
    const register_part start = out_.temp(2);
    out_.put(opcode::iadd3, {start.reg, 0, 1}, {bits, immediate(0x00300402u), zero()});
    exact = compare_magnitude(register_part{start.reg, 0, 1}, isa::compare::ge, 0x00400402u, {});
    reciprocal_f64_core(r, a, start);
  }
  out_.assist(r, f, {a}, {exact, true});
  out_.end(r);
}

void divide_selector::square_root() {
  const dtype t = in_.now().m.type;
  const virtual_operand a = in_.src(0);
  if (t != dtype::f32 && t != dtype::f64) in_.unsupported();
  if (in_.now().m.approx) {
    if (t == dtype::f64) in_.unsupported();
    machine_instruction& i = out_.put(opcode::mufu, in_.dst(), {in_.float_src(0, in_.now().m.ftz)});
    i.base.sub = static_cast<std::uint8_t>(mufu_function::sqrt);
    i.base.ftz = in_.now().m.ftz;
    return;
  }
  const assist_function f = t == dtype::f32 ? assist_function::sqrt_f32 : assist_function::sqrt_f64;
  if (in_.now().m.round != isa::rounding::rn) return out_.assist(in_.dst(), f, {a}, {});
  const register_part r = out_.begin();
  out_.keep(r);
  const virtual_operand x = without_sign(a);
  const std::uint32_t special = t == dtype::f32 ? square_root_f32(r, x) : square_root_f64(r, x);
  out_.assist(r, f, {x}, {special, false});
  out_.end(r);
}

/// Predicate: the number of these bits is negative, not finite, or so small that a residual may not be exact; `moved`:
/// the bits less the least ones that are large enough.
std::uint32_t divide_selector::out_of_root_range(register_part moved, virtual_operand bits, std::uint64_t least,
                                                 std::uint64_t end) {
  const std::uint32_t special = out_.temp_predicate();
  out_.put(opcode::iadd3, moved, {bits, immediate((0 - least) & 0xffffffffu), zero()});
  machine_instruction& c = out_.put_predicate(opcode::isetp, special, {moved, immediate(end - least - 1)});
  c.base.cmp = isa::compare::gt;
  c.base.type = dtype::u32;
  return special;
}

std::uint32_t divide_selector::square_root_f32(register_part r, virtual_operand a) {
  const register_part moved = out_.temp(), y = out_.temp(), g = out_.temp(), h = out_.temp(), m = out_.temp();
  const std::uint32_t special = out_of_root_range(moved, a, 0x0d000000u, 0x7f800000u);
  out_.put(opcode::mufu, y, {a}).base.sub = static_cast<std::uint8_t>(mufu_function::rsq);
  out_.put(opcode::fmul, g, {a, y});
  out_.put(opcode::fmul, h, {y, immediate(half_bits)});
  out_.put(opcode::ffma, m, {minus(g), g, a});
  out_.put(opcode::ffma, r, {m, h, g}).guard = {};
  return special;
}

std::uint32_t divide_selector::square_root_f64(register_part r, virtual_operand a) {
  const register_part y0 = out_.temp(2), s = out_.temp(2), e = out_.temp(2), p = out_.temp(2), ye = out_.temp(2),
                      y = out_.temp(2);
  const register_part g = out_.temp(2), h = out_.temp(2), m = out_.temp(2);
  const std::uint32_t special = out_of_root_range({y0.reg, 0, 1}, word(a, 1), 0x03500000u, 0x7ff00000u);
  out_.put(opcode::mufu, {y0.reg, 1, 1}, {word(a, 1)}).base.sub = static_cast<std::uint8_t>(mufu_function::rsq64h);
  out_.put(opcode::dmul, s, {y0, y0});
  out_.put(opcode::dfma, e, {a, minus(s), immediate(f64_one, 2)});
  out_.put(opcode::dfma, p, {e, immediate(0x3fd8000000000000u, 2), immediate(0x3fe0000000000000u, 2)});
  out_.put(opcode::dmul, ye, {y0, e});
  out_.put(opcode::dfma, y, {p, ye, y0});
  out_.put(opcode::dmul, g, {a, y});
  out_.put(opcode::mov, {h.reg, 0, 1}, {register_part{y.reg, 0, 1}});
  out_.put(opcode::iadd3, {h.reg, 1, 1}, {register_part{y.reg, 1, 1}, immediate(0xfff00000u), zero()});  // half of y
  out_.put(opcode::dfma, m, {minus(g), g, a});
  out_.put(opcode::dfma, r, {m, h, g}).guard = {};
  return special;
}

}  // namespace heddle::ptx
