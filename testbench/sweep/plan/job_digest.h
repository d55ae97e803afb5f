// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "testbench/job/job.h"

namespace heddle::testbench {

/// The hash of a job's text and of the content of all files that it names. The content is kept in the job: it runs
/// with the hashed content, even if the files change in the meantime. Throws input_error.
std::string job_digest(const std::string& text, job& j);

}  // namespace heddle::testbench
