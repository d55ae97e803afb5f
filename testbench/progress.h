// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "metrics/collect.h"
#include "testbench/options.h"

namespace heddle::testbench {

/// The progress line on stderr. On a terminal one line that is overwritten and wiped at the end; else a line a second.
class progress_line {
 public:
  explicit progress_line(progress_mode mode);
  ~progress_line() { wipe(); }
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;

  bool wanted() const { return wanted_; }
  /// Shows the state if the last time is long enough ago, or `force`.
  void update(std::uint64_t cycle, const run_progress& p, double cpu_seconds, bool force = false);
  void wipe();

 private:
  using clock = std::chrono::steady_clock;

  bool wanted_;
  bool terminal_;
  bool shown_ = false;
  clock::time_point started_ = clock::now();
  clock::time_point last_ = started_;
};

/// A time that is left, for people: "12 s", "3:20 min", "1:05 h".
std::string duration_text(double seconds);
/// One line without its end: cycles, blocks, speed and the time that is likely left.
std::string progress_text(std::uint64_t cycle, const run_progress& p, double cpu_seconds, double wall_seconds);

}  // namespace heddle::testbench
