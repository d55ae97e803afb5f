// SPDX-License-Identifier: MIT
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "testbench/advice/machine_parameters.h"

namespace heddle::testbench {

/// The GPU's L2 slices.
double l2_slices(const machine_parameters& machine);
/// The number at the end of a path of keys; 0 if it is missing, as in metrics of other versions.
double number_at(const nlohmann::ordered_json& j, std::initializer_list<const char*> path);
bool has(const nlohmann::ordered_json& j, std::initializer_list<const char*> path);
/// a / b; 0 if `b` is 0.
double ratio(double a, double b);

/// The use of one part of the chip by a kernel, relative to its peak: per core cycle, for the whole chip.
struct resource_use {
  std::string name;
  double share = 0;
  double used = 0;
  double peak = 0;
  const char* unit = "";
};

/// The use of each part of the chip, in the order of the report. `kernel`: an object of the metrics' `kernels`.
/// docs/use/report.md has the formulas.
std::vector<resource_use> speed_of_light(const nlohmann::ordered_json& kernel, const machine_parameters& machine);

/// A state in which warps do not issue, and its share of the active warp-cycles.
struct wait_share {
  std::string name;
  double share = 0;
};

/// Whether a warp in this state waits behind other warps, for a unit or room in a queue.
bool is_queue(const std::string& state);

/// The states of a kernel's warps other than `selected`, the largest share first.
std::vector<wait_share> waits(const nlohmann::ordered_json& kernel);

/// The instruction roofline: warp instructions per second over warp instructions per byte of a memory level. An object
/// with `rate`, `issue_peak` and `levels` (name, bytes, peak bytes per second, intensity).
nlohmann::ordered_json roofline(const nlohmann::ordered_json& kernel, const machine_parameters& machine);

}  // namespace heddle::testbench
