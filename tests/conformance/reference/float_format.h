// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/isa/opcode.h"

namespace heddle::conformance {

enum class direction : std::uint8_t { nearest_even, nearest_away, zero, down, up };

/// A binary interchange format of IEEE 754, or bfloat16.
struct float_format {
  unsigned width;     // bits of a number
  unsigned fraction;  // stored bits of the significand
  [[nodiscard]] unsigned exponent_bits() const { return width - 1 - fraction; }
  [[nodiscard]] int bias() const { return (1 << (exponent_bits() - 1)) - 1; }
  [[nodiscard]] std::uint64_t sign_bit() const { return std::uint64_t{1} << (width - 1); }
  [[nodiscard]] std::uint64_t infinity() const { return ((std::uint64_t{1} << exponent_bits()) - 1) << fraction; }
  /// The NaN that arithmetic produces: 0x7fffffff (f32), 0x7fff (f16, bf16); the ISA leaves f64's payload open.
  [[nodiscard]] std::uint64_t nan() const { return width == 64 ? 0xfff8000000000000u : sign_bit() - 1; }
  [[nodiscard]] bool is_nan(std::uint64_t v) const { return (v & (sign_bit() - 1)) > infinity(); }
  [[nodiscard]] bool is_infinite(std::uint64_t v) const { return (v & (sign_bit() - 1)) == infinity(); }
  [[nodiscard]] bool is_zero(std::uint64_t v) const { return (v & (sign_bit() - 1)) == 0; }
  [[nodiscard]] bool is_subnormal(std::uint64_t v) const { return (v & infinity()) == 0 && !is_zero(v); }
  [[nodiscard]] bool is_negative(std::uint64_t v) const { return (v & sign_bit()) != 0; }
  /// Flushes subnormal numbers to zeros of the same sign.
  [[nodiscard]] std::uint64_t flushed(std::uint64_t v) const { return is_subnormal(v) ? v & sign_bit() : v; }
};

/// The format of a scalar floating-point type (for f16x2 that of its halves). Throws internal_error for any other
/// type.
float_format format_of(isa::dtype t);

/// An exact finite number: (-1)^negative * magnitude * 2^exponent, or slightly more in magnitude when `sticky`.
struct exact_number {
  bool negative = false;
  unsigned __int128 magnitude = 0;
  int exponent = 0;
  bool sticky = false;
};

/// The exact value of a finite number's bits.
exact_number decode(const float_format& f, std::uint64_t bits);
/// Rounds to the format; overflow follows IEEE 754 for the rounding direction. A sticky number needs 2 bits more than
/// the format has.
std::uint64_t encode(const float_format& f, const exact_number& n, direction d);
/// Rounds to an integral value in the format's range of 128-bit integers; numbers above 2^100 are clamped there.
__int128 to_integer(const exact_number& n, direction d);

/// A double rounded to odd, which can be rounded further without double rounding errors.
exact_number decode_double(double v);

}  // namespace heddle::conformance
