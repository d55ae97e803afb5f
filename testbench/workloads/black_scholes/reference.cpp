// SPDX-License-Identifier: MIT
#include <cmath>

#include "testbench/workloads/reference.h"

namespace heddle::workloads {

namespace {

double normal_below(double d) {
  const double k = 1 / (1 + 0.2316419 * std::fabs(d));
  const double polynomial =
      k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
  const double tail = 0.39894228 * std::exp(-0.5 * d * d) * polynomial;
  return d > 0 ? 1 - tail : tail;
}

}  // namespace

// The kernel's exponentials and logarithms are approximations: the formula in double precision is the reference, and
// the job allows a tolerance.
void make_black_scholes(const folder& out) {
  constexpr std::size_t count = 4000;
  const std::vector<float> price = random_floats(18, count, 5, 30);
  const std::vector<float> strike = random_floats(19, count, 1, 100);
  const std::vector<float> years = random_floats(20, count, 0.25f, 10);
  const double rate = 0.02f;
  const double volatility = 0.3f;
  std::vector<float> call(count);
  std::vector<float> put(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double root = std::sqrt(years[i]);
    const double ratio = static_cast<double>(price[i]) / strike[i];
    const double d1 = (std::log(ratio) + (rate + 0.5 * volatility * volatility) * years[i]) / (volatility * root);
    const double d2 = d1 - volatility * root;
    const double discounted = strike[i] * std::exp(-rate * years[i]);
    call[i] = static_cast<float>(price[i] * normal_below(d1) - discounted * normal_below(d2));
    put[i] = static_cast<float>(discounted * (1 - normal_below(d2)) - price[i] * (1 - normal_below(d1)));
  }
  out.write("price.bin", price);
  out.write("strike.bin", strike);
  out.write("years.bin", years);
  out.write("call.ref.bin", call);
  out.write("put.ref.bin", put);
}

}  // namespace heddle::workloads
