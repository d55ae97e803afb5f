// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "testbench/sweep/plan/sweep_plan.h"
#include "testbench/sweep/store/result_store.h"

namespace heddle::testbench {

/// Simulates one point and writes its result. Call it in a separate process, which can simulate only once and must end
/// without destructors.
void run_point(const sweep_plan& plan, const result_store& store, std::size_t point);

}  // namespace heddle::testbench
