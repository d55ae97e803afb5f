// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "heddle/config/parameters.h"

namespace heddle {

/// Why the value of parameter "section.key" changes nothing in this configuration, or less than its name promises: what
/// it needs, and what stands against it. Empty where it acts, and for names that there are not.
std::string why_without_effect(const gpu_config& config, const std::string& name);

}  // namespace heddle
