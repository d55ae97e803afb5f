// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "heddle/config/parameters.h"

namespace heddle {

/// Possible sizes of the carve-out in bytes, ascending: shared_memory.carveouts_kb. Throws input_error.
std::vector<unsigned> carveout_sizes(const gpu_config& config);

/// Callback for a violated rule: the parameters ("section.key") that it concerns and what was expected. It must throw.
using rule_violation = std::function<void(const std::vector<std::string>& names, const std::string& message)>;

/// Checks every parameter's range or choice, and then the rules between parameters.
void check_rules(const gpu_config& config, const rule_violation& violated);

/// Explains why the value of parameter "section.key" has no effect in this configuration, or less than its name
/// suggests: its condition, and what violates it. Empty if the parameter has its effect, and for unknown names.
std::string why_without_effect(const gpu_config& config, const std::string& name);

}  // namespace heddle
