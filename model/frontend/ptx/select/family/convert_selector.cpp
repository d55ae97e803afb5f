// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/select/family/convert_selector.h"

namespace heddle::ptx {

using isa::dtype;
using isa::opcode;

namespace {

bool is_eighths(isa::dtype t) { return t == isa::dtype::e4m3x2 || t == isa::dtype::e5m2x2; }

bool is_packed(isa::dtype t) { return t == isa::dtype::f16x2 || t == isa::dtype::bf16x2; }

}  // namespace

void convert_selector::convert() {
  const dtype to = in_.now().m.type, from = in_.now().m.type2;
  if (in_.now().m.types != 2) in_.unsupported();
  if (is_eighths(to) || is_eighths(from)) return convert_eighths();
  if ((in_.now().m.relu || in_.now().m.finite) &&
      (!isa::is_float(from) || !(to == dtype::f16 || to == dtype::bf16 || to == dtype::b32 || is_packed(to))))
    in_.unsupported();
  if (is_packed(to)) return convert_packed();
  if (is_packed(from) || to == dtype::pred || from == dtype::pred) in_.unsupported();
  if (to == dtype::b32 && from == dtype::f32) return float_to_float();  // tf32
  if (!isa::is_float(to) && !isa::is_float(from)) return integer_to_integer();
  if (isa::is_float(to) && isa::is_float(from)) return float_to_float();
  if (isa::is_float(to)) {
    const virtual_operand a = isa::size_of(from) == 8 ? in_.src(0, from) : out_.narrow(0, from);
    machine_instruction& i = out_.put(opcode::i2f, in_.dst(), {a});
    i.base.type = to;
    i.base.src_type = isa::size_of(from) == 8 ? (isa::is_signed(from) ? dtype::s64 : dtype::u64)
                                              : (isa::is_signed(from) ? dtype::s32 : dtype::u32);
    i.base.round = in_.now().m.round;
    i.base.saturate = in_.now().m.saturate;
    return;
  }
  register_part d = in_.dst();
  const register_part r = d.count * 4u > isa::size_of(to) && d.count > 1 ? out_.temp() : d;
  machine_instruction& i = out_.put(opcode::f2i, r, {in_.src(0, from)});
  i.base.type = to;
  i.base.src_type = from;
  i.base.round = in_.now().m.round;
  i.base.ftz = in_.now().m.ftz;
  if (r.reg != d.reg) out_.write_extended(in_.now().dst[0], r, isa::is_signed(to) ? dtype::s32 : dtype::u32);
}

void convert_selector::integer_to_integer() {
  const dtype to = in_.now().m.type, from = in_.now().m.type2;
  const unsigned to_size = isa::size_of(to), from_size = isa::size_of(from);
  const bool widens = to_size > from_size;
  const virtual_operand a = from_size == 8                     ? in_.src(0, from)
                            : (widens || in_.now().m.saturate) ? out_.narrow(0, from)
                                                               : in_.src(0, from);
  if (in_.now().m.saturate) return wide_.saturate(in_.dst(), a, to, from);
  if (!in_.now().dst[0].is_reg()) return;
  const unsigned register_bits = in_.registers()[in_.now().dst[0].reg].bits;
  if (to_size == 8 || (to_size == 4 && register_bits <= 32)) {
    virtual_operand o = a;
    if (to_size == 4) o = word(a, 0);
    return out_.write_extended(in_.now().dst[0], o, widens ? from : to);
  }
  // If the destination register is wider than the type, the value is extended by the destination type.
  virtual_operand o = word(a, 0);
  if (register_bits > to_size * 8 && !(widens && isa::is_signed(from) == isa::is_signed(to))) o = out_.extend(o, to);
  out_.write_extended(in_.now().dst[0], o, to);
}

void convert_selector::float_to_float() {
  const dtype to = in_.now().m.type, from = in_.now().m.type2;
  if (to == from && !in_.now().m.to_integer && (to == dtype::f32 || to == dtype::f64)) {
    if (!in_.now().m.saturate && !in_.now().m.ftz) return out_.copy(in_.dst(), in_.src(0));
    virtual_operand nothing = zero();  // adding -0 only flushes and clamps
    nothing.negate = true;
    nothing.count = to == dtype::f64 ? 2 : 1;
    machine_instruction& i = out_.put(to == dtype::f32 ? opcode::fadd : opcode::dadd, in_.dst(), {in_.src(0), nothing});
    i.base.type = to;
    i.base.ftz = in_.now().m.ftz;
    i.base.saturate = in_.now().m.saturate;
    return;
  }
  machine_instruction& i = out_.put(to == from ? opcode::frnd : opcode::f2f, in_.dst(), {in_.src(0, from)});
  i.base.type = to;
  i.base.src_type = from;
  i.base.round = in_.now().m.round;
  i.base.ftz = in_.now().m.ftz;
  i.base.saturate = in_.now().m.saturate;
  i.base.nan = in_.now().m.relu;
  i.base.high = in_.now().m.finite;
}

/// Pairs of 8-bit floats, which only conversions support.
void convert_selector::convert_eighths() {
  const dtype to = in_.now().m.type, from = in_.now().m.type2;
  const bool narrows = is_eighths(to);
  if (narrows ? (from != dtype::f32 && from != dtype::f16x2) || !in_.now().m.finite
              : to != dtype::f16x2 || in_.now().m.finite)
    in_.unsupported();
  if (in_.now().m.round != isa::rounding::rn || in_.now().m.saturate || in_.now().m.ftz) in_.unsupported();
  chip_.require_capability(8, 9);
  in_.need(from == dtype::f32 ? 2 : 1);
  machine_instruction& i =
      out_.put(opcode::f2f, in_.dst(), {in_.src(0, from), from == dtype::f32 ? in_.src(1, from) : virtual_operand()});
  i.base.type = to;
  i.base.src_type = from;
  i.base.nan = in_.now().m.relu;
}

void convert_selector::convert_packed() {
  if (in_.now().m.type2 != dtype::f32) in_.unsupported();
  in_.need(2);
  register_part half[2] = {out_.temp(), out_.temp()};
  for (unsigned k = 0; k < 2; ++k) {
    machine_instruction& i = out_.put(opcode::f2f, half[k], {in_.src(k, dtype::f32)});
    i.base.type = in_.now().m.type == dtype::f16x2 ? dtype::f16 : dtype::bf16;
    i.base.src_type = dtype::f32;
    i.base.round = in_.now().m.round;
    i.base.saturate = in_.now().m.saturate;
    i.base.nan = in_.now().m.relu;
    i.base.high = in_.now().m.finite;
  }
  out_.put(opcode::prmt, in_.dst(), {half[1], immediate(0x5410), half[0]});
}

}  // namespace heddle::ptx
