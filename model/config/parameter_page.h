// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "heddle/config/parameters.h"

namespace heddle {

/// The tables of docs/configuration.md: a section each, a row for each parameter.
std::string parameter_tables();

/// The effective configuration as to_ini() has it, with what each value means, its unit and its range behind it.
std::string to_described_ini(const gpu_config& config);

}  // namespace heddle
