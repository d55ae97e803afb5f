// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>

#include "heddle/config/parameters.h"
#include "testbench/job/job.h"
#include "testbench/options/options.h"
#include "testbench/sweep/plan/sweep_plan.h"
#include "testbench/sweep/store/result_store.h"

namespace heddle::testbench {

/// Simulates one job without any output. Call it in a separate process, as below.
point_result simulate_job(run_options o, job j, const gpu_config& config);
/// What `simulation` returns; an exception becomes the status and the reason of the result.
point_result result_of(const std::function<point_result()>& simulation);
/// Simulates one point on `threads` threads and writes its result. Call it in a separate process, which can simulate
/// only once and must end without destructors.
void run_point(const sweep_plan& plan, const result_store& store, std::size_t point, unsigned threads);

}  // namespace heddle::testbench
