// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "testbench/options/option_parser.h"

namespace heddle::testbench {

/// One command of the program. Its arguments are parsed by the table that `options` returns.
struct command {
  std::string name;
  std::vector<std::pair<const char*, const char*>> uses;  // what follows "heddle ", and its purpose
  option_parser (*options)();
  int (*run)(const std::vector<std::string>& arguments);  // returns the exit code; throws input_error
};

/// All commands, in the order in which the help lists them.
const std::vector<command>& command_table();
std::vector<std::string> command_names();
/// The command of this name. Throws input_error with a suggestion if there is none.
const command& command_named(const std::string& name);

/// The text of `heddle --help`.
std::string program_help();

}  // namespace heddle::testbench
