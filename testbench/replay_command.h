// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace heddle::testbench {

/// `heddle replay`. Returns the exit code; throws input_error.
int replay_command(const std::vector<std::string>& arguments);

}  // namespace heddle::testbench
