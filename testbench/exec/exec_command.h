// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace heddle::testbench {

/// `heddle exec`: a CUDA program with our CUDA runtime under it. Returns the program's exit code; throws input_error.
int exec_command(const std::vector<std::string>& arguments);

/// What the library of CUDA programs calls `heddle` with when it starts it: no command of people's.
constexpr const char* attach_request = "__attach";
/// Serves the program that has started this process, at descriptor 3, with the options in HEDDLE_OPTIONS.
int attach_command();

}  // namespace heddle::testbench
