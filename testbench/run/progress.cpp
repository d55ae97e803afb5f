// SPDX-License-Identifier: MIT
#include "testbench/run/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

constexpr std::size_t most_letters = 79;

double seconds_since(std::chrono::steady_clock::time_point t) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - t).count();
}

}  // namespace

std::string duration_text(double seconds) {
  const auto s = static_cast<std::uint64_t>(std::llround(seconds));
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{}:{:02} min", s / 60, s % 60);
  return fmt::format("{}:{:02} h", s / 3600, s / 60 % 60);
}

bool progress_line::is_wanted(progress_mode mode) {
  return mode == progress_mode::always || mode == progress_mode::json ||
         (mode == progress_mode::automatic && ::isatty(STDERR_FILENO));
}

progress_line::progress_line(progress_mode mode, job_plan plan)
    : wanted_(is_wanted(mode)),
      terminal_(mode != progress_mode::json && ::isatty(STDERR_FILENO)),
      json_(mode == progress_mode::json),
      estimate_(std::move(plan)) {}

bool progress_line::due() const { return wanted_ && seconds_since(last_) >= (terminal_ || json_ ? 0.2 : 1.0); }

void progress_line::update(std::uint64_t cycle, const run_progress& p, const std::vector<unsigned>& positions,
                           double cpu_seconds, double wall_seconds) {
  if (!wanted_) return;
  last_ = clock::now();
  estimate_.update(cycle, p, positions, wall_seconds);
  show(json_ ? progress_json(cycle, p, estimate_) : progress_text(cycle, p, estimate_, cpu_seconds));
}

void progress_line::update(const std::string& text) {
  last_ = clock::now();
  if (wanted_ && !json_) show(text.substr(0, most_letters));
}

void progress_line::show(const std::string& text) {
  std::fprintf(stderr, terminal_ ? "\r%-79s" : "%s\n", text.c_str());
  std::fflush(stderr);
  shown_ = true;
}

void progress_line::remark(const std::string& text) {
  if (!wanted_) return;
  clear_line();
  std::fprintf(stderr, "%s\n", text.c_str());
  std::fflush(stderr);
}

void progress_line::clear_line() {
  if (shown_ && terminal_) std::fprintf(stderr, "\r%79s\r", "");
  shown_ = false;
}

std::string progress_json(std::uint64_t cycle, const run_progress& p, const progress_estimate& estimate) {
  const double left = estimate.seconds_left();
  return fmt::format(
      R"({{"progress": {{"cycle": {}, "blocks_done": {}, "blocks": {}, "warp_instructions": {}, "seconds_left": {}}}}})",
      cycle, p.blocks_done, std::max(p.blocks_launched, estimate.blocks()), p.warp_instructions,
      left > 0 && !estimate.more() ? fmt::format("{:.3g}", left) : "null");
}

std::string progress_text(std::uint64_t cycle, const run_progress& p, const progress_estimate& estimate,
                          double cpu_seconds) {
  std::string text = fmt::format("cycle {}, blocks {}/{}", grouped(cycle), p.blocks_done,
                                 std::max(p.blocks_launched, estimate.blocks()));
  const double millions = static_cast<double>(p.warp_instructions) * 1e-6;
  if (cpu_seconds > 0) text += fmt::format(", {:.3g} M warp instructions/s", millions / cpu_seconds);
  const double left = estimate.seconds_left();
  if (left > 0) {
    text += std::string(", ") + (estimate.more() ? "over " : "") + duration_text(left) + " left";
  } else if (p.blocks_done == 0 && p.warp_instructions != 0) {
    text += fmt::format(", {:.3g} M so far", millions);
  }
  return text.substr(0, most_letters);
}

}  // namespace heddle::testbench
