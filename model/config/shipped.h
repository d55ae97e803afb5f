// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace heddle {

/// The file of a shipped GPU. Throws input_error listing the shipped names when there is none such.
std::string shipped_config_file(const std::string& name);

/// The directory that they lie in.
std::string shipped_config_folder();

}  // namespace heddle
