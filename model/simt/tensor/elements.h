// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/isa/opcode.h"
#include "heddle/simt/scalar/soft_float.h"

// Elements of matrices as doubles, which hold all of them exactly, and accumulators from doubles.

namespace heddle::simt {

inline double from_f32(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }

inline double from_f16(std::uint32_t h) {
  const std::uint64_t sign = std::uint64_t{h >> 15} << 63, mantissa = h & 0x3ff;
  const unsigned exponent = h >> 10 & 31;
  if (exponent == 0) {
    const double d = static_cast<double>(mantissa) * 0x1p-24;
    return sign ? -d : d;
  }
  return as_double(sign | (exponent == 31 ? std::uint64_t{0x7ff} : std::uint64_t{exponent} + 1008) << 52 |
                   mantissa << 42);
}

/// No infinities; all ones is NaN.
inline double from_e4m3(std::uint32_t b) {
  const std::uint32_t exponent = b >> 3 & 15, mantissa = b & 7;
  const std::uint64_t sign = std::uint64_t{b >> 7 & 1} << 63;
  if ((b & 0x7f) == 0x7f) return as_double(nan_f64);
  if (exponent == 0) return as_double(sign | as_bits(static_cast<double>(mantissa) * 0x1p-9));
  return as_double(sign | std::uint64_t{exponent + 1016} << 52 | std::uint64_t{mantissa} << 49);
}

inline double from_e5m2(std::uint32_t b) { return from_f16((b & 0xff) << 8); }

inline std::uint32_t to_f32(double d) {
  const float f = static_cast<float>(d);
  return f != f ? nan_f32 : __builtin_bit_cast(std::uint32_t, f);
}

inline std::uint32_t to_f16(double d) {
  return static_cast<std::uint32_t>(round_double(format_f16, d, isa::rounding::rn, nan_f16));
}

/// Bits of an element of a or b. tf32 (b32) is held in 32 bits.
inline unsigned element_bits(isa::dtype t) {
  switch (t) {
    case isa::dtype::b32: return 32;
    case isa::dtype::f16:
    case isa::dtype::bf16: return 16;
    case isa::dtype::s4:
    case isa::dtype::u4: return 4;
    case isa::dtype::b1: return 1;
    default: return 8;
  }
}

inline std::int32_t integer_value(isa::dtype t, std::uint32_t bits) {
  switch (t) {
    case isa::dtype::s8: return static_cast<std::int8_t>(bits);
    case isa::dtype::s4: return static_cast<std::int32_t>(bits << 28) >> 28;
    case isa::dtype::u4: return static_cast<std::int32_t>(bits & 15);
    default: return static_cast<std::int32_t>(bits & 0xff);
  }
}

/// The other type of a pair that may be mixed in a product: signed and unsigned, or the two 8-bit floats.
inline isa::dtype other_of(isa::dtype t) {
  switch (t) {
    case isa::dtype::s8: return isa::dtype::u8;
    case isa::dtype::u8: return isa::dtype::s8;
    case isa::dtype::s4: return isa::dtype::u4;
    case isa::dtype::u4: return isa::dtype::s4;
    case isa::dtype::e4m3x2: return isa::dtype::e5m2x2;
    case isa::dtype::e5m2x2: return isa::dtype::e4m3x2;
    default: return t;
  }
}

}  // namespace heddle::simt
