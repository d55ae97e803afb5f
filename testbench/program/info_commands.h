// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace heddle::testbench {

/// `heddle gpus`, `config`, `disasm`, `occupancy`: print on stdout and return the exit code. Throw input_error.
int gpus_command(const std::vector<std::string>& arguments);
int config_command(const std::vector<std::string>& arguments);
int disasm_command(const std::vector<std::string>& arguments);
int occupancy_command(const std::vector<std::string>& arguments);

}  // namespace heddle::testbench
