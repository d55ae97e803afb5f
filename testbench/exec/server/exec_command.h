// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "testbench/files/file_roles.h"
#include "testbench/options/options.h"
#include "testbench/run/run_signals.h"

namespace heddle {
struct gpu_config;
}

namespace heddle::testbench {

/// `heddle exec`: runs a CUDA program with Heddle's CUDA runtime. Returns the program's exit code; throws input_error.
int exec_command(const std::vector<std::string>& arguments);

/// Checks the result files of a run of the program that the options name. Throws input_error.
void check_program_files(const run_options& o, file_roles roles);
/// Runs it, writes the results, and ends this process with its exit code. Throws input_error before.
[[noreturn]] void run_program(const run_options& o, const gpu_config& config, run_signals& signals);

/// The internal command with which the CUDA library starts `heddle`; it is not for users.
constexpr const char* attach_request = "__attach";
/// Serves the program that has started this process, at descriptor 3, with the options in HEDDLE_OPTIONS.
int attach_command();

}  // namespace heddle::testbench
