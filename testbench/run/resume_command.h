// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "testbench/options/option_parser.h"

namespace heddle::testbench {

option_parser options_of_resume();
/// `heddle resume`: goes on with a run from its checkpoint. Returns the exit code of the run; throws input_error.
int resume_command(const std::vector<std::string>& arguments);

}  // namespace heddle::testbench
