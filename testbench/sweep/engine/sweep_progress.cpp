// SPDX-License-Identifier: MIT
#include "testbench/sweep/engine/sweep_progress.h"

#include <unistd.h>

#include <cstdio>

#include "testbench/run/progress.h"

namespace heddle::testbench {

sweep_progress::sweep_progress(progress_mode mode, std::size_t points)
    : wanted_(mode == progress_mode::always || (mode == progress_mode::automatic && ::isatty(STDERR_FILENO))),
      terminal_(::isatty(STDERR_FILENO)),
      points_(points) {}

void sweep_progress::finished(point_status status) {
  ++finished_;
  if (status != point_status::done && status != point_status::refused) ++failed_;
}

void sweep_progress::show() {
  const double since = std::chrono::duration<double>(clock::now() - last_).count();
  if (!wanted_ || since < (terminal_ ? 0.2 : 1.0)) return;
  last_ = clock::now();
  std::fprintf(stderr, terminal_ ? "\r%-79s" : "%s\n",
               text(std::chrono::duration<double>(last_ - started_).count()).c_str());
  std::fflush(stderr);
  shown_ = true;
}

void sweep_progress::clear_line() {
  if (shown_ && terminal_) std::fprintf(stderr, "\r%79s\r", "");
  shown_ = false;
}

std::string sweep_progress::text(double seconds) const {
  std::string line = std::to_string(finished_) + "/" + std::to_string(points_) + " points";
  if (failed_) line += ", " + std::to_string(failed_) + " failed";
  if (finished_ > 0 && finished_ < points_) {
    line += ", " + duration_text(seconds * static_cast<double>(points_ - finished_) / static_cast<double>(finished_)) +
            " left";
  }
  return line;
}

}  // namespace heddle::testbench
