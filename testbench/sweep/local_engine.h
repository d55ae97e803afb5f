// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <vector>

#include "testbench/sweep/result_store.h"
#include "testbench/sweep/sweep_plan.h"
#include "testbench/sweep/sweep_progress.h"

namespace heddle::testbench {

/// Runs points on this machine, each in a process of its own: one that fails, hangs or is killed takes no other with it. The
/// processes end with the one that started them.
class local_engine {
 public:
  /// Runs one point and writes its result. Called in the point's own process, which ends when it returns.
  using runner = std::function<void(std::size_t point)>;

  local_engine(const sweep_plan& plan, const result_store& store, unsigned jobs, runner run);

  /// Runs these points, at most `jobs` at a time. Returns 0, or the signal that stopped it: unfinished points have no result
  /// then. Throws input_error when rows cannot be written.
  int run(const std::vector<std::size_t>& points, sweep_progress& progress);

 private:
  using clock = std::chrono::steady_clock;
  struct child {
    std::size_t point = 0;
    clock::time_point started;
    bool late = false;
  };

  void collect(sweep_progress& progress);
  void judge(const child& c, pid_t process, int status);
  void end_late();
  void stop();

  const sweep_plan& plan_;
  const result_store& store_;
  unsigned jobs_;
  runner run_;
  std::map<pid_t, child> children_;
};

}  // namespace heddle::testbench
