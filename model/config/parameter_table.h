// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "config/parameters.h"

namespace heddle {

/// One parameter of a gpu_config by name. Refers to the configuration it was made from.
struct parameter_reference {
  std::string section;
  std::string key;
  std::string description;
  std::variant<std::string*, unsigned*, double*, bool*> value;
};

/// All parameters in the order of the INI file.
std::vector<parameter_reference> parameters_of(gpu_config& config);

/// The value as INI text; set_text reads it back to the same value (doubles: shortest such text).
std::string text_of(const parameter_reference& parameter);

/// Sets a parameter from its INI text. Returns what was expected ("an unsigned integer") when the text is no such
/// value, leaving the parameter alone; empty when it was set.
std::string set_text(const parameter_reference& parameter, const std::string& text);

}  // namespace heddle
