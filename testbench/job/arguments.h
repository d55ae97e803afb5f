// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "testbench/job/job.h"

namespace heddle::testbench {

/// Names of the scalar kinds of arguments: u8 … f64.
const std::vector<std::string>& scalar_names();
/// A scalar argument of kind `name` from its text ("u32", "7"). Throws input_error.
argument parse_scalar(const std::string& name, const std::string& text, const place& where);
/// The bytes of "0a00". Throws input_error.
std::vector<std::uint8_t> parse_hex_bytes(const std::string& text, const place& where);
/// "zero", "iota32", "iotaf" or "random:SEED". Throws input_error.
void parse_fill(const std::string& text, buffer& b);

/// The job for one kernel launch from the command line. An empty `entry` selects the only kernel of the module. Each
/// `--arg` becomes an argument, and a buffer and an output where it names one. Throws input_error.
job job_of_arguments(const std::vector<std::string>& arguments, const file_access& access = {});

}  // namespace heddle::testbench
