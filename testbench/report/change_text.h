// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace heddle::testbench {

/// A parameter change that would widen a busy part of the chip or shorten a wait.
struct change {
  std::string key;
  nlohmann::ordered_json from;
  nlohmann::ordered_json to;
  std::string why;
  /// Parameters that must change with it.
  std::vector<std::pair<std::string, nlohmann::ordered_json>> also;
};

/// A whole number as an integer.
nlohmann::ordered_json as_number(double value);
/// The command-line options for the change: `--set KEY=VALUE`, and those of `also`.
std::string options_of(const change& c);
/// A parameter's value in the syntax of the command line.
std::string value_text(const nlohmann::ordered_json& value);

}  // namespace heddle::testbench
