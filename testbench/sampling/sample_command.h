// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace heddle::testbench {

/// `heddle sample`: estimates the time of a long workload from few of its launches. Returns the exit code; throws
/// input_error.
int sample_command(const std::vector<std::string>& arguments);

}  // namespace heddle::testbench
