// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "testbench/sweep/plan/sweep_plan.h"
#include "testbench/sweep/store/result_store.h"

namespace heddle::testbench {

/// Simulates one point and writes its result. To be called in a process of its own, which can simulate but once and is
/// to end without destructors.
void run_point(const sweep_plan& plan, const result_store& store, std::size_t point);

}  // namespace heddle::testbench
