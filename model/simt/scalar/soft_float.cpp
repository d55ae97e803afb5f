// SPDX-License-Identifier: MIT
#include "heddle/simt/scalar/soft_float.h"

#include <cmath>
#include <utility>

namespace heddle::simt {

using isa::dtype;
using isa::rounding;

namespace {

float as_float(std::uint32_t v) { return __builtin_bit_cast(float, v); }

int bit_length(uint128 v) {
  const auto high = static_cast<std::uint64_t>(v >> 64);
  const auto low = static_cast<std::uint64_t>(v);
  if (high != 0) return 128 - __builtin_clzll(high);
  return low != 0 ? 64 - __builtin_clzll(low) : 0;
}

bool rounds_up(rounding mode, bool negative, bool odd, bool half, bool sticky) {
  switch (mode) {
    case rounding::rn: return half && (sticky || odd);
    case rounding::rna: return half;
    case rounding::rz: return false;
    case rounding::rp: return !negative && (half || sticky);
    case rounding::rm: return negative && (half || sticky);
  }
  return false;
}

std::uint64_t overflow(float_format f, bool negative, rounding mode) {
  const bool to_infinity = mode == rounding::rn || mode == rounding::rna || (mode == rounding::rp && !negative) ||
                           (mode == rounding::rm && negative);
  return (negative ? f.sign_bit() : 0) | (f.infinity() - (to_infinity ? 0 : 1));
}

/// A finite non-zero f64 as an integer times a power of two.
struct number {
  bool negative;
  int exponent;
  std::uint64_t significand;
};

number unpack(std::uint64_t bits) {
  const int e = static_cast<int>(bits >> 52 & 0x7ff);
  const std::uint64_t m = bits & ((std::uint64_t{1} << 52) - 1);
  return {(bits >> 63) != 0, (e == 0 ? 1 : e) - 1075, e == 0 ? m : m | std::uint64_t{1} << 52};
}

bool is_special(std::uint64_t bits) { return (bits >> 52 & 0x7ff) == 0x7ff; }
bool is_zero(std::uint64_t bits) { return bits << 1 == 0; }

/// Shifts the significand left so that its highest bit is at `top`.
void normalise(uint128& significand, int& exponent, int top) {
  const int shift = top + 1 - bit_length(significand);
  significand <<= shift;
  exponent -= shift;
}

std::uint64_t canonical(double v) { return v != v ? nan_f64 : as_bits(v); }

}  // namespace

std::uint64_t canonical_nan(dtype t) {
  switch (t) {
    case dtype::f64: return nan_f64;
    case dtype::f32: return nan_f32;
    default: return nan_f16;
  }
}

float_format format_of(dtype t) {
  switch (t) {
    case dtype::f64: return format_f64;
    case dtype::f16:
    case dtype::f16x2: return format_f16;
    case dtype::bf16:
    case dtype::bf16x2: return format_bf16;
    default: return format_f32;
  }
}

bool is_nan(float_format f, std::uint64_t bits) { return (bits & ~f.sign_bit()) > f.infinity(); }

std::uint64_t round_pack(float_format f, bool negative, int exponent, uint128 significand, bool sticky, rounding mode) {
  const std::uint64_t sign = negative ? f.sign_bit() : 0;
  if (significand == 0) return sign;
  const int smallest = 1 - f.bias();
  const int top = exponent + bit_length(significand) - 1;
  int quantum = (top > smallest ? top : smallest) - f.mantissa;
  const int shift = quantum - exponent;
  std::uint64_t kept = 0;
  bool half = false;
  if (shift <= 0) {
    kept = static_cast<std::uint64_t>(significand << -shift);
  } else if (shift > 127) {
    sticky = true;
  } else {
    const uint128 rest = significand & ((uint128{1} << shift) - 1);
    kept = static_cast<std::uint64_t>(significand >> shift);
    half = (rest >> (shift - 1)) != 0;
    sticky = sticky || (rest & ((uint128{1} << (shift - 1)) - 1)) != 0;
  }
  if (rounds_up(mode, negative, (kept & 1) != 0, half, sticky)) ++kept;
  if (kept >> (f.mantissa + 1) != 0) {
    kept >>= 1;
    ++quantum;
  }
  const std::uint64_t hidden = std::uint64_t{1} << f.mantissa;
  if (kept < hidden) return sign | kept;
  const int biased = quantum + f.mantissa + f.bias();
  if (biased >= (1 << f.exponent) - 1) return overflow(f, negative, mode);
  return sign | (static_cast<std::uint64_t>(biased) << f.mantissa) | (kept - hidden);
}

std::uint64_t round_double(float_format f, double v, rounding mode, std::uint64_t nan) {
  const std::uint64_t bits = as_bits(v);
  if (v != v) return nan;
  if (is_special(bits)) return (bits >> 63 != 0 ? f.sign_bit() : 0) | f.infinity();
  const number n = unpack(bits);
  return round_pack(f, n.negative, n.exponent, n.significand, false, mode);
}

double widen(float_format f, std::uint64_t bits) {
  if (f.mantissa == format_f64.mantissa) return as_double(bits);
  const std::uint64_t sign = (bits & f.sign_bit()) != 0 ? std::uint64_t{1} << 63 : 0;
  const auto e = static_cast<int>((bits & f.infinity()) >> f.mantissa);
  const std::uint64_t m = bits & ((std::uint64_t{1} << f.mantissa) - 1);
  if (e == (1 << f.exponent) - 1) return as_double(sign | std::uint64_t{0x7ff} << 52 | m << (52 - f.mantissa));
  if (e != 0) return as_double(sign | static_cast<std::uint64_t>(e - f.bias() + 1023) << 52 | m << (52 - f.mantissa));
  const double unit = as_double(static_cast<std::uint64_t>(1 - f.bias() - f.mantissa + 1023) << 52);
  const double v = static_cast<double>(m) * unit;
  return sign != 0 ? -v : v;
}

double round_to_odd(double s, double error) {
  if (error == 0) return s;
  std::uint64_t bits = as_bits(s);
  if (bits & 1) return s;
  const bool away = (error > 0) == (s > 0);
  bits += away ? 1 : ~std::uint64_t{0};
  return as_double(bits);
}

double sum_to_odd(double a, double b, rounding mode) {
  const double s = a + b;
  if (!(s - s == 0)) return s;
  if (s == 0) return a == 0 && std::signbit(a) == std::signbit(b) ? a : mode == rounding::rm ? -0.0 : 0.0;
  const double from_b = s - a;
  const double from_a = s - from_b;
  return round_to_odd(s, (b - from_b) + (a - from_a));
}

std::uint64_t fma_f64(std::uint64_t a, std::uint64_t b, std::uint64_t c, rounding mode, bool multiply_only) {
  const bool product_negative = ((a ^ b) >> 63) != 0;
  if (is_special(a) || is_special(b) || (!multiply_only && is_special(c))) {
    // A NaN is passed on, quiet, as on an H100: the first one of the operands.
    if (is_nan(format_f64, a)) return a | quiet_f64;
    if (is_nan(format_f64, b)) return b | quiet_f64;
    if (!multiply_only && is_nan(format_f64, c)) return c | quiet_f64;
    const double p = as_double(a) * as_double(b);
    return canonical(multiply_only ? p : std::fma(as_double(a), as_double(b), as_double(c)));
  }
  const bool product_zero = is_zero(a) || is_zero(b);
  if (multiply_only && product_zero) return product_negative ? std::uint64_t{1} << 63 : 0;
  if (product_zero) {
    if (!is_zero(c)) return c;
    if (product_negative == (c >> 63 != 0)) return c;
    return mode == rounding::rm ? std::uint64_t{1} << 63 : 0;
  }
  const number x = unpack(a);
  const number y = unpack(b);
  uint128 big = uint128{x.significand} * y.significand;
  int big_exponent = x.exponent + y.exponent;
  if (multiply_only || is_zero(c)) return round_pack(format_f64, product_negative, big_exponent, big, false, mode);
  const number z = unpack(c);
  uint128 small = z.significand;
  int small_exponent = z.exponent;
  // Both highest bits at 125: room for a carry, and 20 zero bits below any product. So only exponent differences above
  // 20 lose bits to `sticky`, and then at most one bit cancels.
  normalise(big, big_exponent, 125);
  normalise(small, small_exponent, 125);
  bool negative = product_negative;
  bool other_negative = z.negative;
  if (small_exponent > big_exponent || (small_exponent == big_exponent && small > big)) {
    std::swap(big, small);
    std::swap(big_exponent, small_exponent);
    std::swap(negative, other_negative);
  }
  const int shift = big_exponent - small_exponent;
  bool sticky = false;
  if (shift > 127) {
    sticky = true;
    small = 0;
  } else if (shift > 0) {
    sticky = (small & ((uint128{1} << shift) - 1)) != 0;
    small >>= shift;
  }
  if (negative == other_negative) return round_pack(format_f64, negative, big_exponent, big + small, sticky, mode);
  const uint128 difference = big - small - (sticky ? 1 : 0);
  if (difference == 0) return mode == rounding::rm ? std::uint64_t{1} << 63 : 0;
  return round_pack(format_f64, negative, big_exponent, difference, sticky, mode);
}

std::uint64_t div_f64(std::uint64_t a, std::uint64_t b, rounding mode) {
  if (is_special(a) || is_special(b) || is_zero(a) || is_zero(b)) return canonical(as_double(a) / as_double(b));
  const number x = unpack(a);
  const number y = unpack(b);
  uint128 n = x.significand;
  uint128 d = y.significand;
  int n_exponent = x.exponent;
  int d_exponent = y.exponent;
  normalise(n, n_exponent, 126);
  normalise(d, d_exponent, 62);
  const uint128 q = n / d;
  return round_pack(format_f64, x.negative != y.negative, n_exponent - d_exponent, q, n % d != 0, mode);
}

std::uint64_t sqrt_f64(std::uint64_t a, rounding mode) {
  if (is_special(a) || is_zero(a) || (a >> 63) != 0) return canonical(std::sqrt(as_double(a)));
  const number x = unpack(a);
  uint128 n = x.significand;
  int exponent = x.exponent;
  normalise(n, exponent, 125);
  if (exponent & 1) {
    n <<= 1;
    --exponent;
  }
  // Restoring square root, one bit of the 63- or 64-bit root per step.
  uint128 root = 0;
  uint128 rest = n;
  for (uint128 bit = uint128{1} << 126; bit != 0; bit >>= 2) {
    if (rest >= root + bit) {
      rest -= root + bit;
      root = (root >> 1) + bit;
    } else {
      root >>= 1;
    }
  }
  return round_pack(format_f64, false, exponent / 2, root, rest != 0, mode);
}

std::uint64_t saturated(float_format f, std::uint64_t bits) {
  const std::uint64_t one = static_cast<std::uint64_t>(f.bias()) << f.mantissa;
  if (is_nan(f, bits) || (bits & f.sign_bit()) != 0) return 0;
  return bits > one ? one : bits;
}

std::uint64_t minmax(float_format f, std::uint64_t a, std::uint64_t b, bool minimum, bool propagate,
                     std::uint64_t nan) {
  const bool a_nan = is_nan(f, a);
  const bool b_nan = is_nan(f, b);
  if (a_nan || b_nan) {
    if (propagate || (a_nan && b_nan)) return nan;
    return a_nan ? b : a;
  }
  // Maps values to unsigned integers of the same order, with -0 < +0: negative numbers are reversed, below the positive
  // ones.
  const std::uint64_t all = (f.sign_bit() << 1) - 1;
  const auto key = [&](std::uint64_t v) { return (v & f.sign_bit()) != 0 ? ~v & all : v | f.sign_bit(); };
  return (key(a) < key(b)) == minimum ? a : b;
}

double round_integral(double v, rounding mode) {
  const double magnitude = std::fabs(v);
  constexpr double unit_one = 4503599627370496.0;  // 2^52: every double from here on is an integer
  if (!(magnitude < unit_one)) return v;
  const double nearest = (magnitude + unit_one) - unit_one;
  const double below = nearest > magnitude ? nearest - 1.0 : nearest;
  const double above = below < magnitude ? below + 1.0 : below;
  const bool negative = std::signbit(v);
  double r = nearest;
  switch (mode) {
    case rounding::rn: break;
    case rounding::rz: r = below; break;
    case rounding::rm: r = negative ? above : below; break;
    case rounding::rp: r = negative ? below : above; break;
    case rounding::rna: r = magnitude - below >= 0.5 ? above : below; break;
  }
  return negative ? -r : r;
}

std::uint64_t fma_small(float_format f, std::uint64_t a, std::uint64_t b, std::uint64_t c, rounding mode,
                        std::uint64_t nan) {
  return round_double(f, sum_to_odd(widen(f, a) * widen(f, b), widen(f, c), mode), mode, nan);
}

std::uint64_t mul_small(float_format f, std::uint64_t a, std::uint64_t b, rounding mode, std::uint64_t nan) {
  return round_double(f, widen(f, a) * widen(f, b), mode, nan);
}

std::uint64_t add_small(float_format f, std::uint64_t a, std::uint64_t b, rounding mode, std::uint64_t nan) {
  return round_double(f, sum_to_odd(widen(f, a), widen(f, b), mode), mode, nan);
}

std::uint32_t div_f32(std::uint32_t a, std::uint32_t b, rounding mode) {
  const double x = as_float(a);
  const double y = as_float(b);
  double q = x / y;
  if (q - q == 0 && q != 0) {
    const double residual = std::fma(-q, y, x);
    q = round_to_odd(q, y > 0 ? residual : -residual);
  }
  return static_cast<std::uint32_t>(round_double(format_f32, q, mode, nan_f32));
}

std::uint32_t sqrt_f32(std::uint32_t a, rounding mode) {
  const double x = as_float(a);
  double s = std::sqrt(x);
  if (s - s == 0 && s != 0) s = round_to_odd(s, std::fma(-s, s, x));
  return static_cast<std::uint32_t>(round_double(format_f32, s, mode, nan_f32));
}

}  // namespace heddle::simt
