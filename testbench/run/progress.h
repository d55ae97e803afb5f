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

/// The progress line on stderr. On a terminal the line is overwritten and erased at the end; elsewhere one line a
/// second is printed, or five of JSON.
class progress_line {
 public:
  progress_line(progress_mode mode, job_plan plan);
  ~progress_line() { clear_line(); }
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;

  /// Whether a line of this mode shows anything here.
  [[nodiscard]] static bool is_wanted(progress_mode mode);
  [[nodiscard]] bool wanted() const { return wanted_; }
  /// True if it is time to update the line.
  [[nodiscard]] bool due() const;
  /// Shows the state, whether due or not. `positions`: the position of each launch in the job, indexed by the driver's
  /// launch number; both times are seconds of simulation.
  void update(std::uint64_t cycle, const run_progress& p, const std::vector<unsigned>& positions, double cpu_seconds,
              double wall_seconds);
  /// Shows a text instead, but not to programs.
  void update(const std::string& text);
  /// Prints a separate line, if progress is shown.
  void remark(const std::string& text);
  void clear_line();

 private:
  using clock = std::chrono::steady_clock;
  void show(const std::string& text);

  bool wanted_;
  bool terminal_;
  bool json_;
  bool shown_ = false;
  clock::time_point last_ = clock::now();
  progress_estimate estimate_;
};

/// A line for programs: {"progress": {"cycle", "blocks_done", "blocks", "warp_instructions", "seconds_left"}}, the last
/// one null if unknown.
std::string progress_json(std::uint64_t cycle, const run_progress& p, const progress_estimate& estimate);

/// A remaining time for people: "12 s", "3:20 min", "1:05 h".
std::string duration_text(double seconds);
/// The text of the line without a line break: cycles, blocks, speed and the estimated remaining time; the instructions
/// so far until the first block has ended.
std::string progress_text(std::uint64_t cycle, const run_progress& p, const progress_estimate& estimate,
                          double cpu_seconds);

}  // namespace heddle::testbench
