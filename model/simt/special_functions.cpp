// SPDX-License-Identifier: MIT
// MUFU. Every function is computed in f64 with + - * / fma sqrt alone, far more exactly than the PTX ISA asks, and rounded
// once; so results are the same on every host, and within the stated errors of the .approx instructions.
#include <cmath>

#include "simt/lane_loop.h"
#include "simt/soft_float.h"
#include "simt/topics.h"
#include "simt/trigonometry.h"

namespace heddle::simt {

namespace {

using isa::instruction;
using isa::mufu_function;

constexpr double infinity = __builtin_huge_val();
constexpr double not_a_number = __builtin_nan("");

double as_double(std::uint64_t v) { return __builtin_bit_cast(double, v); }
std::uint64_t as_bits(double v) { return __builtin_bit_cast(std::uint64_t, v); }

/// 2^x: an integral power times the exponential series of the rest, |rest * ln 2| < 0.35.
double exp2(double x) {
  if (x != x) return x;
  if (x > 1000.0) return infinity;
  if (x < -1000.0) return 0.0;
  const double whole = round_integral(x, isa::rounding::rn);
  const double t = (x - whole) * 0x1.62e42fefa39efp-1;
  double sum = 1.0;
  for (int n = 14; n > 0; --n) sum = std::fma(sum, t / n, 1.0);
  return sum * as_double(static_cast<std::uint64_t>(static_cast<std::int64_t>(whole) + 1023) << 52);
}

/// log2 x: exponent plus the series of the inverse hyperbolic tangent of (m - 1) / (m + 1), m in [0.7, 1.42).
double log2(double x) {
  if (x != x || x < 0) return not_a_number;
  if (x == 0) return -infinity;
  if (x == infinity) return x;
  const std::uint64_t bits = as_bits(x);
  auto exponent = static_cast<int>(bits >> 52) - 1023;
  double m = as_double((bits & 0xfffffffffffffu) | 0x3ff0000000000000u);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++exponent;
  }
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  double sum = 1.0 / 23.0;
  for (int n = 21; n > 0; n -= 2) sum = std::fma(sum, z, 1.0 / n);
  return std::fma(2.0 * s * sum, 0x1.71547652b82fep+0, exponent);
}

double tanh(double x) {
  if (x != x) return x;
  const double magnitude = std::fabs(x);
  if (magnitude < 0.02) return x * (1.0 - x * x * (1.0 / 3.0 - x * x * (2.0 / 15.0)));
  const double t = exp2((magnitude > 40.0 ? 40.0 : magnitude) * 2.0 * 0x1.71547652b82fep+0);
  const double r = (t - 1.0) / (t + 1.0);
  return x < 0 ? -r : r;
}

template <mufu_function what>
double evaluate(double x) {
  switch (what) {
    case mufu_function::rcp: return 1.0 / x;
    case mufu_function::rsq: return x == 0 ? std::copysign(infinity, x) : 1.0 / std::sqrt(x);
    case mufu_function::sqrt: return std::sqrt(x);
    case mufu_function::sin: return x - x == 0 ? (x == 0 ? x : sine(x)) : not_a_number;
    case mufu_function::cos: return x - x == 0 ? cosine(x) : not_a_number;
    case mufu_function::ex2: return exp2(x);
    case mufu_function::lg2: return log2(x);
    default: return tanh(x);
  }
}

template <mufu_function what>
void mufu(const instruction& i, warp_state& w, lane_mask mask) {
  apply<modifiers::f32>(i, w, mask, [&](std::uint32_t a, std::uint32_t, std::uint32_t) {
    const auto x = static_cast<std::uint32_t>(i.ftz ? flush(format_f32, a) : a);
    const auto v = static_cast<float>(evaluate<what>(__builtin_bit_cast(float, x)));
    std::uint64_t r = v != v ? nan_f32 : __builtin_bit_cast(std::uint32_t, v);
    if (i.ftz) r = flush(format_f32, r);
    return static_cast<std::uint32_t>(i.saturate ? saturated(format_f32, r) : r);
  });
}

/// The high word of an f64 function; denormals count as zero and results do not become denormal.
template <bool square_root>
void mufu_high(const instruction& i, warp_state& w, lane_mask mask) {
  apply<modifiers::f32>(i, w, mask, [](std::uint32_t a, std::uint32_t, std::uint32_t) {
    const double x = as_double(flush(format_f64, std::uint64_t{a} << 32));
    const double r = square_root ? evaluate<mufu_function::rsq>(x) : 1.0 / x;
    if (r != r) return static_cast<std::uint32_t>(nan_f64 >> 32);
    const std::uint64_t bits = flush(format_f64, as_bits(r));
    const bool finite = (bits & format_f64.infinity()) != format_f64.infinity();
    return static_cast<std::uint32_t>((bits + (finite ? 0x80000000u : 0)) >> 32);
  });
}

}  // namespace

execute_function select_special_function(const instruction& i) {
  if (i.op != isa::opcode::mufu) return nullptr;
  switch (static_cast<mufu_function>(i.sub)) {
    case mufu_function::rcp: return mufu<mufu_function::rcp>;
    case mufu_function::rsq: return mufu<mufu_function::rsq>;
    case mufu_function::sqrt: return mufu<mufu_function::sqrt>;
    case mufu_function::sin: return mufu<mufu_function::sin>;
    case mufu_function::cos: return mufu<mufu_function::cos>;
    case mufu_function::ex2: return mufu<mufu_function::ex2>;
    case mufu_function::lg2: return mufu<mufu_function::lg2>;
    case mufu_function::tanh: return mufu<mufu_function::tanh>;
    case mufu_function::rcp64h: return mufu_high<false>;
    case mufu_function::rsq64h: return mufu_high<true>;
  }
  return nullptr;
}

}  // namespace heddle::simt
