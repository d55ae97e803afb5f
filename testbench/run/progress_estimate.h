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

/// What is known of a job's launches before they run.
struct launch_plan {
  std::string kernel;
  std::uint64_t times = 1;  // that the job makes the launch
  std::uint64_t blocks = 0;
  std::uint64_t warps_per_block = 0;
  std::uint64_t instructions = 0;  // warp instructions of one launch, where they are known: of a recording
};

struct job_plan {
  std::vector<launch_plan> launches;  // by position in the job; of what is no kernel: no blocks
  bool open = false;                  // data decide how often some of them are made
};
job_plan plan_of(const job& j);

/// How much of a run is left, in warp instructions, the measure in which kernels compare. Of a recording they are
/// known; of a computed kernel the blocks that have ended tell how many one takes, and each block that runs counts for
/// the part that its age is of theirs.
class progress_estimate {
 public:
  explicit progress_estimate(job_plan plan) : plan_(std::move(plan)) {}

  /// Takes the state of the run; `positions`: of its launches in the job, by number. To be called from time to time, in
  /// order.
  void update(std::uint64_t cycle, const run_progress& p, const std::vector<unsigned>& positions, double wall_seconds);

  /// Blocks of the job as far as they are known.
  std::uint64_t blocks() const { return blocks_; }
  /// Seconds that what is known of the rest will take at the speed of the last while; negative: nothing is known.
  double seconds_left() const;
  /// The rest holds more than is known: blocks of a kernel of which none has ended yet, or launches that the data
  /// decide on.
  bool more() const { return more_; }

 private:
  struct measured {
    double instructions = 0;  // of `warps` whole warps
    double warps = 0;
  };
  struct age {
    std::uint64_t cycle = 0;    // of the last update
    std::uint64_t running = 0;  // blocks then
    double block_cycles = 0;    // that blocks have spent on SMs, those that run included
  };
  struct sample {
    double seconds;
    double instructions;
  };

  double whole_blocks(std::uint64_t cycle, const grid_progress& g);
  void add_rest(const std::string& kernel, double warps);

  job_plan plan_;
  std::map<std::uint32_t, age> ages_;        // of unfinished grids
  std::map<std::string, measured> kernels_;  // by name, of what has run by now
  std::deque<sample> speed_ = {{0, 0}};
  std::uint64_t blocks_ = 0;
  double left_ = -1;  // warp instructions
  bool more_ = false;
};

}  // namespace heddle::testbench
