// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/isa/opcode.h"

namespace heddle::simt {

__extension__ typedef unsigned __int128 uint128;

/// A binary interchange format: sign, `exponent` bits, `mantissa` bits.
struct float_format {
  int mantissa;
  int exponent;
  [[nodiscard]] int bias() const { return (1 << (exponent - 1)) - 1; }
  [[nodiscard]] std::uint64_t sign_bit() const { return std::uint64_t{1} << (mantissa + exponent); }
  [[nodiscard]] std::uint64_t infinity() const { return ((std::uint64_t{1} << exponent) - 1) << mantissa; }
};
constexpr float_format format_f16{10, 5};
constexpr float_format format_bf16{7, 8};
constexpr float_format format_tf32{10, 8};
constexpr float_format format_f32{23, 8};
constexpr float_format format_f64{52, 11};

constexpr std::uint32_t nan_f32 = 0x7fffffffu;
constexpr std::uint32_t nan_f16 = 0x7fffu;  // also of bf16
constexpr std::uint64_t nan_f64 = 0xfff8000000000000u, quiet_f64 = std::uint64_t{1} << 51;

inline double as_double(std::uint64_t bits) { return __builtin_bit_cast(double, bits); }
inline std::uint64_t as_bits(double v) { return __builtin_bit_cast(std::uint64_t, v); }

/// Canonical NaN of a floating type (PTX ISA, "NaN results are canonical"; f64 as the hardware generates it).
std::uint64_t canonical_nan(isa::dtype t);

/// Format of a scalar or packed floating type.
float_format format_of(isa::dtype t);

/// Rounds (-1)^negative * (significand + a fraction in (0,1) if `sticky`) * 2^exponent to a format, with denormals and
/// overflow according to IEEE 754 for the rounding direction. With `sticky` the significand must have at least two bits
/// more than the format keeps.
std::uint64_t round_pack(float_format f, bool negative, int exponent, uint128 significand, bool sticky,
                         isa::rounding mode);

/// A finite double rounded to a format; infinities are kept, NaN becomes `nan`.
std::uint64_t round_double(float_format f, double v, isa::rounding mode, std::uint64_t nan);

/// The exact value of a format's bits as double; NaN remains NaN.
double widen(float_format f, std::uint64_t bits);

/// Replaces denormals by a zero of the same sign.
inline std::uint64_t flush(float_format f, std::uint64_t bits) {
  return (bits & f.infinity()) == 0 ? bits & f.sign_bit() : bits;
}
bool is_nan(float_format f, std::uint64_t bits);

/// The exact sum s + error (|error| at most half a unit of s) rounded to odd. A later rounding to a format of at most
/// 50 bits then equals a single rounding of the exact value.
double round_to_odd(double s, double error);

/// a + b rounded to odd (Knuth's TwoSum gives the error). Exact for sums of values in f32's range.
double sum_to_odd(double a, double b, isa::rounding mode);

/// a * b + c in f64 with any rounding, in integer arithmetic. `multiply_only` ignores c.
std::uint64_t fma_f64(std::uint64_t a, std::uint64_t b, std::uint64_t c, isa::rounding mode, bool multiply_only);
std::uint64_t div_f64(std::uint64_t a, std::uint64_t b, isa::rounding mode);
std::uint64_t sqrt_f64(std::uint64_t a, isa::rounding mode);

/// A result clamped to [0, 1]; NaN and -0 become +0.
std::uint64_t saturated(float_format f, std::uint64_t bits);

/// Minimum or maximum: -0 < +0; with one NaN operand the other operand, or NaN with `propagate`; with two, NaN.
std::uint64_t minmax(float_format f, std::uint64_t a, std::uint64_t b, bool minimum, bool propagate, std::uint64_t nan);

/// Rounds to an integral value; a zero result has the sign of v. NaN and infinities are kept.
double round_integral(double v, isa::rounding mode);

/// a * b + c and a + b of formats up to f32, with one rounding. NaN results are `nan`.
std::uint64_t fma_small(float_format f, std::uint64_t a, std::uint64_t b, std::uint64_t c, isa::rounding mode,
                        std::uint64_t nan);
std::uint64_t mul_small(float_format f, std::uint64_t a, std::uint64_t b, isa::rounding mode, std::uint64_t nan);
std::uint64_t add_small(float_format f, std::uint64_t a, std::uint64_t b, isa::rounding mode, std::uint64_t nan);

/// f32 operations with any rounding; NaN results are canonical. Denormals are not flushed.
std::uint32_t div_f32(std::uint32_t a, std::uint32_t b, isa::rounding mode);
std::uint32_t sqrt_f32(std::uint32_t a, isa::rounding mode);

}  // namespace heddle::simt
