// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "testbench/job/job.h"
#include "testbench/text/json_tree.h"

namespace heddle::testbench {

/// Parses the textures of a job file; `j` already has its buffers. Throws input_error for an unknown type, a buffer
/// that is too small, and the like.
std::vector<texture> parse_textures(const json_value& all, const std::string& file, const job& j);

}  // namespace heddle::testbench
