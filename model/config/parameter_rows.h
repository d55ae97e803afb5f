// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "heddle/config/parameter_table.h"

namespace heddle {

/// The rows of parameter_rows.cpp, without their defaults.
std::vector<parameter> parameter_rows();

}  // namespace heddle
