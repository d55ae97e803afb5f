// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace heddle::testbench {

/// `heddle whatif`. Returns the exit code. Throws input_error before the first run, if the workload does not run on the
/// machine as it is, or if results cannot be written.
int whatif_command(const std::vector<std::string>& arguments);

}  // namespace heddle::testbench
