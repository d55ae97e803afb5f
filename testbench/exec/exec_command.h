// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace heddle::testbench {

/// `heddle exec`: a CUDA program with our CUDA runtime under it. Returns the program's exit code; throws input_error.
int exec_command(const std::vector<std::string>& arguments);

}  // namespace heddle::testbench
