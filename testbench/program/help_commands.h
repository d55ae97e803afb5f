// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace heddle::testbench {

/// `heddle help`, `version`, `completion`, `man`: print on stdout and return the exit code. Throw input_error.
int help_command(const std::vector<std::string>& arguments);
int version_command(const std::vector<std::string>& arguments);
int completion_command(const std::vector<std::string>& arguments);
int man_command(const std::vector<std::string>& arguments);

}  // namespace heddle::testbench
