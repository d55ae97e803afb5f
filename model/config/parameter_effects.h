// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "heddle/config/parameters.h"

namespace heddle {

/// Explains why the value of parameter "section.key" has no effect in this configuration, or less than its name
/// suggests: its condition, and what violates it. Empty if the parameter has its effect, and for unknown names.
std::string why_without_effect(const gpu_config& config, const std::string& name);

}  // namespace heddle
