// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace heddle::testbench {

/// `heddle run`. Returns the exit code; throws input_error.
int run_command(const std::vector<std::string>& arguments);

}  // namespace heddle::testbench
