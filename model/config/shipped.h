// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace heddle {

/// Names of the shipped GPUs, sorted by age. They are found in the directory named by HEDDLE_CONFIGS, in
/// share/heddle/configs of the tree in which the library or the program is installed, or in the source tree.
std::vector<std::string> shipped_gpus();

/// The GPU that is simulated where none is named: the one whose figures are the defaults of parameter_list.h.
const std::string& default_gpu();

/// The file of a shipped GPU. Throws input_error listing the shipped names if there is none of this name.
std::string shipped_config_file(const std::string& name);

/// The message that there is no shipped GPU at all.
std::string no_shipped_gpus();

/// The directory of these files.
std::string shipped_config_folder();

/// True for a name with a '/' or ending in ".ini"; any other is a shipped GPU's name.
bool names_a_file(const std::string& text);

/// The file that `base = TEXT` in `file` means, existing or not: a shipped GPU, or a file relative to that file's
/// directory (relative to the working directory if that file comes from the shell: /dev/stdin).
std::string base_file(const std::string& text, const std::string& file);

/// True if two names refer to the same existing file.
bool is_same_file(const std::string& a, const std::string& b);

}  // namespace heddle
