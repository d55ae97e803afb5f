// SPDX-License-Identifier: MIT
#include "testbench/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "testbench/text.h"

namespace heddle::testbench {

namespace {

double seconds_since(std::chrono::steady_clock::time_point t) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - t).count();
}

}  // namespace

std::string duration_text(double seconds) {
  const auto s = static_cast<std::uint64_t>(seconds + 0.5);
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{}:{:02} min", s / 60, s % 60);
  return fmt::format("{}:{:02} h", s / 3600, s / 60 % 60);
}

progress_line::progress_line(progress_mode mode)
    : wanted_(mode == progress_mode::always || (mode == progress_mode::automatic && ::isatty(STDERR_FILENO))),
      terminal_(::isatty(STDERR_FILENO)) {}

void progress_line::update(std::uint64_t cycle, const run_progress& p, double cpu_seconds, bool force) {
  if (!wanted_ || (!force && seconds_since(last_) < (terminal_ ? 0.2 : 1.0))) return;
  last_ = clock::now();
  const std::string text = progress_text(cycle, p, cpu_seconds, seconds_since(started_));
  std::fprintf(stderr, terminal_ ? "\r%-79s" : "%s\n", text.c_str());
  std::fflush(stderr);
  shown_ = true;
}

void progress_line::wipe() {
  if (shown_ && terminal_) std::fprintf(stderr, "\r%79s\r", "");
  shown_ = false;
}

std::string progress_text(std::uint64_t cycle, const run_progress& p, double cpu_seconds, double wall_seconds) {
  std::string text = fmt::format("cycle {}, blocks {}/{}", grouped(cycle), p.blocks_done, p.blocks_launched);
  if (cpu_seconds > 0) {
    text +=
        fmt::format(", {:.3g} M warp instructions/s", static_cast<double>(p.warp_instructions) / cpu_seconds * 1e-6);
  }
  if (p.blocks_done > 0 && p.blocks_done < p.blocks_launched) {
    const double left = static_cast<double>(p.blocks_launched - p.blocks_done) / static_cast<double>(p.blocks_done);
    text += ", " + duration_text(wall_seconds * left) + " left";
  }
  return text.substr(0, 79);
}

}  // namespace heddle::testbench
