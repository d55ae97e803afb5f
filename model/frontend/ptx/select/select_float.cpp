// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/select/selector.h"

namespace heddle::ptx {

namespace {

constexpr std::uint64_t f32_half = 0x3f000000u, f32_infinity = 0x7f800000u, f32_least_normal = 0x00800000u;
constexpr std::uint64_t f64_infinity = 0x7ff0000000000000u, f64_least_normal = 0x0010000000000000u;

}  // namespace

bool selector::is_half(dtype t) {
  return t == dtype::f16 || t == dtype::f16x2 || t == dtype::bf16 || t == dtype::bf16x2;
}

void selector::float_arithmetic() {
  const dtype t = now_->m.type;
  if (is_half(t)) return half_arithmetic();
  if (now_->m.relu) unsupported();
  if (t == dtype::f32x2) return pair_arithmetic();
  const bool fused = now_->op == ptx_op::fma || now_->op == ptx_op::mad;
  const bool sum = now_->op == ptx_op::add || now_->op == ptx_op::sub;
  const bool single = t == dtype::f32;
  const opcode op = fused ? (single ? opcode::ffma : opcode::dfma)
                    : sum ? (single ? opcode::fadd : opcode::dadd)
                          : (single ? opcode::fmul : opcode::dmul);
  operand a = float_src(0, now_->m.ftz), b = float_src(1, now_->m.ftz), c;
  if (now_->op == ptx_op::sub) b.negate = !b.negate;
  if (fused) c = float_src(2, now_->m.ftz);
  // Products support one sign and no absolute values.
  if (!sum && (a.absolute || b.absolute)) {
    a = src(0);
    b = src(1);
  }
  if (fused && c.absolute) c = src(2);
  machine_instruction& i = put(op, dst(), {a, b, c});
  i.base.type = t;
  i.base.round = now_->m.round;
  i.base.ftz = now_->m.ftz;
  i.base.saturate = now_->m.saturate;
}

/// Two f32 in a register pair, as two instructions.
void selector::pair_arithmetic() {
  const bool fused = now_->op == ptx_op::fma, sum = now_->op == ptx_op::add || now_->op == ptx_op::sub;
  if (now_->m.saturate) unsupported();
  need(fused ? 3 : 2);
  const operand a = src(0), b = src(1), c = fused ? src(2) : operand();
  const register_part d = begin();
  for (unsigned k = 0; k < 2; ++k) {
    operand y = word(b, k);
    if (now_->op == ptx_op::sub) y.negate = !y.negate;
    machine_instruction& i =
        put(fused ? opcode::ffma
            : sum ? opcode::fadd
                  : opcode::fmul,
            {d.reg, static_cast<std::uint8_t>(d.part + k), 1}, {word(a, k), y, fused ? word(c, k) : operand()});
    i.base.type = dtype::f32;
    i.base.round = now_->m.round;
    i.base.ftz = now_->m.ftz;
  }
  end(d);
}

void selector::require_half() const {
  if (gpu_.half.lanes == 0)
    fail("instruction '" + now_->source->mnemonic() + "' needs half precision arithmetic, which compute capability " +
         gpu_.gpu.compute_capability + " (" + gpu_.gpu.name + ") does not have");
}

void selector::half_arithmetic() {
  require_half();
  const bool fused = now_->op == ptx_op::fma;
  if (now_->op == ptx_op::mad || now_->m.round != isa::rounding::rn) unsupported();
  const opcode op = fused ? opcode::hfma2 : now_->op == ptx_op::mul ? opcode::hmul2 : opcode::hadd2;
  operand b = src(1);
  if (now_->op == ptx_op::sub) b.negate = true;
  machine_instruction& i = put(op, dst(), {src(0), b, fused ? src(2) : operand()});
  i.base.type = now_->m.type;
  i.base.ftz = now_->m.ftz;
  i.base.saturate = now_->m.saturate;
  i.base.nan = now_->m.relu;
}

void selector::float_min_max() {
  const dtype t = now_->m.type;
  const opcode op = t == dtype::f32 ? opcode::fmnmx : t == dtype::f64 ? opcode::dmnmx : opcode::hmnmx2;
  const bool plain = is_half(t) || now_->m.xorsign;
  operand a = plain ? src(0) : float_src(0, now_->m.ftz), b = plain ? src(1) : float_src(1, now_->m.ftz);
  const operand x = a, y = b;
  if (now_->m.xorsign) a = magnitude(a), b = magnitude(b);
  const register_part r = now_->m.xorsign ? temp() : dst();
  machine_instruction& i = put(op, r, {a, b});
  i.base.type = t;
  i.base.ftz = now_->m.ftz;
  i.base.nan = now_->m.nan;
  i.psrc[0] = {no_register, now_->op == ptx_op::max};
  if (!now_->m.xorsign) return;
  const operand signs = immediate(sign_bits(t));  // (x ^ y) & signs | r & ~signs
  const register_part sign = temp();
  put(opcode::lop3, sign, {x, y, signs}).base.sub = 0x28;
  put(opcode::lop3, dst(), {sign, r, signs}).base.sub = 0xf4;
}

std::uint32_t selector::sign_bits(dtype t) {
  return t == dtype::f16x2 || t == dtype::bf16x2 ? 0x80008000u
         : t == dtype::f16 || t == dtype::bf16   ? 0x8000u
                                                 : 0x80000000u;
}

selector::operand selector::magnitude(const operand& o) {
  const register_part r = temp();
  put(opcode::lop3, r, {o, immediate(sign_bits(now_->m.type)), zero()}).base.sub = 0x30;
  return r;
}

void selector::float_sign() {
  const dtype t = now_->m.type;
  const bool negates = now_->op == ptx_op::neg;
  if (is_half(t)) {
    const std::uint32_t sign = sign_bits(t);
    operand a = src(0);
    if (now_->m.ftz) {  // adding -0 keeps every number and flushes denormals
      require_half();
      const register_part flushed = temp();
      machine_instruction& i = put(opcode::hadd2, flushed, {a, immediate(sign)});
      i.base.type = t;
      i.base.ftz = true;
      a = flushed;
    }
    put(opcode::lop3, dst(), {a, immediate(negates ? sign : ~sign), zero()}).base.sub = negates ? 0x3c : 0xc0;
    return;
  }
  operand a = src(0), nothing = zero();  // adding -0 keeps every value and flushes denormals if requested
  a.negate = negates;
  a.absolute = !negates;
  nothing.negate = true;
  nothing.count = t == dtype::f64 ? 2 : 1;
  machine_instruction& i = put(t == dtype::f64 ? opcode::dadd : opcode::fadd, dst(), {a, nothing});
  i.base.type = t;
  i.base.ftz = now_->m.ftz;
}

void selector::special_function() {
  using f = isa::mufu_function;
  if (now_->m.type == dtype::f64 && now_->op == ptx_op::rsqrt) {
    const register_part r = begin(), start = temp(2);
    const operand a = src(0);
    put(opcode::mufu, {start.reg, 1, 1}, {word(a, 1)}).base.sub = static_cast<std::uint8_t>(f::rsq64h);
    copy({start.reg, 0, 1}, zero());
    if (now_->m.ftz) {
      copy(r, start);
      return end(r);
    }
    const register_part square = temp(2), e = temp(2), p = temp(2), re = temp(2), better = temp(2);
    const std::uint32_t special = temp_predicate();
    operand minus = square;
    minus.negate = true;
    put(opcode::dmul, square, {start, start});
    put(opcode::dfma, e, {a, minus, immediate(0x3ff0000000000000u, 2)});
    put(opcode::dfma, p, {e, immediate(0x3fd8000000000000u, 2), immediate(0x3fe0000000000000u, 2)});
    put(opcode::dmul, re, {start, e});
    put(opcode::dfma, better, {p, re, start});
    put_predicate(opcode::fchk, special, {a}).base.sub = static_cast<std::uint8_t>(isa::assist_function::sqrt_f64);
    for (unsigned k = 0; k < 2; ++k)
      put(opcode::sel, {r.reg, static_cast<std::uint8_t>(r.part + k), 1}, {word(start, k), word(better, k)}).psrc[0] = {
          special, false};
    return end(r);
  }
  if (now_->m.type != dtype::f32) unsupported();
  f function = f::rsq;
  if (now_->op == ptx_op::sin) function = f::sin;
  if (now_->op == ptx_op::cos) function = f::cos;
  if (now_->op == ptx_op::lg2) function = f::lg2;
  if (now_->op == ptx_op::tanh) function = f::tanh;
  machine_instruction& i = put(opcode::mufu, dst(), {float_src(0, now_->m.ftz)});
  i.base.sub = static_cast<std::uint8_t>(function);
  i.base.type = dtype::f32;
  i.base.ftz = now_->m.ftz;
}

/// ex2 and tanh of f16 and bf16: the unit computes in f32, and the result is rounded again.
void selector::half_function() {
  const dtype t = now_->m.type;
  if (now_->op != ptx_op::ex2 && now_->op != ptx_op::tanh) unsupported();
  const bool packed = t == dtype::f16x2 || t == dtype::bf16x2;
  const dtype one = t == dtype::f16x2 ? dtype::f16 : t == dtype::bf16x2 ? dtype::bf16 : t;
  const operand a = src(0);
  register_part half[2];
  for (unsigned k = 0; k < (packed ? 2u : 1u); ++k) {
    const register_part x = temp(), y = temp();
    operand from = a;
    if (k == 1) {
      const register_part upper = temp();
      put(opcode::shr, upper, {a, immediate(16)}).base.type = dtype::u32;
      from = upper;
    }
    machine_instruction& widen = put(opcode::f2f, x, {from});
    widen.base.type = dtype::f32;
    widen.base.src_type = one;
    machine_instruction& f = put(opcode::mufu, y, {x});
    f.base.sub =
        static_cast<std::uint8_t>(now_->op == ptx_op::ex2 ? isa::mufu_function::ex2 : isa::mufu_function::tanh);
    f.base.type = dtype::f32;
    f.base.ftz = now_->m.ftz;
    half[k] = packed ? temp() : dst();
    machine_instruction& narrow = put(opcode::f2f, half[k], {y});
    narrow.base.type = one;
    narrow.base.src_type = dtype::f32;
  }
  if (packed) put(opcode::prmt, dst(), {half[0], immediate(0x5410), half[1]});
}

void selector::exponential() {
  if (now_->m.type != dtype::f32) unsupported();
  const auto ex2 = static_cast<std::uint8_t>(isa::mufu_function::ex2);
  const operand a = float_src(0, now_->m.ftz);
  if (now_->m.ftz) {
    machine_instruction& i = put(opcode::mufu, dst(), {a});
    i.base.sub = ex2;
    i.base.ftz = true;
    return;
  }
  // The unit returns no denormals: for smaller results the exponent is halved and the result squared.
  const register_part half = temp(), x = temp(), y = temp(), square = temp();
  const std::uint32_t normal = temp_predicate();
  machine_instruction& c = put_predicate(opcode::fsetp, normal, {a, immediate(0xc2fc0000u)});
  c.base.type = dtype::f32;
  c.base.cmp = isa::compare::geu;
  put(opcode::fmul, half, {a, immediate(f32_half)});
  operand plain = src(0);
  if (a.negate || a.absolute) {
    const register_part clean = temp();
    operand nothing = zero();
    nothing.negate = true;
    put(opcode::fadd, clean, {a, nothing});
    plain = clean;
  }
  put(opcode::sel, x, {plain, half}).psrc[0] = {normal, false};
  put(opcode::mufu, y, {x}).base.sub = ex2;
  put(opcode::fmul, square, {y, y});
  put(opcode::sel, dst(), {y, square}).psrc[0] = {normal, false};
}

void selector::copy_sign() {
  const dtype t = now_->m.type;
  if (t != dtype::f32 && t != dtype::f64) unsupported();
  const unsigned top = t == dtype::f64 ? 1 : 0;
  const register_part r = begin();
  if (top) copy({r.reg, r.part, 1}, word(src(1), 0));
  put(opcode::lop3, {r.reg, static_cast<std::uint8_t>(r.part + top), 1},
      {word(src(0), top), immediate(0x80000000u), word(src(1), top)})
      .base.sub = 0xe2;
  end(r);
}

void selector::test_property() {
  const dtype t = now_->m.type;
  const bool single = t == dtype::f32;
  if (!single && t != dtype::f64) unsupported();
  const operand infinity = single ? immediate(f32_infinity) : immediate(f64_infinity, 2);
  const operand least = single ? immediate(f32_least_normal) : immediate(f64_least_normal, 2);
  operand none = zero(), a = src(0);
  none.count = single ? 1 : 2;
  a.absolute = true;
  const std::uint32_t p = predicate_dst();
  const auto compare = [&](std::uint32_t to, const operand& b, isa::compare c, virtual_predicate with) {
    machine_instruction& i = put_predicate(single ? opcode::fsetp : opcode::dsetp, to, {a, b});
    i.base.type = t;
    i.base.cmp = c;
    i.psrc[0] = with;
  };
  const std::uint32_t first = temp_predicate();
  switch (now_->m.sub) {
    case 0: return compare(p, infinity, isa::compare::lt, {});
    case 1: return compare(p, infinity, isa::compare::eq, {});
    case 2: return compare(p, none, isa::compare::num, {});
    case 3: return compare(p, none, isa::compare::nan, {});
    case 4: compare(first, least, isa::compare::ge, {}); return compare(p, infinity, isa::compare::lt, {first, false});
    default: compare(first, none, isa::compare::gt, {}); return compare(p, least, isa::compare::lt, {first, false});
  }
}

}  // namespace heddle::ptx
