// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace heddle::testbench {

/// `heddle sweep`. Returns the exit code: 1 if a point failed. Throws input_error before the first run, or if results
/// cannot be written.
int sweep_command(const std::vector<std::string>& arguments);

}  // namespace heddle::testbench
