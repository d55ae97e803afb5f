// SPDX-License-Identifier: MIT

#include "heddle/frontend/ptx/select/selector.h"

namespace heddle::ptx {

namespace {

bool is_eighths(isa::dtype t) { return t == isa::dtype::e4m3x2 || t == isa::dtype::e5m2x2; }

bool is_packed(isa::dtype t) { return t == isa::dtype::f16x2 || t == isa::dtype::bf16x2; }

}  // namespace

void selector::convert() {
  const dtype to = now_->m.type, from = now_->m.type2;
  if (now_->m.types != 2) unsupported();
  if (is_eighths(to) || is_eighths(from)) return convert_eighths();
  if ((now_->m.relu || now_->m.finite) &&
      (!isa::is_float(from) || !(to == dtype::f16 || to == dtype::bf16 || to == dtype::b32 || is_packed(to))))
    unsupported();
  if (is_packed(to)) return convert_packed();
  if (is_packed(from) || to == dtype::pred || from == dtype::pred) unsupported();
  if (to == dtype::b32 && from == dtype::f32) return float_to_float();  // tf32
  if (!isa::is_float(to) && !isa::is_float(from)) return integer_to_integer();
  if (isa::is_float(to) && isa::is_float(from)) return float_to_float();
  if (isa::is_float(to)) {
    const operand a = isa::size_of(from) == 8 ? src(0, from) : narrow(0, from);
    machine_instruction& i = put(opcode::i2f, dst(), {a});
    i.base.type = to;
    i.base.src_type = isa::size_of(from) == 8 ? (isa::is_signed(from) ? dtype::s64 : dtype::u64)
                                              : (isa::is_signed(from) ? dtype::s32 : dtype::u32);
    i.base.round = now_->m.round;
    i.base.saturate = now_->m.saturate;
    return;
  }
  register_part d = dst();
  const register_part r = d.count * 4u > isa::size_of(to) && d.count > 1 ? temp() : d;
  machine_instruction& i = put(opcode::f2i, r, {src(0, from)});
  i.base.type = to;
  i.base.src_type = from;
  i.base.round = now_->m.round;
  i.base.ftz = now_->m.ftz;
  if (r.reg != d.reg) write_extended(now_->dst[0], r, isa::is_signed(to) ? dtype::s32 : dtype::u32);
}

void selector::write_extended(const value& d, operand o, dtype type) {
  if (!d.is_reg()) return;
  const unsigned words = f_.registers[d.reg].words;
  copy({d.reg, 0, 1}, word(o, 0));
  if (words < 2) return;
  const register_part hi{d.reg, 1, 1};
  if (o.count >= 2) copy(hi, word(o, 1));
  else if (isa::is_signed(type)) put(opcode::shr, hi, {word(o, 0), immediate(31)}).base.type = dtype::s32;
  else copy(hi, zero());
}

void selector::saturate_integer(register_part d, operand a, dtype to, dtype from) {
  const bool from_signed = isa::is_signed(from), to_signed = isa::is_signed(to);
  const unsigned from_bits = isa::size_of(from) * 8, to_bits = isa::size_of(to) * 8;
  const std::uint64_t top = to_signed ? (std::uint64_t{1} << (to_bits - 1)) - 1
                                      : (to_bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << to_bits) - 1);
  const std::int64_t bottom = to_signed ? -static_cast<std::int64_t>(top) - 1 : 0;
  const bool clamp_low = from_signed && (!to_signed || to_bits < from_bits);
  const bool clamp_high = to_bits - (to_signed ? 1 : 0) < from_bits - (from_signed ? 1 : 0);
  const dtype compare_type = from_signed ? dtype::s32 : dtype::u32;
  for (const bool low : {true, false}) {
    if (low ? !clamp_low : !clamp_high) continue;
    const std::uint64_t limit = low ? static_cast<std::uint64_t>(bottom) : top;
    if (from_bits <= 32) {
      const register_part t = temp();
      machine_instruction& i = put(opcode::imnmx, t, {a, limit == 0 ? zero() : immediate(limit)});
      i.base.type = compare_type;
      i.psrc[0] = {no_register, low};
      a = t;
      continue;
    }
    const register_part t = temp(2);
    const operand bound = immediate(limit, 2);
    const std::uint32_t p = temp_predicate();
    compare_wide(p, no_register, {word(a, 0), word(a, 1)}, {word(bound, 0), word(bound, 1)}, from_signed,
                 low ? isa::compare::gt : isa::compare::lt, isa::bool_op::and_, {});
    for (unsigned k = 0; k < 2; ++k)
      put(opcode::sel, {t.reg, static_cast<std::uint8_t>(k), 1}, {word(a, k), word(bound, k)}).psrc[0] = {p, false};
    a = t;
  }
  if (d.count == 1) return copy(d, word(a, 0));
  copy({d.reg, d.part, 1}, word(a, 0));
  const register_part hi{d.reg, static_cast<std::uint8_t>(d.part + 1), 1};
  if (from_bits == 64) copy(hi, word(a, 1));
  else if (from_signed && to_signed) put(opcode::shr, hi, {word(a, 0), immediate(31)}).base.type = dtype::s32;
  else copy(hi, zero());
}

