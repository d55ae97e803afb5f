// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace heddle::testbench {

/// `heddle report`. Returns the exit code; throws input_error.
int report_command(const std::vector<std::string>& arguments);

}  // namespace heddle::testbench
