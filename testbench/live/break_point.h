// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "heddle/observe/code_line.h"
#include "heddle/tlm/kernel/clock_timing.h"

namespace heddle {
class gpu;
struct decoded_program;
}  // namespace heddle

namespace heddle::testbench {

/// Where a run pauses: in a cycle, when an instruction of a line issues, or when a number of the metrics compares with
/// a value as asked.
class break_point {
 public:
  /// Of a request's parameters "cycle", "line" ("FILE:LINE") or "condition" ("kernels.0.metrics.ipc > 1.5"), of which
  /// one is expected. Throws input_error with a text for the user.
  explicit break_point(const std::map<std::string, std::string>& parameters);

  enum class kind : std::uint8_t { cycle, line, condition };
  [[nodiscard]] kind what() const { return what_; }
  [[nodiscard]] cycle_t cycle() const { return cycle_; }
  /// As the user gave it, for the page: "cycle 1000", "saxpy.cu:12", "kernels.0.cycles > 1000".
  [[nodiscard]] const std::string& text() const { return text_; }

  /// An instruction of the line has issued in the GPU's present cycle. All SMs must be in step.
  [[nodiscard]] bool line_issued(const gpu& g);
  /// The condition holds for these metrics; a number that they do not have yet fulfils none. `metrics`: JSON.
  [[nodiscard]] bool holds(const std::string& metrics) const;

 private:
  [[nodiscard]] const std::vector<bool>& of_line(const decoded_program& program);
  void take_cycle(const std::string& value);
  void take_line(const std::string& text);
  void take_condition(const std::string& text);

  kind what_ = kind::cycle;
  std::string text_;
  cycle_t cycle_ = never;
  code_line line_;
  std::string path_, compare_;
  double value_ = 0;
  std::map<const decoded_program*, std::vector<bool>> instructions_;
};

}  // namespace heddle::testbench
