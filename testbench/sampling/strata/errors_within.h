// SPDX-License-Identifier: MIT
#pragma once

#include "testbench/sampling/launches/launch_list.h"
#include "testbench/sampling/strata/sample.h"

namespace heddle::testbench {

/// Adds to an estimate's intervals that the simulated launches' cycles are estimates, too (--sample-blocks). `errors`:
/// half of each one's interval, relative to its cycles and with block_sample::confidence; a launch that is not in it
/// was simulated whole.
///
/// Launches of one kernel have the same code, and may all err to the same side: their errors are added, each with the
/// weight of its launch. Those of different kernels, and what the draw may err, are independent: their squares are
/// added.
void add_errors_within(workload_estimate& e, const launch_list& list, const sample& from, const launch_values& cycles,
                       const launch_values& errors, const accuracy& wanted);

}  // namespace heddle::testbench
