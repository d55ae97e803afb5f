// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace heddle::testbench {

/// Runs the program with these arguments (without its name) and returns the exit code: 0 success, 1 the simulated
/// program failed, 2 bad input, 3 a defect in Heddle. Prints every error.
int run_program(const std::vector<std::string>& arguments);

}  // namespace heddle::testbench
