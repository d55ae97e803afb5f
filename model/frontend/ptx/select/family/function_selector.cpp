// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/select/family/function_selector.h"

namespace heddle::ptx {

using isa::dtype;
using isa::opcode;

namespace {

constexpr std::uint64_t f32_half = 0x3f000000u;

}  // namespace

void function_selector::special_function() {
  using f = isa::mufu_function;
  if (in_.now().m.type == dtype::f64 && in_.now().op == ptx_op::rsqrt) {
    const register_part r = out_.begin(), start = out_.temp(2);
    const virtual_operand a = in_.src(0);
    out_.put(opcode::mufu, {start.reg, 1, 1}, {word(a, 1)}).base.sub = static_cast<std::uint8_t>(f::rsq64h);
    out_.copy({start.reg, 0, 1}, zero());
    if (in_.now().m.ftz) {
      out_.copy(r, start);
      return out_.end(r);
    }
    const register_part square = out_.temp(2), e = out_.temp(2), p = out_.temp(2), re = out_.temp(2),
                        better = out_.temp(2);
    const std::uint32_t special = out_.temp_predicate();
    virtual_operand minus = square;
    minus.negate = true;
    out_.put(opcode::dmul, square, {start, start});
    out_.put(opcode::dfma, e, {a, minus, immediate(0x3ff0000000000000u, 2)});
    out_.put(opcode::dfma, p, {e, immediate(0x3fd8000000000000u, 2), immediate(0x3fe0000000000000u, 2)});
    out_.put(opcode::dmul, re, {start, e});
    out_.put(opcode::dfma, better, {p, re, start});
    out_.put_predicate(opcode::fchk, special, {a}).base.sub = static_cast<std::uint8_t>(isa::assist_function::sqrt_f64);
    for (unsigned k = 0; k < 2; ++k)
      out_.put(opcode::sel, {r.reg, static_cast<std::uint8_t>(r.part + k), 1}, {word(start, k), word(better, k)})
          .psrc[0] = {special, false};
    return out_.end(r);
  }
  if (in_.now().m.type != dtype::f32) in_.unsupported();
  f function = f::rsq;
  if (in_.now().op == ptx_op::sin) function = f::sin;
  if (in_.now().op == ptx_op::cos) function = f::cos;
  if (in_.now().op == ptx_op::lg2) function = f::lg2;
  if (in_.now().op == ptx_op::tanh) function = f::tanh;
  machine_instruction& i = out_.put(opcode::mufu, in_.dst(), {in_.float_src(0, in_.now().m.ftz)});
  i.base.sub = static_cast<std::uint8_t>(function);
  i.base.type = dtype::f32;
  i.base.ftz = in_.now().m.ftz;
}

/// ex2 and tanh of f16 and bf16: the unit computes in f32, and the result is rounded again.
void function_selector::half_function() {
  const dtype t = in_.now().m.type;
  if (in_.now().op != ptx_op::ex2 && in_.now().op != ptx_op::tanh) in_.unsupported();
  const bool packed = t == dtype::f16x2 || t == dtype::bf16x2;
  const dtype one = t == dtype::f16x2 ? dtype::f16 : t == dtype::bf16x2 ? dtype::bf16 : t;
  const virtual_operand a = in_.src(0);
  register_part half[2];
  for (unsigned k = 0; k < (packed ? 2u : 1u); ++k) {
    const register_part x = out_.temp(), y = out_.temp();
    virtual_operand from = a;
    if (k == 1) {
      const register_part upper = out_.temp();
      out_.put(opcode::shr, upper, {a, immediate(16)}).base.type = dtype::u32;
      from = upper;
    }
    machine_instruction& widen = out_.put(opcode::f2f, x, {from});
    widen.base.type = dtype::f32;
    widen.base.src_type = one;
    machine_instruction& f = out_.put(opcode::mufu, y, {x});
    f.base.sub =
        static_cast<std::uint8_t>(in_.now().op == ptx_op::ex2 ? isa::mufu_function::ex2 : isa::mufu_function::tanh);
    f.base.type = dtype::f32;
    f.base.ftz = in_.now().m.ftz;
    half[k] = packed ? out_.temp() : in_.dst();
    machine_instruction& narrow = out_.put(opcode::f2f, half[k], {y});
    narrow.base.type = one;
    narrow.base.src_type = dtype::f32;
  }
  if (packed) out_.put(opcode::prmt, in_.dst(), {half[0], immediate(0x5410), half[1]});
}

void function_selector::exponential() {
  if (in_.now().m.type != dtype::f32) in_.unsupported();
  const auto ex2 = static_cast<std::uint8_t>(isa::mufu_function::ex2);
  const virtual_operand a = in_.float_src(0, in_.now().m.ftz);
  if (in_.now().m.ftz) {
    machine_instruction& i = out_.put(opcode::mufu, in_.dst(), {a});
    i.base.sub = ex2;
    i.base.ftz = true;
    return;
  }
  // The unit returns no denormals: for smaller results the exponent is halved and the result squared.
  const register_part half = out_.temp(), x = out_.temp(), y = out_.temp(), square = out_.temp();
  const std::uint32_t normal = out_.temp_predicate();
  machine_instruction& c = out_.put_predicate(opcode::fsetp, normal, {a, immediate(0xc2fc0000u)});
  c.base.type = dtype::f32;
  c.base.cmp = isa::compare::geu;
  out_.put(opcode::fmul, half, {a, immediate(f32_half)});
  virtual_operand plain = in_.src(0);
  if (a.negate || a.absolute) {
    const register_part clean = out_.temp();
    virtual_operand nothing = zero();
    nothing.negate = true;
    out_.put(opcode::fadd, clean, {a, nothing});
    plain = clean;
  }
  out_.put(opcode::sel, x, {plain, half}).psrc[0] = {normal, false};
  out_.put(opcode::mufu, y, {x}).base.sub = ex2;
  out_.put(opcode::fmul, square, {y, y});
  out_.put(opcode::sel, in_.dst(), {y, square}).psrc[0] = {normal, false};
}

}  // namespace heddle::ptx
