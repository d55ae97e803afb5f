// SPDX-License-Identifier: MIT
// Conversions (PTX ISA: cvt). Sources of 8 and 16 bits are the low bits of their register, whatever lies above them;
// results of 8 and 16 bits are zero- or sign-extended as their type says.
#include "simt/lane_loop.h"
#include "simt/soft_float.h"
#include "simt/topics.h"

namespace heddle::simt {

namespace {

using isa::dtype;
using isa::instruction;
using isa::opcode;
using isa::rounding;

struct integer_type {
  unsigned bits;
  bool is_signed;
};

integer_type integer_of(dtype t) {
  switch (t) {
    case dtype::s8: return {8, true};
    case dtype::u8:
    case dtype::b8: return {8, false};
    case dtype::s16: return {16, true};
    case dtype::u16:
    case dtype::b16: return {16, false};
    case dtype::s64: return {64, true};
    case dtype::u64:
    case dtype::b64: return {64, false};
    case dtype::s32: return {32, true};
    default: return {32, false};
  }
}

/// The low bits of v extended to 64 bits.
std::uint64_t extend(integer_type t, std::uint64_t v) {
  const unsigned unused = 64 - t.bits;
  v <<= unused;
  return t.is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(v) >> unused) : v >> unused;
}

/// Bits of a floating source with modifiers applied, f32 denormals flushed under ftz.
std::uint64_t float_source(const instruction& i, const isa::operand& o, float_format f, std::uint64_t v) {
  v &= (f.sign_bit() << 1) - 1;
  if (o.absolute) v &= ~f.sign_bit();
  if (o.negate) v ^= f.sign_bit();
  return i.ftz && f.mantissa == format_f32.mantissa ? flush(f, v) : v;
}

std::uint64_t finish_float(const instruction& i, float_format f, std::uint64_t v) {
  if (i.ftz && f.mantissa == format_f32.mantissa) v = flush(f, v);
  return i.saturate ? saturated(f, v) : v;
}

/// tf32 results (type b32) have ten bits of mantissa at f32's places.
std::uint64_t to_float(const instruction& i, double v) {
  if (i.type == dtype::b32) {
    return v != v ? nan_f32 : finish_float(i, format_f32, round_double(format_tf32, v, i.round, 0) << 13);
  }
  const float_format f = format_of(i.type);
  return finish_float(i, f, round_double(f, v, i.round, canonical_nan(i.type)));
}

void f2f(const instruction& i, warp_state& w, lane_mask mask) {
  const float_format from = format_of(i.src_type);
  const wide_operand a(i.src[0], w);
  const wide_operand b(i.src[1], w);
  const bool pack = i.type == dtype::f16x2 || i.type == dtype::bf16x2;
  write_each(i, w, mask, [&](unsigned l) {
    const std::uint64_t first = to_float(i, widen(from, float_source(i, i.src[0], from, a[l])));
    if (!pack) return first;
    return first << 16 | to_float(i, widen(from, float_source(i, i.src[1], from, b[l])));
  });
}

std::uint64_t to_integer(double v, integer_type t, dtype source, rounding mode) {
  const std::uint64_t top = t.bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << t.bits) - 1;
  const std::uint64_t sign = std::uint64_t{1} << (t.bits - 1);
  if (v != v) return source == dtype::f64 || t.bits == 64 ? sign : 0;
  v = round_integral(v, mode);
  const double limit = 2.0 * static_cast<double>(sign >> (t.is_signed ? 1 : 0));  // the first value too large
  if (v >= limit) return t.is_signed ? sign - 1 : top;
  if (!t.is_signed) return v <= 0 ? 0 : static_cast<std::uint64_t>(v);
  if (v < -limit) return sign;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(v));
}

void f2i(const instruction& i, warp_state& w, lane_mask mask) {
  const float_format from = format_of(i.src_type);
  const integer_type to = integer_of(i.type);
  const wide_operand a(i.src[0], w);
  write_each(i, w, mask, [&](unsigned l) {
    return extend(to, to_integer(widen(from, float_source(i, i.src[0], from, a[l])), to, i.src_type, i.round));
  });
}

void i2f(const instruction& i, warp_state& w, lane_mask mask) {
  const integer_type from = integer_of(i.src_type);
  const float_format to = format_of(i.type);
  const wide_operand a(i.src[0], w);
  write_each(i, w, mask, [&](unsigned l) {
    const std::uint64_t v = modify_i64(i.src[0], extend(from, a[l]));
    const bool negative = (from.is_signed || i.src[0].negate) && (v >> 63) != 0;
    return finish_float(i, to, round_pack(to, negative, 0, negative ? 0 - v : v, false, i.round));
  });
}

std::uint64_t clamp_integer(std::uint64_t v, integer_type from, integer_type to) {
  const std::uint64_t top = (~std::uint64_t{0} >> (64 - to.bits)) >> (to.is_signed ? 1 : 0);
  if (from.is_signed && (v >> 63) != 0) {
    if (!to.is_signed) return 0;
    const std::uint64_t bottom = ~top;
    return static_cast<std::int64_t>(v) < static_cast<std::int64_t>(bottom) ? bottom : v;
  }
  return v > top ? top : v;
}

void i2i(const instruction& i, warp_state& w, lane_mask mask) {
  const integer_type from = integer_of(i.src_type);
  const integer_type to = integer_of(i.type);
  const wide_operand a(i.src[0], w);
  write_each(i, w, mask, [&](unsigned l) {
    const std::uint64_t v = modify_i64(i.src[0], extend(from, a[l]));
    return extend(to, i.saturate ? clamp_integer(v, from, to) : v);
  });
}

void frnd(const instruction& i, warp_state& w, lane_mask mask) {
  const float_format f = format_of(i.type);
  const wide_operand a(i.src[0], w);
  write_each(i, w, mask, [&](unsigned l) {
    const double v = round_integral(widen(f, float_source(i, i.src[0], f, a[l])), i.round);
    return finish_float(i, f, round_double(f, v, rounding::rz, canonical_nan(i.type)));
  });
}

}  // namespace

execute_function select_conversion(const instruction& i) {
  switch (i.op) {
    case opcode::f2f: return f2f;
    case opcode::f2i: return f2i;
    case opcode::i2f: return i2f;
    case opcode::i2i: return i2i;
    case opcode::frnd: return frnd;
    default: return nullptr;
  }
}

}  // namespace heddle::simt
