// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "testbench/sampling/launches/launch_list.h"
#include "testbench/sampling/strata/stratum.h"

namespace heddle::testbench {

/// Divides the launches by kernel and shape, the first one of each apart. With times, by kernel, and the launches of a
/// kernel further: in two where that divides their times best (2-means), and each part again, as long as less has to be
/// simulated (ROOT, MICRO 2025).
std::vector<stratum> strata_of(const launch_list& list, const accuracy& wanted);

}  // namespace heddle::testbench
