// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>

#include "testbench/sweep/plan/sweep_plan.h"
#include "testbench/sweep/store/point_result.h"
#include "testbench/sweep/store/result_store.h"

namespace heddle::testbench {

/// Points by what became of them.
using status_counts = std::array<std::size_t, point_status_count>;

/// Writes the store's database anew from the results of the points of this sweep and of those that the database knows
/// already, and the CSV of this sweep. The same results make the same bytes, in whatever order and by however many runs
/// they came. Throws input_error.
status_counts gather(const sweep_plan& plan, const result_store& store);

}  // namespace heddle::testbench
