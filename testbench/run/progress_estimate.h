// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "heddle/metrics/collect.h"

namespace heddle::testbench {

struct job;
struct operation;

/// What is known of a launch before it runs.
struct launch_plan {
  std::string kernel;       // empty if `instructions` is known
  std::uint64_t times = 1;  // number of times the job makes the launch
  std::uint64_t blocks = 0;
  std::uint64_t warps_per_block = 0;
  std::uint64_t instructions = 0;  // warp instructions of one launch if known, which is so for a recording
};

struct job_plan {
  std::vector<launch_plan> launches;  // by position in the job; operations other than kernels have no blocks
  bool open = false;                  // the number of some launches depends on data
};
job_plan plan_of(const job& j);

/// Estimates the remaining work of a run in warp instructions, a measure that makes kernels comparable. For a
/// recording the number is known. For a computed kernel, completed blocks give the number for one block, and each
/// running block counts in proportion to its age.
class progress_estimate {
 public:
  explicit progress_estimate(job_plan plan) : plan_(std::move(plan)) {}

  /// Takes the state of the run. `positions`: the position of each launch in the job, indexed by launch number. Call
  /// it repeatedly, in order of time.
  void update(std::uint64_t cycle, const run_progress& p, const std::vector<unsigned>& positions, double wall_seconds);

  /// The known number of blocks of the job.
  [[nodiscard]] std::uint64_t blocks() const { return blocks_; }
  /// Estimated seconds for the known remaining work at the recent speed; negative: unknown.
  [[nodiscard]] double seconds_left() const;
  /// True if unknown work remains: blocks of a kernel without a completed block, or launches that depend on data.
  [[nodiscard]] bool more() const { return more_; }

 private:
  struct measured {
    double instructions = 0;  // of `warps` complete warps
    double warps = 0;
  };
  struct age {
    std::uint64_t cycle = 0;    // of the last update
    std::uint64_t running = 0;  // running blocks at that time
    double block_cycles = 0;    // cycles that blocks have spent on SMs, running ones included
  };
  struct sample {
    double seconds;
    double instructions;
  };

  double whole_blocks(std::uint64_t cycle, const grid_progress& g);
  void add_rest(const std::string& kernel, double warps);

  job_plan plan_;
  std::map<std::uint32_t, age> ages_;        // of unfinished grids
  std::map<std::string, measured> kernels_;  // by name, of kernels that have run
  std::deque<sample> speed_ = {{0, 0}};
  std::uint64_t blocks_ = 0;
  double left_ = -1;  // warp instructions
  bool more_ = false;
};

}  // namespace heddle::testbench
