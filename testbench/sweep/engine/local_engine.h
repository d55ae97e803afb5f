// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "testbench/sweep/engine/stop_signals.h"
#include "testbench/sweep/engine/sweep_progress.h"
#include "testbench/sweep/store/point_claims.h"
#include "testbench/sweep/store/result_store.h"

namespace heddle::testbench {

/// The points that a local_engine runs, by number.
class engine_points {
 public:
  /// The id of a point, under which the store keeps its result.
  [[nodiscard]] virtual std::string id(std::size_t point) const = 0;
  /// Runs one point and writes its result. Called in the point's process, which ends when it returns.
  virtual void run(std::size_t point) const = 0;

 protected:
  ~engine_points() = default;
};

/// Runs points on this machine, each in its own process, so that a point that fails, hangs or is killed does not
/// affect others. The processes end with their parent.
class local_engine {
 public:
  struct policy {
    std::uint64_t timeout_seconds = 0;  // limit for one point, 0: none
    unsigned jobs = 1;                  // points at a time
    bool again = false;                 // points that have a result other than `done` are run once more
    bool saves = false;                 // SIGTERM makes a point keep where it stands, for which it gets some time
  };

  /// `points` outlives the engine.
  local_engine(const result_store& store, const engine_points& points, const policy& how);

  /// Runs these points, at most `jobs` at a time, and waits for those that other processes run. Returns 0, or the
  /// signal that stopped it; unfinished points have no result then. Throws input_error if results cannot be written.
  int run(const std::vector<std::size_t>& points, sweep_progress& progress);
  /// The number of points that this process has run itself.
  [[nodiscard]] std::size_t started() const { return started_; }

 private:
  using clock = std::chrono::steady_clock;
  struct child {
    std::size_t point = 0;
    clock::time_point started;
    bool late = false;
  };

  using queue = std::deque<std::size_t>;

  void start(queue& points, queue& taken, const stop_signals& signals, sweep_progress& progress);
  bool start(std::size_t point, const stop_signals& signals);
  [[noreturn]] void work(std::size_t point, pid_t parent, const stop_signals& signals);
  int collect(sweep_progress& progress, const stop_signals& signals);
  void judge(const child& c, pid_t process, int status);
  void end_late();
  void let_save(const stop_signals& signals);
  void stop();

  const result_store& store_;
  const engine_points& points_;
  policy how_;
  point_claims claims_;
  std::map<pid_t, child> children_;
  std::size_t started_ = 0;
};

}  // namespace heddle::testbench
