// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "heddle/config/parameters.h"
#include "testbench/job/job.h"
#include "testbench/options/options.h"
#include "testbench/run/run_signals.h"
#include "testbench/sweep/plan/sweep_plan.h"
#include "testbench/sweep/store/result_store.h"

namespace heddle::testbench {

/// Simulates one job without any output. Call it in a separate process, as below. With `signals`, one of them may end
/// it early: the result is `missing` then.
point_result simulate_job(run_options o, job j, const gpu_config& config, run_signals* signals = nullptr);
/// What `simulation` returns; an exception becomes the status and the reason of the result.
point_result result_of(const std::function<point_result()>& simulation);
/// How a point is simulated, which does not change its result.
struct point_running {
  unsigned threads = 1;
  std::uint64_t checkpoint_every = 0;  // cycles; 0: it writes no checkpoints
};
/// Simulates one point and writes its result; from where its checkpoint in the store says that it stood, if there is
/// one. If it writes checkpoints, SIGTERM makes it write one and ends the process. Call it in a separate process, which
/// can simulate only once and must end without destructors.
void run_point(const sweep_plan& plan, const result_store& store, std::size_t point, const point_running& how);

}  // namespace heddle::testbench
