// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "heddle/config/parameters.h"

namespace heddle {

/// Sizes that the carve-out can take, in bytes, ascending: shared_memory.carveouts_kb. Throws input_error.
std::vector<unsigned> carveout_sizes(const gpu_config& config);

/// Told of a violated rule: the parameters ("section.key") it is about and what was expected. Must throw.
using rule_violation = std::function<void(const std::vector<std::string>& names, const std::string& message)>;

/// Checks every parameter's range or choice, and then what parameters require of each other.
void check_rules(const gpu_config& config, const rule_violation& violated);

}  // namespace heddle
