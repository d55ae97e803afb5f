// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/select/family/integer_divide_selector.h"

namespace heddle::ptx {

using isa::assist_function;
using isa::dtype;
using isa::mufu_function;
using isa::opcode;

void integer_divide_selector::divide() {
  in_.need(2);
  const dtype t = in_.now().m.type;
  const bool remainder = in_.now().op == ptx_op::rem, is_signed = isa::is_signed(t);
  if (isa::size_of(t) == 8) {
    const assist_function f = remainder ? (is_signed ? assist_function::rem_s64 : assist_function::rem_u64)
                                        : (is_signed ? assist_function::div_s64 : assist_function::div_u64);
    return out_.assist(in_.dst(), f, {in_.src(0), in_.src(1)}, {});
  }
  if (isa::size_of(t) < 2) in_.unsupported();
  const virtual_operand b = in_.src(1);
  if (!is_signed && b.is_immediate() && (b.value & (b.value - 1)) == 0) {
    unsigned k = 0;
    while (!(b.value >> k & 1)) ++k;
    const virtual_operand a = out_.narrow(0, t);
    if (remainder) out_.put(opcode::lop3, in_.dst(), {a, immediate(b.value - 1), zero()}).base.sub = 0xc0;
    else out_.put(opcode::shr, in_.dst(), {a, immediate(k)}).base.type = dtype::u32;
    return;
  }
  if (is_signed) return divide_s32(remainder);
  const register_part r = out_.temp();
  divide_u32(remainder ? register_part{} : r, remainder ? r : register_part{}, out_.narrow(0, t), out_.narrow(1, t));
  out_.copy(in_.dst(), r);
}

void integer_divide_selector::divide_u32(register_part quotient, register_part remainder, virtual_operand a,
                                         virtual_operand b) {
  const register_part f = out_.temp(), r = out_.temp(), s = out_.temp(), t = out_.temp(), error = out_.temp();
  const bool known = is_known(b);
  const virtual_operand nb = known ? immediate((0 - b.value) & 0xffffffffu) : virtual_operand(out_.temp());
  const register_part estimate = out_.temp();
  machine_instruction& to_float = out_.put(opcode::i2f, f, {b});
  to_float.base.type = dtype::f32;
  to_float.base.src_type = dtype::u32;
  to_float.base.round = isa::rounding::rp;
  out_.put(opcode::mufu, r, {f}).base.sub = static_cast<std::uint8_t>(mufu_function::rcp);
  out_.put(opcode::iadd3, s, {r, immediate(0x0ffffffeu), zero()});  // times 2^32, minus two units: never above 2^32 / b
  machine_instruction& to_int = out_.put(opcode::f2i, t, {s});
  to_int.base.type = dtype::u32;
  to_int.base.src_type = dtype::f32;
  to_int.base.round = isa::rounding::rz;
  to_int.base.ftz = true;
  if (nb.is_reg()) out_.put(opcode::iadd3, {nb.reg, 0, 1}, {zero(), minus(b), zero()});
  products_.low(error, nb, t, zero());
  out_.put(opcode::iadd3, estimate, {t, products_.high(t, error, false), zero()});
  // The estimate is at most two below the quotient: two guarded corrections, on registers that keep their value if the
  // guard is false.
  const register_part q = out_.temp(), m = out_.temp(), rest = out_.temp();
  out_.keep(q);
  out_.keep(rest);
  const virtual_operand start = products_.high(estimate, a, false);
  (hopper_ ? out_.put(opcode::mov, q, {start}) : out_.put(opcode::iadd3, q, {start, zero(), zero()})).guard = {};
  products_.low(m, nb, q, a);
  out_.put(opcode::mov, rest, {m}).guard = {};
  for (unsigned step = 0; step < 2; ++step) {
    const std::uint32_t again = out_.temp_predicate();
    machine_instruction& c = out_.put_predicate(opcode::isetp, again, {rest, b});
    c.base.cmp = isa::compare::ge;
    c.base.type = dtype::u32;
    if (step == 0 || remainder.reg != no_register)
      out_.put(opcode::iadd3, rest, {rest, minus(b), zero()}).guard = {again, false};
    if (quotient.reg != no_register) out_.put(opcode::iadd3, q, {q, immediate(1), zero()}).guard = {again, false};
  }
  if (remainder.reg != no_register) out_.copy(remainder, rest);
  if (quotient.reg == no_register) return;
  if (known) return out_.copy(quotient, q);
  const std::uint32_t by_zero = out_.temp_predicate();
  out_.put_predicate(opcode::isetp, by_zero, {b, zero()}).base.cmp = isa::compare::eq;
  out_.put(opcode::sel, quotient, {immediate(0xffffffffu), q}).psrc[0] = {by_zero, false};
}

void integer_divide_selector::divide_s32(bool remainder) {
  const dtype t = in_.now().m.type;
  const virtual_operand a = out_.narrow(0, t), b = out_.narrow(1, t);
  const register_part pa = out_.temp();
  const bool known = is_known(b), below = known && (b.value >> 31 & 1) != 0;
  const virtual_operand pb =
      known ? immediate((below ? 0 - b.value : b.value) & 0xffffffffu) : virtual_operand(out_.temp());
  const register_part r = out_.temp(), negated = hopper_ ? r : out_.temp();
  if (hopper_) out_.keep(r);
  out_.put(opcode::iabs, pa, {a});
  if (pb.is_reg()) out_.put(opcode::iabs, {pb.reg, 0, 1}, {b});
  divide_u32(remainder ? register_part{} : r, remainder ? r : register_part{}, pa, pb);
  const std::uint32_t negative = out_.temp_predicate();
  virtual_operand sign = a;
  if (!remainder) {
    const register_part x = out_.temp();
    out_.put(opcode::lop3, x, {a, b, zero()}).base.sub = 0x3c;
    sign = x;
  }
  machine_instruction& c = out_.put_predicate(opcode::isetp, negative, {sign, zero()});
  c.base.cmp = isa::compare::lt;
  c.base.type = dtype::s32;
  machine_instruction& negation = out_.put(opcode::iadd3, negated, {zero(), minus(r), zero()});
  if (hopper_) negation.guard = {negative, false};
  if (hopper_ && (remainder || known)) return out_.copy(in_.dst(), r);
  if (remainder) {
    out_.put(opcode::sel, in_.dst(), {negated, r}).psrc[0] = {negative, false};
    return;
  }
  const register_part q = hopper_ ? r : out_.temp();
  if (!hopper_) out_.put(opcode::sel, q, {negated, r}).psrc[0] = {negative, false};
  const std::uint32_t by_zero = out_.temp_predicate();
  out_.put_predicate(opcode::isetp, by_zero, {b, zero()}).base.cmp = isa::compare::eq;
  out_.put(opcode::sel, in_.dst(), {immediate(0xffffffffu), q}).psrc[0] = {by_zero, false};
}

}  // namespace heddle::ptx
