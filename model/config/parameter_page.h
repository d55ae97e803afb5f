// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "heddle/config/parameters.h"

namespace heddle {

/// The tables of docs/model/configuration.md: one per section, with a row per parameter.
std::string parameter_tables();

/// The effective configuration as in to_ini(), with each value's meaning, unit and range after it.
std::string to_described_ini(const gpu_config& config);

}  // namespace heddle
