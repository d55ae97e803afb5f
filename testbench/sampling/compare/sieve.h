// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "testbench/sampling/compare/weighted_launch.h"
#include "testbench/sampling/launches/launch_list.h"

namespace heddle::testbench {

/// The launches that Sieve (ISPASS 2023) chooses. Its strata are the launches of a kernel whose numbers of instructions
/// have a coefficient of variation below 0.4. Where it is larger, launches go into a stratum in the order of these
/// numbers, as long as it stays below. Of each stratum it takes the first launch of the commonest block size, for the
/// instructions of all. The list has `counters.instructions`.
std::vector<weighted_launch> sieve_choice(const launch_list& list);

}  // namespace heddle::testbench
