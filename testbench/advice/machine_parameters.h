// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "heddle/config/parameters.h"

namespace heddle::testbench {

/// The parameters of the simulated GPU, from the metrics of a run. A parameter that the metrics lack, as those of
/// earlier versions do, has its default (parameter_list.h).
class machine_parameters {
 public:
  explicit machine_parameters(const nlohmann::ordered_json& config);

  [[nodiscard]] const gpu_config& config() const { return config_; }
  /// Whether the metrics have it.
  [[nodiscard]] bool has(const std::string& key) const { return values_.count(key) != 0; }
  /// As in the metrics; null if they do not have it.
  [[nodiscard]] const nlohmann::ordered_json& value(const std::string& key) const;
  /// For keys that are known only at run time; internal_error unless it is a number.
  [[nodiscard]] double number(const std::string& key) const;
  /// Whether there is such a flag, and it is set.
  [[nodiscard]] bool is_set(const std::string& key) const;

 private:
  std::map<std::string, nlohmann::ordered_json> values_;
  gpu_config config_;
};

}  // namespace heddle::testbench
