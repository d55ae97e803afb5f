// SPDX-License-Identifier: MIT
#include "heddle/simt/scalar/trigonometry.h"

#include <cmath>
#include <cstdint>

#include "heddle/simt/scalar/soft_float.h"

namespace heddle::simt {

namespace {

struct reduced {
  unsigned quadrant;  // modulo 4
  double rest;        // in about [-pi/4, pi/4]
};

constexpr double half_pi = 0x1.921fb54442d18p+0;
constexpr double half_pi_low = 0x1.1a62633145c07p-54;

/// Bits of 2/pi after the binary point.
constexpr std::uint64_t two_over_pi[5] = {0xa2f9836e4e441529u, 0xfc2757d1f534ddc0u, 0xdb6295993c439041u,
                                          0xfe5163abdebbc561u, 0xb7246e3a424dd2e0u};

std::uint64_t window(unsigned first_bit) {
  const unsigned word = first_bit / 64;
  const unsigned shift = first_bit % 64;
  return shift == 0 ? two_over_pi[word] : two_over_pi[word] << shift | two_over_pi[word + 1] >> (64 - shift);
}

/// |x| >= 2^25: x = m * 2^e with m of 24 bits. Modulo 4, only the bits of 2/pi with weight 2^(1-e) and less matter; 128
/// of them, as an integer with unit 2^(-126-e), give x * 2/pi modulo 4 in units of 2^-126 by one wrapping
/// multiplication.
reduced reduce_large(double x) {
  const std::uint64_t bits = __builtin_bit_cast(std::uint64_t, x);
  const auto m = static_cast<std::uint32_t>(((bits & 0xfffffffffffffu) | 0x10000000000000u) >> 29);
  const int e = static_cast<int>(bits >> 52 & 0x7ff) - 1023 - 23;
  const auto first = static_cast<unsigned>(e - 2);
  const uint128 y = (uint128{window(first)} << 64 | window(first + 64)) * m;
  const auto quadrant = static_cast<unsigned>(y >> 126);
  uint128 fraction = y & ((uint128{1} << 126) - 1);
  const bool upper = (fraction >> 125) != 0;
  if (upper) fraction = (uint128{1} << 126) - fraction;
  double rest = static_cast<double>(fraction) * 0x1p-126 * half_pi;
  if (upper) rest = -rest;
  const unsigned q = quadrant + (upper ? 1 : 0);
  return (bits >> 63) != 0 ? reduced{(0 - q) & 3, -rest} : reduced{q & 3, rest};
}

reduced reduce(double x) {
  if (std::fabs(x) >= 0x1p25) return reduce_large(x);
  const double k = round_integral(x * 0x1.45f306dc9c883p-1, isa::rounding::rn);
  const double rest = std::fma(-k, half_pi_low, std::fma(-k, half_pi, x));
  return {static_cast<unsigned>(static_cast<std::int64_t>(k)) & 3, rest};
}

/// Taylor series to r^17 and r^18: the first omitted term is below 2^-63 of the result for |r| <= pi/4.
double sine_series(double r) {
  const double z = r * r;
  double s = 1.0 / 355687428096000.0;
  s = std::fma(s, z, -1.0 / 1307674368000.0);
  s = std::fma(s, z, 1.0 / 6227020800.0);
  s = std::fma(s, z, -1.0 / 39916800.0);
  s = std::fma(s, z, 1.0 / 362880.0);
  s = std::fma(s, z, -1.0 / 5040.0);
  s = std::fma(s, z, 1.0 / 120.0);
  s = std::fma(s, z, -1.0 / 6.0);
  return std::fma(s * z, r, r);
}

double cosine_series(double r) {
  const double z = r * r;
  double c = -1.0 / 6402373705728000.0;
  c = std::fma(c, z, 1.0 / 20922789888000.0);
  c = std::fma(c, z, -1.0 / 87178291200.0);
  c = std::fma(c, z, 1.0 / 479001600.0);
  c = std::fma(c, z, -1.0 / 3628800.0);
  c = std::fma(c, z, 1.0 / 40320.0);
  c = std::fma(c, z, -1.0 / 720.0);
  c = std::fma(c, z, 1.0 / 24.0);
  c = std::fma(c, z, -1.0 / 2.0);
  return std::fma(c, z, 1.0);
}

double in_quadrant(unsigned quadrant, double rest) {
  const double v = (quadrant & 1) ? cosine_series(rest) : sine_series(rest);
  return (quadrant & 2) ? -v : v;
}

}  // namespace

double sine(double x) {
  const reduced r = reduce(x);
  return in_quadrant(r.quadrant, r.rest);
}

double cosine(double x) {
  const reduced r = reduce(x);
  return in_quadrant((r.quadrant + 1) & 3, r.rest);
}

}  // namespace heddle::simt
