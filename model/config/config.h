// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "heddle/config/error.h"
#include "heddle/config/parameters.h"
#include "heddle/config/shipped.h"

namespace heddle {

/// Loads a shipped GPU by name ("gtx1080"), or a configuration file (a name with a '/' or ending in ".ini"), applies
/// overrides "section.key=value" in order, and checks ranges and consistency. Keys that a file omits have the values of
/// its base (`base = gtx1080`, `base = ../mine.ini`: a shipped GPU, or a file relative to it), or the defaults. Unknown
/// sections and keys are errors. Throws input_error with FILE:LINE:COL.
gpu_config load_config(const std::string& name_or_file, const std::vector<std::string>& overrides = {});

/// Options for reading the files of a configuration, and the list of files read.
struct config_reading {
  /// Reads a file that a configuration names as its base, except shipped ones. If not set, any file may be a base.
  std::function<std::string(const std::string& file)> read_base;
  std::vector<std::string> files;         // the requested file, its base, the base of that, and so on
  std::vector<std::string> former_names;  // of parameters, as files and overrides used them ("sm.warp_dealing")
};
gpu_config load_config(const std::string& name_or_file, const std::vector<std::string>& overrides, config_reading& how);

/// Throws input_error if a value is out of range or values are inconsistent.
void check(const gpu_config& config);

/// The effective configuration as an INI text that load_config reads back to the same values.
std::string to_ini(const gpu_config& config);

/// All parameters in order as ("section.key", value as text).
std::vector<std::pair<std::string, std::string>> flatten(const gpu_config& config);

/// The file that load_config reads for this name. Throws input_error if there is no such GPU.
std::string config_file(const std::string& name_or_file);

}  // namespace heddle
