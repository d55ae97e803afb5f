// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "testbench/program/command_table.h"

namespace heddle::testbench {

/// Throws input_error if a file argument is recognisably of another kind than the command takes (CUDA source, an
/// executable, a GPU's configuration, a trace …). The one-line message says what the file is and how to use it. All
/// other files are judged by their reader.
void refuse_wrong_files(const command& c, const std::vector<std::string>& arguments);

}  // namespace heddle::testbench
