// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "testbench/sampling/launches/launch_list.h"
#include "testbench/sampling/strata/stratum.h"

namespace heddle::testbench {

/// How often the error held, of samples that differ in their seed, where all durations are known.
struct repetitions {
  std::size_t all = 0, held = 0;
  std::size_t simulated = 0;  // launches of a sample
  double mean_error = 0, largest_error = 0, speedup = 0;
};
repetitions repeat(const launch_list& list, const accuracy& wanted, std::uint64_t seed, std::size_t times);

}  // namespace heddle::testbench
