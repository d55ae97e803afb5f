// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "config/parameters.h"

namespace heddle {

/// Smallest and largest legal value of a numeric parameter.
struct numeric_range {
  double lowest = 0;
  double highest = 0;
};

/// The range of "section.key", nullptr for a parameter that is no number.
const numeric_range* range_of(const std::string& name);

/// The values that a parameter with a fixed list of them may take, nullptr for any other parameter.
const std::vector<std::string>* choices_of(const std::string& name);

/// Sizes that the carve-out can take, in bytes, ascending: shared_memory.carveouts_kb. Throws input_error.
std::vector<unsigned> carveout_sizes(const gpu_config& config);

/// Told of a violated rule: the parameters ("section.key") it is about and what was expected. Must throw.
using rule_violation = std::function<void(const std::vector<std::string>& names, const std::string& message)>;

/// Checks every parameter's range or choice, and then what parameters require of each other.
void check_rules(const gpu_config& config, const rule_violation& violated);

}  // namespace heddle
