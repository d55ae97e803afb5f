// SPDX-License-Identifier: MIT
#pragma once

#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace heddle::testbench {

/// The parameters of the GPU that a run was made on, by their names, as its metrics have them.
class machine_parameters {
 public:
  explicit machine_parameters(const nlohmann::ordered_json& config);

  bool has(const std::string& key) const { return values_.count(key) != 0; }
  /// Null where the metrics do not have it.
  const nlohmann::ordered_json& value(const std::string& key) const;
  /// `otherwise` where there is none, or it is no number.
  double number(const std::string& key, double otherwise = 0) const;
  bool is(const std::string& key, const std::string& text) const;

 private:
  std::map<std::string, nlohmann::ordered_json> values_;
};

/// The number at the end of a path of keys; 0 where there is none: metrics of other versions lack some.
double number_at(const nlohmann::ordered_json& j, std::initializer_list<const char*> path);
bool has(const nlohmann::ordered_json& j, std::initializer_list<const char*> path);
/// 0 where `b` is.
double ratio(double a, double b);

/// What a kernel used of what a part of the chip can do in its time: per core cycle, of the whole chip.
struct resource_use {
  std::string name;
  double share = 0;
  double used = 0;
  double peak = 0;
  const char* unit = "";
};

/// By part of the chip, in the order of the report. `kernel`: an object of the metrics' `kernels`. The formulas are in
/// docs/report.md.
std::vector<resource_use> speed_of_light(const nlohmann::ordered_json& kernel, const machine_parameters& machine);

/// The instruction roofline: warp instructions per second over warp instructions per byte of a level. An object with
/// `rate`, `issue_peak` and `levels` (name, bytes, bytes per second possible, intensity).
nlohmann::ordered_json roofline(const nlohmann::ordered_json& kernel, const machine_parameters& machine);

}  // namespace heddle::testbench
