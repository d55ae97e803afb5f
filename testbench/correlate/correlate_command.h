// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace heddle::testbench {

/// `heddle correlate`. Returns the exit code: 1 if a run failed, or if a chip's mean error is above --require. Throws
/// input_error before the first run, or if results cannot be written.
int correlate_command(const std::vector<std::string>& arguments);

}  // namespace heddle::testbench
