// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace heddle {

/// The file of a shipped GPU. Throws input_error listing the shipped names when there is none such.
std::string shipped_config_file(const std::string& name);

/// The directory that they lie in.
std::string shipped_config_folder();

/// Anything with a '/' or ending in ".ini"; else it is a shipped GPU's name.
bool names_a_file(const std::string& text);

/// The file that `base = TEXT` in `file` means, there or not: a shipped GPU, or a file relative to that one's folder
/// (to the working directory, where that one comes from the shell: /dev/stdin).
std::string base_file(const std::string& text, const std::string& file);

/// Two names of one existing file.
bool is_same_file(const std::string& a, const std::string& b);

}  // namespace heddle
