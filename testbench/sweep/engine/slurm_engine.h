// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "testbench/sweep/engine/sweep_progress.h"
#include "testbench/sweep/plan/sweep_plan.h"
#include "testbench/sweep/store/result_store.h"

namespace heddle::testbench {

/// The options for submitting one job array.
struct slurm_request {
  std::string sweep_file;  // path under which the tasks open it
  unsigned tasks = 1;      // size of the array; each task runs a shard
  bool resume = false;
  std::uint64_t checkpoint_every = 0;  // cycles; 0: no checkpoints
  bool any_size = false;               // --yes
  std::string confine;
  std::string arguments;  // further arguments of sbatch, as a shell would split them
};

/// Runs points as one job array of Slurm: each task runs this program with --shard, in the same folder.
class slurm_engine {
 public:
  /// Throws input_error if the arguments cannot be split into words, or if this machine has no sbatch.
  slurm_engine(const sweep_plan& plan, const result_store& store, slurm_request request);

  /// Submits the array and returns its job number. Throws input_error if sbatch is missing or refuses the job.
  std::string submit();
  /// Waits until the job has left the queue. Returns 0, or the signal that stopped the wait; the job is cancelled
  /// then.
  int wait(const std::string& job, const std::vector<std::size_t>& points, sweep_progress& progress);

 private:
  [[nodiscard]] std::string script() const;
  [[nodiscard]] bool queued(const std::string& job) const;

  const sweep_plan& plan_;
  const result_store& store_;
  slurm_request request_;
  std::vector<std::string> arguments_;
};

}  // namespace heddle::testbench
