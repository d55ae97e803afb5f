// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "testbench/job/job.h"

namespace heddle::testbench {

/// Reads a job file; paths in it are relative to it, those in one that comes through standard input or a pipe to where
/// the program runs. Throws input_error with FILE:LINE:COL. Call validate() after.
job load_job(const std::string& file_name, const file_access& access = {});
/// The same from a text; `file_name` is for messages and relative paths.
job parse_job(const std::string& text, const std::string& file_name, const file_access& access = {});

}  // namespace heddle::testbench
