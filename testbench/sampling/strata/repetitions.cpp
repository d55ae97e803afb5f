// SPDX-License-Identifier: MIT
#include "testbench/sampling/strata/repetitions.h"

#include <algorithm>
#include <cmath>

#include "testbench/sampling/strata/sample.h"
#include "testbench/sampling/strata/strata.h"

namespace heddle::testbench {

repetitions repeat(const launch_list& list, const accuracy& wanted, std::uint64_t seed, std::size_t times) {
  repetitions r;
  r.all = times;
  const std::vector<stratum> strata = strata_of(list, wanted);
  launch_values values;
  for (std::uint32_t k = 0; k < list.launches.size(); ++k) values[k] = list.launches[k].time;
  const double whole = list.time();
  for (std::size_t k = 0; k < times; ++k) {
    const sample drawn(strata, wanted, seed + k);
    const double error = std::abs(estimate_of(drawn, values, wanted.confidence).whole.value / whole - 1);
    r.held += error <= wanted.error;
    r.mean_error += error / static_cast<double>(times);
    r.largest_error = std::max(r.largest_error, error);
    r.speedup = drawn.speedup();
    r.simulated = drawn.size();
  }
  return r;
}

}  // namespace heddle::testbench
