// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "heddle/config/parameters.h"
#include "testbench/checkpoint/checkpoint.h"
#include "testbench/job/job.h"
#include "testbench/options/options.h"

namespace heddle::testbench {

/// When the checkpoints of a run are due, and what they say of the run itself.
class run_checkpoints {
 public:
  /// Reads the run's files for their digests. Throws input_error.
  run_checkpoints(const run_options& o, const job& j, const gpu_config& config);

  /// The options ask for checkpoints.
  [[nodiscard]] bool wanted() const { return !file_.empty(); }
  /// The next cycle from which on one is due; the largest number: none.
  [[nodiscard]] std::uint64_t next() const { return next_; }
  [[nodiscard]] bool due(std::uint64_t cycle) const { return cycle >= next_; }
  /// One is due now, and the run ends with it, because of `signal`.
  void end_with(int signal) {
    signal_ = signal;
    next_ = 0;
  }
  /// The signal that ends the run once the checkpoint is written; 0: none.
  [[nodiscard]] int signal() const { return signal_; }
  /// The run goes on from this cycle.
  void begin_at(std::uint64_t cycle) { next_ = every_ == 0 ? never_due : cycle + every_; }
  /// Writes the state before `cycle`. If that fails, a warning says so; the file of the checkpoint before stays.
  void write(std::uint64_t cycle, std::uint64_t time, std::vector<std::uint8_t> state);

 private:
  static constexpr std::uint64_t never_due = ~std::uint64_t{0};
  const std::string file_;
  const std::uint64_t every_;
  std::uint64_t next_ = never_due;
  int signal_ = 0;
  checkpoint about_;
};

}  // namespace heddle::testbench
