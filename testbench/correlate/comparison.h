// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "testbench/correlate/measurements.h"
#include "testbench/sweep/store/point_result.h"

namespace heddle::testbench {

/// One metric of one launch on both sides.
struct compared_value {
  const metric_name* metric = nullptr;
  double hardware = 0;
  double heddle = 0;

  /// Heddle's relative difference; of shares the difference, in hundreds of points. Infinite if only Heddle's value is
  /// not zero.
  [[nodiscard]] double error() const;
  /// True if the difference is more than 5 % or 5 points; of registers, if the allocated ones differ.
  [[nodiscard]] bool departs() const;
  [[nodiscard]] std::string error_text() const;
};

/// One launch on both sides.
struct compared_launch {
  const measured_launch* measured = nullptr;
  std::string failure;  // why there is no comparison; empty: there is
  std::string note;     // what else is different: the grid
  std::vector<compared_value> values;
  [[nodiscard]] const compared_value* shown() const { return headline < values.size() ? &values[headline] : nullptr; }
  std::size_t headline = ~std::size_t{0};  // index of the value by which launches are ranked; none if there is no time
  // The launch's time on both sides, in core cycles of Heddle's clock; its power in watts, if that alone was measured.
  double hardware_cycles = 0;
  double heddle_cycles = 0;
  double launch_cycles = 0;  // taken off the measured times
  [[nodiscard]] const compared_value* first_departure() const;

  /// How much longer (> 0) or shorter Heddle takes.
  [[nodiscard]] double time_error() const { return heddle_cycles / hardware_cycles - 1; }
  [[nodiscard]] bool has_time() const { return failure.empty() && hardware_cycles > 0 && heddle_cycles > 0; }
  /// True if no parameter was fitted to it: it counts.
  [[nodiscard]] bool counts() const { return has_time() && measured->identifies.empty(); }
};

/// All launches of one chip.
struct chip_comparison {
  std::string gpu;
  std::vector<compared_launch> launches;

  [[nodiscard]] std::size_t counted() const;
  [[nodiscard]] double mean_error() const;  // mean of the absolute errors of those that count
  [[nodiscard]] double bias() const;        // mean of their errors
  [[nodiscard]] double log_correlation()
      const;  // Pearson's coefficient of the logarithms of their times; 0 with less than three
  [[nodiscard]] std::vector<const compared_launch*> worst(std::size_t most) const;
};

/// Mean absolute error and bias of one metric over a chip's launches that count.
struct metric_summary {
  const metric_name* metric = nullptr;
  std::size_t launches = 0;
  double mean_error = 0;
  double bias = 0;
};
std::vector<metric_summary> metrics_of(const chip_comparison& chip);

/// Compares one measured launch with the result of its run.
compared_launch compare(const measured_launch& m, const point_result& result);

}  // namespace heddle::testbench
