// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "testbench/job/job.h"
#include "testbench/text/json_tree.h"

namespace heddle::testbench {

/// The textures of a job file; `j` has its buffers. Throws input_error: an unknown type, a buffer that is too small,
/// ...
std::vector<texture> parse_textures(const json_value& all, const std::string& file, const job& j);

}  // namespace heddle::testbench
