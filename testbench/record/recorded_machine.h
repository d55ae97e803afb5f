// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "heddle/config/config.h"

namespace heddle::testbench {

/// What a trace says of the machine that ran it: the GPU's name, and a hash of all parameters.
std::string recorded_machine(const gpu_config& config);

}  // namespace heddle::testbench
