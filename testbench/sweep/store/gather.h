// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>

#include "testbench/sweep/plan/sweep_plan.h"
#include "testbench/sweep/store/point_result.h"
#include "testbench/sweep/store/result_store.h"

namespace heddle::testbench {

/// The number of points by status.
using status_counts = std::array<std::size_t, point_status_count>;

/// Rewrites the store's database from the results of this sweep's points and of points already in the database, and
/// writes the CSV of this sweep. Equal results make equal bytes, regardless of the order and the number of runs that
/// produced them. Throws input_error.
status_counts gather(const sweep_plan& plan, const result_store& store);

}  // namespace heddle::testbench
