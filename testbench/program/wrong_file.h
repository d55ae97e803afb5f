// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "testbench/program/command_table.h"

namespace heddle::testbench {

/// Throws input_error where a file that the command is given is plainly of another kind than it takes (CUDA source, a
/// program, a GPU's configuration, a trace …): one line that says what it is and what to do with it. Of anything else,
/// the reader of the file is the judge.
void refuse_wrong_files(const command& c, const std::vector<std::string>& arguments);

}  // namespace heddle::testbench
