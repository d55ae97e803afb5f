// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "testbench/job/job.h"

namespace heddle::testbench {

/// Reads a job file. Paths in it are relative to the job file; if it comes through standard input or a pipe, they are
/// relative to the working directory. Throws input_error with FILE:LINE:COL. Call validate() afterwards.
job load_job(const std::string& file_name, const file_access& access = {});
/// The same for a text; `file_name` is for messages and relative paths.
job parse_job(const std::string& text, const std::string& file_name, const file_access& access = {});

}  // namespace heddle::testbench
