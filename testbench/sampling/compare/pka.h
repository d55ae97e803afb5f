// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "testbench/sampling/compare/weighted_launch.h"
#include "testbench/sampling/launches/launch_list.h"

namespace heddle::testbench {

struct pka_launches {
  std::vector<weighted_launch> launches;  // one of each cluster
  std::size_t components = 0;             // of the counters' principal components, those that were used
};

/// The launches that PKA (Principal Kernel Analysis, MICRO 2021) chooses: counters normalised to mean 0 and deviation
/// 1, of their principal components as many as hold 99.95 % of the variance, k-means from 1 to 20 clusters, and of each
/// cluster the first launch for all. The number of clusters is that with the least error on the known durations. The
/// list has durations, and counters with at least one name.
pka_launches pka_choice(const launch_list& list, std::uint64_t seed);

}  // namespace heddle::testbench
