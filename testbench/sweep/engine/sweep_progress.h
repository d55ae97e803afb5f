// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "testbench/options/options.h"
#include "testbench/sweep/store/point_result.h"

namespace heddle::testbench {

/// The progress line of a sweep on stderr: finished points, failed points, estimated remaining time.
class sweep_progress {
 public:
  sweep_progress(progress_mode mode, std::size_t points);
  ~sweep_progress() { clear_line(); }
  sweep_progress(const sweep_progress&) = delete;
  sweep_progress& operator=(const sweep_progress&) = delete;

  void finished(point_status status);
  /// Shows the state if the last update is long enough ago.
  void show();
  void clear_line();
  /// "12/200 points, 1 failed, 3:20 min left".
  [[nodiscard]] std::string text(double seconds) const;

 private:
  using clock = std::chrono::steady_clock;

  bool wanted_;
  bool terminal_;
  bool shown_ = false;
  std::size_t points_;
  std::size_t finished_ = 0;
  std::size_t failed_ = 0;
  clock::time_point started_ = clock::now();
  clock::time_point last_ = started_;
};

}  // namespace heddle::testbench
