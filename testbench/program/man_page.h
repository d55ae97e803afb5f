// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "testbench/program/command_table.h"

namespace heddle::testbench {

/// The manual page of the program, heddle(1), and of one command, such as heddle-run(1), generated from the option
/// tables.
std::string program_man_page();
std::string command_man_page(const command& c);

}  // namespace heddle::testbench
