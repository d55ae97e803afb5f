// SPDX-License-Identifier: MIT
// Conversions (PTX ISA: cvt). Sources of 8 and 16 bits are the low bits of their register, whatever the high bits hold.
// Results of 8 and 16 bits are zero- or sign-extended according to their type.
#include <algorithm>

#include "heddle/simt/scalar/soft_float.h"
#include "heddle/simt/scalar/topics.h"
#include "heddle/simt/warp/lane_loop.h"

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
  if (i.op == opcode::f2f && i.nan && (v & f.sign_bit()) != 0) v = 0;  // a NaN result has no sign, except in f64
  if (i.op == opcode::f2f && i.high && (v & ~f.sign_bit()) == f.infinity()) --v;
  if (i.ftz && f.mantissa == format_f32.mantissa) v = flush(f, v);
  return i.saturate ? saturated(f, v) : v;
}

/// tf32 results (type b32) have ten mantissa bits, at the positions of f32's.
std::uint64_t to_float(const instruction& i, double v) {
  if (i.type == dtype::b32) {
    constexpr std::uint32_t nan_tf32 = 0x7fffe000u;
    return v != v ? nan_tf32 : finish_float(i, format_f32, round_double(format_tf32, v, i.round, 0) << 13);
  }
  const float_format f = format_of(i.type);
  return finish_float(i, f, round_double(f, v, i.round, canonical_nan(i.type)));
}

/// A NaN of an f64, of an f32 that becomes an f64, and of a bf16 that becomes an f32, keeps its sign and the highest
/// bits of its payload, as on an H100.
std::uint64_t kept_nan(const instruction& i, float_format from, std::uint64_t v) {
  const float_format to = format_of(i.type);
  const std::uint64_t payload = v & ((std::uint64_t{1} << from.mantissa) - 1);
  const int down = from.mantissa - to.mantissa;
  const bool stays = i.src_type == dtype::bf16;  // quiet or not
  const std::uint64_t quiet = stays ? 0 : std::uint64_t{1} << (to.mantissa - 1);
  const std::uint64_t sign = (v & from.sign_bit()) != 0 ? to.sign_bit() : 0;
  return finish_float(i, to, sign | to.infinity() | quiet | (down > 0 ? payload >> down : payload << -down));
}

bool keeps_nan(const instruction& i) {
  if (i.src_type == dtype::f64) return i.type == dtype::f32 || i.type == dtype::f16;
  if (i.src_type == dtype::f32) return i.type == dtype::f64;
  return i.src_type == dtype::bf16 && i.type == dtype::f32;
}

void f2f(const instruction& i, warp_state& w, lane_mask mask) {
  const float_format from = format_of(i.src_type);
  const wide_operand a(i.src[0], w);
  const wide_operand b(i.src[1], w);
  const bool pack = i.type == dtype::f16x2 || i.type == dtype::bf16x2, keeps = keeps_nan(i);
  write_each(i, w, mask, [&](unsigned l) {
    const std::uint64_t bits = float_source(i, i.src[0], from, a[l]);
    const double value = widen(from, bits);
    if (keeps && value != value) return kept_nan(i, from, bits);
    // Rounding to tf32 by .rna adds to the bits of a NaN, too, as on an H100.
    if (i.type == dtype::b32 && i.round == rounding::rna && value != value) return (bits + 0x1000) & 0xffffe000u;
    const std::uint64_t first = to_float(i, value);
    if (!pack) return first;
    return first << 16 | to_float(i, widen(from, float_source(i, i.src[1], from, b[l])));
  });
}

/// Formats of eight bits. Conversions never produce infinities; `least_exponent` is also the exponent of subnormal
/// numbers.
struct eighth_format {
  int mantissa, least_exponent;
  std::uint32_t largest, nan;
};
constexpr eighth_format format_e4m3{3, -6, 0x7e, 0x7f}, format_e5m2{2, -14, 0x7b, 0x7f};

