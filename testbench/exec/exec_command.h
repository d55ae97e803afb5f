// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace heddle::testbench {

/// `heddle exec`: runs a CUDA program with Heddle's CUDA runtime. Returns the program's exit code; throws input_error.
int exec_command(const std::vector<std::string>& arguments);

/// The internal command with which the CUDA library starts `heddle`; it is not for users.
constexpr const char* attach_request = "__attach";
/// Serves the program that has started this process, at descriptor 3, with the options in HEDDLE_OPTIONS.
int attach_command();

}  // namespace heddle::testbench
