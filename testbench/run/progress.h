// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "heddle/metrics/collect.h"
#include "testbench/options/options.h"
#include "testbench/run/progress_estimate.h"

namespace heddle::testbench {

/// The progress line on stderr. On a terminal one line that is overwritten and wiped at the end; else a line a second.
class progress_line {
 public:
  progress_line(progress_mode mode, job_plan plan);
  ~progress_line() { wipe(); }
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;

  bool wanted() const { return wanted_; }
  /// It is time to show the state again.
  bool due() const;
  /// Shows the state, due or not; `positions` of the launches in the job, by the driver's number; seconds of
  /// simulation.
  void update(std::uint64_t cycle, const run_progress& p, const std::vector<unsigned>& positions, double cpu_seconds,
              double wall_seconds);
  /// A line of its own, where progress is wanted.
  void remark(const std::string& text);
  void wipe();

 private:
  using clock = std::chrono::steady_clock;

  bool wanted_;
  bool terminal_;
  bool shown_ = false;
  clock::time_point last_ = clock::now();
  progress_estimate estimate_;
};

/// A time that is left, for people: "12 s", "3:20 min", "1:05 h".
std::string duration_text(double seconds);
/// One line without its end: cycles, blocks, speed and the time that is likely left; while no block has ended the
/// instructions so far.
std::string progress_text(std::uint64_t cycle, const run_progress& p, const progress_estimate& estimate,
                          double cpu_seconds);

}  // namespace heddle::testbench