std::uint32_t to_eighth(const instruction& i, const eighth_format& f, double v) {
  if (v != v) return f.nan;
  const std::uint64_t bits = __builtin_bit_cast(std::uint64_t, v);
  const std::uint32_t sign = static_cast<std::uint32_t>(bits >> 63) << 7;
  if (i.nan && sign != 0) return 0;
  const std::uint64_t magnitude = bits & ~(std::uint64_t{1} << 63);
  const int exponent = static_cast<int>(magnitude >> 52) - 1023;
  if (exponent > 16) return sign | f.largest;
  // The magnitude in units of its last place, at most 2^(mantissa + 1). Exponent and mantissa form one integer, so that
  // a carry out of the mantissa increments the exponent.
  const int scale = std::max(exponent, f.least_exponent);
  const double unit = __builtin_bit_cast(double, static_cast<std::uint64_t>(1023 + f.mantissa - scale) << 52);
  const double places = round_integral(__builtin_bit_cast(double, magnitude) * unit, rounding::rn);
  const std::uint32_t code =
      (static_cast<std::uint32_t>(scale - f.least_exponent) << f.mantissa) + static_cast<std::uint32_t>(places);
  return sign | std::min(code, f.largest);
}

std::uint32_t eighth_to_half(const eighth_format& f, std::uint32_t v) {
  const std::uint32_t sign = (v & 0x80) << 8, magnitude = v & 0x7f;
  if (f.mantissa == 2) return magnitude > 0x7c ? nan_f16 : sign | magnitude << 8;
  if (magnitude == f.nan) return nan_f16;
  const double value =
      magnitude < 8
          ? magnitude * 0x1p-9
          : (8 + (magnitude & 7)) * __builtin_bit_cast(double, std::uint64_t{1023 - 10 + (magnitude >> 3)} << 52);
  return sign | static_cast<std::uint32_t>(round_double(format_f16, value, rounding::rn, nan_f16));
}

void f2f_eighths(const instruction& i, warp_state& w, lane_mask mask) {
  const bool narrows = i.type == dtype::e4m3x2 || i.type == dtype::e5m2x2;
  const eighth_format f = (narrows ? i.type : i.src_type) == dtype::e4m3x2 ? format_e4m3 : format_e5m2;
  const wide_operand a(i.src[0], w);
  const wide_operand b(i.src[1], w);
  const auto one = [&](const isa::operand& o, float_format from, std::uint64_t v) {
    return to_eighth(i, f, widen(from, float_source(i, o, from, v)));
  };
  write_each(i, w, mask, [&](unsigned l) -> std::uint64_t {
    if (narrows && i.src_type == dtype::f32)
      return one(i.src[0], format_f32, a[l]) << 8 | one(i.src[1], format_f32, b[l]);
    if (narrows) return one(i.src[0], format_f16, a[l] >> 16) << 8 | one(i.src[0], format_f16, a[l] & 0xffff);
    std::uint32_t r = 0;
    for (unsigned k = 0; k < 2; ++k) {
      std::uint32_t h = eighth_to_half(f, static_cast<std::uint32_t>(a[l] >> 8 * k) & 0xff);
      if (i.nan && (h & 0x8000u) != 0) h = 0;
      r |= h << 16 * k;
    }
    return r;
  });
}

bool is_eighths(dtype t) { return t == dtype::e4m3x2 || t == dtype::e5m2x2; }

std::uint64_t to_integer(double v, integer_type t, dtype source, rounding mode) {
  const std::uint64_t top = t.bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << t.bits) - 1;
  const std::uint64_t sign = std::uint64_t{1} << (t.bits - 1);
  if (v != v) return source == dtype::f64 || t.bits == 64 ? sign : 0;
  v = round_integral(v, mode);
  const double limit = 2.0 * static_cast<double>(sign >> (t.is_signed ? 1 : 0));  // the least value too large
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
    case opcode::f2f: return is_eighths(i.type) || is_eighths(i.src_type) ? f2f_eighths : f2f;
    case opcode::f2i: return f2i;
    case opcode::i2f: return i2f;
    case opcode::i2i: return i2i;
    case opcode::frnd: return frnd;
    default: return nullptr;
  }
}

}  // namespace heddle::simt
