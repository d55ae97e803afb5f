// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "testbench/sampling/launches/launch_list.h"
#include "testbench/sampling/strata/stratum.h"

namespace heddle::testbench {

struct stem_stratum {
  std::vector<std::uint32_t> members;  // numbers of launches
  std::size_t drawn = 1;
};

/// The strata of STEM and ROOT by their published rules (MICRO 2025). Of a kernel (z CV / error)^2 launches are drawn,
/// with the coefficient of variation CV. It is divided in two (2-means on durations), and each part again, unless the
/// launches that the two need for this error of their sum take longer. This command differs in three points: it bounds
/// the error of the whole workload and not that of each kernel, divides strata for that, and counts launches without
/// replacement. Strata without deviation get one launch.
std::vector<stem_stratum> stem_strata(const launch_list& list, const accuracy& wanted);

}  // namespace heddle::testbench
