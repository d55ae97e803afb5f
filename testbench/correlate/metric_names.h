// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace heddle::testbench {

/// What a metric measures, in the order in which one follows from the other: the first that departs from the hardware
/// is where to look for the reason.
enum class metric_stage : std::uint8_t { launch, instructions, l1, shared, l2, dram, occupancy, stalls, rate, time };

/// The dimension of a metric's values; each has one unit.
enum class metric_unit : std::uint8_t { count, share, bytes, seconds, bytes_per_second, watts };

/// One simulated launch, from which metrics are computed.
struct simulated_launch {
  const nlohmann::json* kernel = nullptr;  // an element of `kernels` of the metrics file
  const nlohmann::json* config = nullptr;  // its `gpu.config`
  double bytes = 0;                        // work, for rates; 0: unknown

  /// A number by its path in `kernel`: "memory.l1.hits"; 0 if it is missing.
  [[nodiscard]] double number(const std::string& path) const;
  [[nodiscard]] double parameter(const std::string& name) const;
  [[nodiscard]] double hertz() const { return parameter("gpu.core_clock_mhz") * 1e6; }
};

/// A metric that can be compared: its name in Heddle, its names in the profilers, and how it is computed.
struct metric_name {
  const char* name;
  metric_stage stage;
  metric_unit unit;
  double (*value)(const simulated_launch& launch);
  std::vector<std::string> nsight;  // metrics of Nsight Compute, and their labels on its details page
  std::vector<std::string> nvprof;

  [[nodiscard]] bool is_share() const { return unit == metric_unit::share; }
  /// True if the metric is the launch's time or a rate, by which launches are ranked.
  [[nodiscard]] bool is_time() const { return stage == metric_stage::time || stage == metric_stage::rate; }
};

/// All metrics, ordered by stage.
const std::vector<metric_name>& metric_names();
/// The metric with this name in Heddle or in a profiler; nullptr: none.
const metric_name* find_metric(const std::string& name);

/// A value as a profiler writes it: "1,234.5", "98.5%", "12.3GB/s". No value for "n/a", "nan" and empty text. Throws
/// input_error if it is no number that the metric can have, or if the metric cannot have that unit; the message has no
/// place.
std::optional<double> read_value(const metric_name& metric, const std::string& text, const std::string& unit);
/// True if the metric can have this unit.
bool has_unit(const metric_name& metric, const std::string& unit);
/// A value for people, with its unit: "12.5 %", "1,234".
std::string value_text(const metric_name& metric, double value);

}  // namespace heddle::testbench