void selector::integer_to_integer() {
  const dtype to = now_->m.type, from = now_->m.type2;
  const unsigned to_size = isa::size_of(to), from_size = isa::size_of(from);
  const bool widens = to_size > from_size;
  const operand a = from_size == 8 ? src(0, from) : (widens || now_->m.saturate) ? narrow(0, from) : src(0, from);
  if (now_->m.saturate) return saturate_integer(dst(), a, to, from);
  if (!now_->dst[0].is_reg()) return;
  const unsigned register_bits = f_.registers[now_->dst[0].reg].bits;
  if (to_size == 8 || (to_size == 4 && register_bits <= 32)) {
    operand o = a;
    if (to_size == 4) o = word(a, 0);
    return write_extended(now_->dst[0], o, widens ? from : to);
  }
  // If the destination register is wider than the type, the value is extended by the destination type.
  operand o = word(a, 0);
  if (register_bits > to_size * 8 && !(widens && isa::is_signed(from) == isa::is_signed(to))) o = extend(o, to);
  write_extended(now_->dst[0], o, to);
}

void selector::float_to_float() {
  const dtype to = now_->m.type, from = now_->m.type2;
  if (to == from && !now_->m.to_integer && (to == dtype::f32 || to == dtype::f64)) {
    if (!now_->m.saturate && !now_->m.ftz) return copy(dst(), src(0));
    operand nothing = zero();  // adding -0 only flushes and clamps
    nothing.negate = true;
    nothing.count = to == dtype::f64 ? 2 : 1;
    machine_instruction& i = put(to == dtype::f32 ? opcode::fadd : opcode::dadd, dst(), {src(0), nothing});
    i.base.type = to;
    i.base.ftz = now_->m.ftz;
    i.base.saturate = now_->m.saturate;
    return;
  }
  machine_instruction& i = put(to == from ? opcode::frnd : opcode::f2f, dst(), {src(0, from)});
  i.base.type = to;
  i.base.src_type = from;
  i.base.round = now_->m.round;
  i.base.ftz = now_->m.ftz;
  i.base.saturate = now_->m.saturate;
  i.base.nan = now_->m.relu;
  i.base.high = now_->m.finite;
}

/// Pairs of 8-bit floats, which only conversions support.
void selector::convert_eighths() {
  const dtype to = now_->m.type, from = now_->m.type2;
  const bool narrows = is_eighths(to);
  if (narrows ? (from != dtype::f32 && from != dtype::f16x2) || !now_->m.finite : to != dtype::f16x2 || now_->m.finite)
    unsupported();
  if (now_->m.round != isa::rounding::rn || now_->m.saturate || now_->m.ftz) unsupported();
  require_capability(8, 9);
  need(from == dtype::f32 ? 2 : 1);
  machine_instruction& i = put(opcode::f2f, dst(), {src(0, from), from == dtype::f32 ? src(1, from) : operand()});
  i.base.type = to;
  i.base.src_type = from;
  i.base.nan = now_->m.relu;
}

void selector::convert_packed() {
  if (now_->m.type2 != dtype::f32) unsupported();
  need(2);
  register_part half[2] = {temp(), temp()};
  for (unsigned k = 0; k < 2; ++k) {
    machine_instruction& i = put(opcode::f2f, half[k], {src(k, dtype::f32)});
    i.base.type = now_->m.type == dtype::f16x2 ? dtype::f16 : dtype::bf16;
    i.base.src_type = dtype::f32;
    i.base.round = now_->m.round;
    i.base.saturate = now_->m.saturate;
    i.base.nan = now_->m.relu;
    i.base.high = now_->m.finite;
  }
  put(opcode::prmt, dst(), {half[1], immediate(0x5410), half[0]});
}

}  // namespace heddle::ptx
