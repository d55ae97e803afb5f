// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/select/selector.h"

// Division and square root as the instruction sequences that chips issue: a reciprocal from the special function unit,
// Newton steps on fused multiply-adds, one residual correction that rounds exactly (Markstein, "Computation of
// elementary functions on the IBM RISC System/6000", 1990), and ASSIST for the operands that a test of their exponents
// detects. split_at_slow_paths() puts the ASSIST behind a branch.
namespace heddle::ptx {

namespace {

using isa::assist_function;
using isa::mufu_function;

constexpr std::uint64_t f32_one = 0x3f800000u, f32_minus_one = 0xbf800000u, half_bits = 0x3f000000u;
constexpr std::uint64_t f64_one = 0x3ff0000000000000u;

virtual_operand minus(virtual_operand o) {
  o.negate = !o.negate;
  return o;
}

}  // namespace

void selector::assist(register_part d, assist_function f, std::initializer_list<operand> sources,
                      virtual_predicate when) {
  machine_instruction& i = put(opcode::assist, d, sources);
  i.base.sub = static_cast<std::uint8_t>(f);
  i.base.round = now_->m.round;
  i.base.ftz = now_->m.ftz;
  if (when.reg != no_register) i.guard = when;
}

void selector::divide() {
  const dtype t = now_->m.type;
  need(2);
  if (!isa::is_float(t)) return integer_divide();
  if (now_->op == ptx_op::rem || (t != dtype::f32 && t != dtype::f64)) unsupported();
  if (t == dtype::f32 && (now_->m.approx || now_->m.full)) return divide_f32_approx();
  if (now_->m.approx || now_->m.full) unsupported();
  if (now_->m.round != isa::rounding::rn)
    return assist(dst(), t == dtype::f32 ? assist_function::div_f32 : assist_function::div_f64, {src(0), src(1)}, {});
  return t == dtype::f32 ? divide_f32() : divide_f64();
}

void selector::divide_f32() {
  const operand a = src(0), b = src(1);
  const register_part r0 = temp(), e = temp(), r = temp(), q0 = temp(), m = temp();
  const std::uint32_t special = temp_predicate();
  const register_part q = begin();
  out_.registers[q.reg].temporary = false;
  put_predicate(opcode::fchk, special, {a, b}).base.sub = static_cast<std::uint8_t>(assist_function::div_f32);
  put(opcode::mufu, r0, {b}).base.sub = static_cast<std::uint8_t>(mufu_function::rcp);
  put(opcode::ffma, e, {minus(b), r0, immediate(f32_one)});
  put(opcode::ffma, r, {r0, e, r0});
  put(opcode::ffma, q0, {a, r, zero()});
  put(opcode::ffma, m, {minus(b), q0, a});
  put(opcode::ffma, q, {r, m, q0}).guard = {};
  assist(q, assist_function::div_f32, {a, b}, {special, false});
  end(q);
}

/// Predicate: the magnitude of the float with the bits of `word` compares so with the one with `bits`, and `with`.
/// Tests the exponent of a double by its high word.
std::uint32_t selector::compare_magnitude(operand word, isa::compare c, std::uint64_t bits, virtual_predicate with) {
  const std::uint32_t p = temp_predicate();
  operand magnitude = word;
  magnitude.absolute = true;
  magnitude.negate = false;
  machine_instruction& i = put_predicate(opcode::fsetp, p, {magnitude, immediate(bits)});
  i.base.cmp = c;
  i.base.type = dtype::f32;
  i.psrc[0] = with;
  return p;
}

/// A copy of an operand to be changed under a guard.
register_part selector::scaled(const operand& o) {
  const register_part r = temp();
  out_.registers[r.reg].temporary = false;
  machine_instruction& i = put(opcode::mov, r, {o});
  i.base.type = dtype::f32;
  i.guard = {};
  return r;
}

/// The operand without sign modifiers, which integer instructions understand otherwise.
selector::operand selector::without_sign(const operand& o) {
  if (!o.negate && !o.absolute) return o;
  const register_part r = temp(o.count);
  for (unsigned k = 0; k < o.count; ++k) {
    operand w = word(o, k);
    if (k + 1 < o.count) w.negate = w.absolute = false;
    put(opcode::mov, {r.reg, static_cast<std::uint8_t>(k), 1}, {w}).base.type = dtype::f32;
  }
  return r;
}

void selector::divide_f32_approx() {
  operand a = src(0), b = src(1);
  const bool ftz = now_->m.ftz;
  if (now_->m.full || !ftz) {
    // Scaling keeps the reciprocal in range: divisor and dividend are scaled up for denormal divisors and, with .full,
    // down for huge ones.
    const operand divisor = b;
    const register_part sa = scaled(a), sb = scaled(b);
    const auto scale = [&](virtual_predicate when, std::uint64_t factor) {
      for (const register_part x : {sb, sa}) {
        machine_instruction& i = put(opcode::fmul, x, {x, immediate(factor)});
        i.base.ftz = ftz;
        i.guard = when;
      }
    };
    const std::uint32_t huge =
        now_->m.full ? compare_magnitude(divisor, isa::compare::gt, 0x7e800000u, {}) : no_register;
    const std::uint32_t normal = compare_magnitude(divisor, isa::compare::geu, 0x00800000u, {});
    if (huge != no_register) scale({huge, false}, 0x3e800000u);
    scale({normal, true}, 0x4b800000u);
    a = sa;
    b = sb;
  }
  const register_part r = temp();
  machine_instruction& i = put(opcode::mufu, r, {b});
  i.base.sub = static_cast<std::uint8_t>(mufu_function::rcp);
  i.base.ftz = ftz;
  put(opcode::fmul, dst(), {a, r}).base.ftz = ftz;
}

/// `start`: the first estimate, whose low word may hold anything.
void selector::reciprocal_f64_core(register_part r, operand a, register_part start) {
  const register_part e0 = temp(2), e1 = temp(2), r1 = temp(2), e2 = temp(2);
  put(opcode::mufu, {start.reg, 1, 1}, {word(a, 1)}).base.sub = static_cast<std::uint8_t>(mufu_function::rcp64h);
  put(opcode::dfma, e0, {minus(a), start, immediate(f64_one, 2)});
  put(opcode::dfma, e1, {e0, e0, e0});
  put(opcode::dfma, r1, {start, e1, start});
  put(opcode::dfma, e2, {minus(a), r1, immediate(f64_one, 2)});
  put(opcode::dfma, r, {r1, e2, r1}).guard = {};
}

void selector::divide_f64() {
  const operand a = src(0), b = src(1);
  const register_part start = temp(2), r = temp(2), q0 = temp(2), m = temp(2), test = temp();
  const register_part q = begin();
  out_.registers[q.reg].temporary = false;
  // With a low word of zero the reciprocal of the largest mantissa would be a unit too small.
  put(opcode::mov, {start.reg, 0, 1}, {immediate(1)});
  reciprocal_f64_core(r, b, start);
  const std::uint32_t large = compare_magnitude(word(a, 1), isa::compare::ge, 0x03600000u, {});
  put(opcode::dmul, q0, {a, r});
  put(opcode::dfma, m, {minus(b), q0, a});
  put(opcode::dfma, q, {r, m, q0}).guard = {};
  // Not normal, or not a number: where the quotient is not, or where the divisor's reciprocal may be denormal.
  put(opcode::ffma, test, {zero(), word(b, 1), register_part{q.reg, static_cast<std::uint8_t>(q.part + 1), 1}});
  const std::uint32_t exact = compare_magnitude(test, isa::compare::gt, 0x00100000u, {large, false});
  assist(q, assist_function::div_f64, {a, b}, {exact, true});
  end(q);
}

void selector::reciprocal() {
  const dtype t = now_->m.type;
  const operand a = src(0);
  if (t == dtype::f64 && now_->m.approx) {
    const register_part r = begin();
    put(opcode::mufu, {r.reg, static_cast<std::uint8_t>(r.part + 1), 1}, {word(a, 1)}).base.sub =
        static_cast<std::uint8_t>(mufu_function::rcp64h);
    copy({r.reg, r.part, 1}, zero());
    return end(r);
  }
  if (t != dtype::f32 && t != dtype::f64) unsupported();
  if (now_->m.approx) {
    machine_instruction& i = put(opcode::mufu, dst(), {float_src(0, now_->m.ftz)});
    i.base.sub = static_cast<std::uint8_t>(mufu_function::rcp);
    i.base.ftz = now_->m.ftz;
    return;
  }
  const assist_function f = t == dtype::f32 ? assist_function::rcp_f32 : assist_function::rcp_f64;
  if (now_->m.round != isa::rounding::rn) return assist(dst(), f, {a}, {});
  const register_part r = begin();
  out_.registers[r.reg].temporary = false;
  // The exponent is above the lowest three (one of a double), and not so high that the reciprocal may be denormal.
  operand bits = a.count == 2 ? word(a, 1) : a;
  bits.negate = bits.absolute = false;
  std::uint32_t exact;
  if (t == dtype::f32) {
    const register_part r0 = temp(), error = temp(), e = temp(), moved = temp(), exponent = temp();
    put(opcode::iadd3, moved, {bits, immediate(0x01800000u), zero()});
    put(opcode::lop3, exponent, {moved, immediate(0x7f800000u), zero()}).base.sub = 0xc0;
    exact = temp_predicate();
    machine_instruction& c = put_predicate(opcode::isetp, exact, {exponent, immediate(0x01ffffffu)});
    c.base.cmp = isa::compare::gt;
    c.base.type = dtype::u32;
    put(opcode::mufu, r0, {a}).base.sub = static_cast<std::uint8_t>(mufu_function::rcp);
    put(opcode::ffma, error, {a, r0, immediate(f32_minus_one)});
    put(opcode::fadd, e, {minus(error), minus(zero())});
    put(opcode::ffma, r, {r0, e, r0}).guard = {};
  } else {
    const register_part start = temp(2);
    put(opcode::iadd3, {start.reg, 0, 1}, {bits, immediate(0x00300402u), zero()});
    exact = compare_magnitude(register_part{start.reg, 0, 1}, isa::compare::ge, 0x00400402u, {});
    reciprocal_f64_core(r, a, start);
  }
  assist(r, f, {a}, {exact, true});
  end(r);
}

void selector::square_root() {
  const dtype t = now_->m.type;
  const operand a = src(0);
  if (t != dtype::f32 && t != dtype::f64) unsupported();
  if (now_->m.approx) {
    if (t == dtype::f64) unsupported();
    machine_instruction& i = put(opcode::mufu, dst(), {float_src(0, now_->m.ftz)});
    i.base.sub = static_cast<std::uint8_t>(mufu_function::sqrt);
    i.base.ftz = now_->m.ftz;
    return;
  }
  const assist_function f = t == dtype::f32 ? assist_function::sqrt_f32 : assist_function::sqrt_f64;
  if (now_->m.round != isa::rounding::rn) return assist(dst(), f, {a}, {});
  const register_part r = begin();
  out_.registers[r.reg].temporary = false;
  const operand x = without_sign(a);
  const std::uint32_t special = t == dtype::f32 ? square_root_f32(r, x) : square_root_f64(r, x);
  assist(r, f, {x}, {special, false});
  end(r);
}

/// Predicate: the number of these bits is negative, not finite, or so small that a residual may not be exact; `moved`:
/// the bits less the least ones that are large enough.
std::uint32_t selector::out_of_root_range(register_part moved, operand bits, std::uint64_t least, std::uint64_t end) {
  const std::uint32_t special = temp_predicate();
  put(opcode::iadd3, moved, {bits, immediate((0 - least) & 0xffffffffu), zero()});
  machine_instruction& c = put_predicate(opcode::isetp, special, {moved, immediate(end - least - 1)});
  c.base.cmp = isa::compare::gt;
  c.base.type = dtype::u32;
  return special;
}

std::uint32_t selector::square_root_f32(register_part r, operand a) {
  const register_part moved = temp(), y = temp(), g = temp(), h = temp(), m = temp();
  const std::uint32_t special = out_of_root_range(moved, a, 0x0d000000u, 0x7f800000u);
  put(opcode::mufu, y, {a}).base.sub = static_cast<std::uint8_t>(mufu_function::rsq);
  put(opcode::fmul, g, {a, y});
  put(opcode::fmul, h, {y, immediate(half_bits)});
  put(opcode::ffma, m, {minus(g), g, a});
  put(opcode::ffma, r, {m, h, g}).guard = {};
  return special;
}

std::uint32_t selector::square_root_f64(register_part r, operand a) {
  const register_part y0 = temp(2), s = temp(2), e = temp(2), p = temp(2), ye = temp(2), y = temp(2);
  const register_part g = temp(2), h = temp(2), m = temp(2);
  const std::uint32_t special = out_of_root_range({y0.reg, 0, 1}, word(a, 1), 0x03500000u, 0x7ff00000u);
  put(opcode::mufu, {y0.reg, 1, 1}, {word(a, 1)}).base.sub = static_cast<std::uint8_t>(mufu_function::rsq64h);
  put(opcode::dmul, s, {y0, y0});
  put(opcode::dfma, e, {a, minus(s), immediate(f64_one, 2)});
  put(opcode::dfma, p, {e, immediate(0x3fd8000000000000u, 2), immediate(0x3fe0000000000000u, 2)});
  put(opcode::dmul, ye, {y0, e});
  put(opcode::dfma, y, {p, ye, y0});
  put(opcode::dmul, g, {a, y});
  put(opcode::mov, {h.reg, 0, 1}, {register_part{y.reg, 0, 1}});
  put(opcode::iadd3, {h.reg, 1, 1}, {register_part{y.reg, 1, 1}, immediate(0xfff00000u), zero()});  // half of y
  put(opcode::dfma, m, {minus(g), g, a});
  put(opcode::dfma, r, {m, h, g}).guard = {};
  return special;
}

void selector::integer_divide() {
  const dtype t = now_->m.type;
  const bool remainder = now_->op == ptx_op::rem, is_signed = isa::is_signed(t);
  if (isa::size_of(t) == 8) {
    const assist_function f = remainder ? (is_signed ? assist_function::rem_s64 : assist_function::rem_u64)
                                        : (is_signed ? assist_function::div_s64 : assist_function::div_u64);
    return assist(dst(), f, {src(0), src(1)}, {});
  }
  if (isa::size_of(t) < 2) unsupported();
  const operand b = src(1);
  if (!is_signed && b.is_immediate() && (b.value & (b.value - 1)) == 0) {
    unsigned k = 0;
    while (!(b.value >> k & 1)) ++k;
    const operand a = narrow(0, t);
    if (remainder) put(opcode::lop3, dst(), {a, immediate(b.value - 1), zero()}).base.sub = 0xc0;
    else put(opcode::shr, dst(), {a, immediate(k)}).base.type = dtype::u32;
    return;
  }
  if (is_signed) return divide_s32(remainder);
  const register_part r = temp();
  divide_u32(remainder ? register_part{} : r, remainder ? r : register_part{}, narrow(0, t), narrow(1, t));
  copy(dst(), r);
}

void selector::divide_u32(register_part quotient, register_part remainder, operand a, operand b) {
  const register_part f = temp(), r = temp(), s = temp(), t = temp(), error = temp(), nb = temp(), estimate = temp();
  machine_instruction& to_float = put(opcode::i2f, f, {b});
  to_float.base.type = dtype::f32;
  to_float.base.src_type = dtype::u32;
  to_float.base.round = isa::rounding::rp;
  put(opcode::mufu, r, {f}).base.sub = static_cast<std::uint8_t>(mufu_function::rcp);
  put(opcode::iadd3, s, {r, immediate(0x0ffffffeu), zero()});  // times 2^32, minus two units: never above 2^32 / b
  machine_instruction& to_int = put(opcode::f2i, t, {s});
  to_int.base.type = dtype::u32;
  to_int.base.src_type = dtype::f32;
  to_int.base.round = isa::rounding::rz;
  to_int.base.ftz = true;
  put(opcode::iadd3, nb, {zero(), minus(b), zero()});
  multiply_lo(error, nb, t, zero());
  put(opcode::iadd3, estimate, {t, multiply_hi(t, error, false), zero()});
  // The estimate is at most two below the quotient: two guarded corrections, on registers that keep their value if the
  // guard is false.
  const register_part q = temp(), m = temp(), rest = temp();
  out_.registers[q.reg].temporary = false;
  out_.registers[rest.reg].temporary = false;
  put(opcode::iadd3, q, {multiply_hi(estimate, a, false), zero(), zero()}).guard = {};
  multiply_lo(m, nb, q, a);
  put(opcode::mov, rest, {m}).guard = {};
  for (unsigned step = 0; step < 2; ++step) {
    const std::uint32_t again = temp_predicate();
    machine_instruction& c = put_predicate(opcode::isetp, again, {rest, b});
    c.base.cmp = isa::compare::ge;
    c.base.type = dtype::u32;
    if (step == 0 || remainder.reg != no_register)
      put(opcode::iadd3, rest, {rest, minus(b), zero()}).guard = {again, false};
    if (quotient.reg != no_register) put(opcode::iadd3, q, {q, immediate(1), zero()}).guard = {again, false};
  }
  if (remainder.reg != no_register) copy(remainder, rest);
  if (quotient.reg == no_register) return;
  const std::uint32_t by_zero = temp_predicate();
  put_predicate(opcode::isetp, by_zero, {b, zero()}).base.cmp = isa::compare::eq;
  put(opcode::sel, quotient, {immediate(0xffffffffu), q}).psrc[0] = {by_zero, false};
}

void selector::divide_s32(bool remainder) {
  const dtype t = now_->m.type;
  const operand a = narrow(0, t), b = narrow(1, t);
  const register_part pa = temp(), pb = temp(), r = temp(), negated = temp();
  put(opcode::iabs, pa, {a});
  put(opcode::iabs, pb, {b});
  divide_u32(remainder ? register_part{} : r, remainder ? r : register_part{}, pa, pb);
  const std::uint32_t negative = temp_predicate();
  operand sign = a;
  if (!remainder) {
    const register_part x = temp();
    put(opcode::lop3, x, {a, b, zero()}).base.sub = 0x3c;
    sign = x;
  }
  machine_instruction& c = put_predicate(opcode::isetp, negative, {sign, zero()});
  c.base.cmp = isa::compare::lt;
  c.base.type = dtype::s32;
  put(opcode::iadd3, negated, {zero(), minus(r), zero()});
  if (remainder) {
    put(opcode::sel, dst(), {negated, r}).psrc[0] = {negative, false};
    return;
  }
  const register_part q = temp();
  const std::uint32_t by_zero = temp_predicate();
  put(opcode::sel, q, {negated, r}).psrc[0] = {negative, false};
  put_predicate(opcode::isetp, by_zero, {b, zero()}).base.cmp = isa::compare::eq;
  put(opcode::sel, dst(), {immediate(0xffffffffu), q}).psrc[0] = {by_zero, false};
}

}  // namespace heddle::ptx
