// SPDX-License-Identifier: MIT
#pragma once

#include "testbench/job/job.h"
#include "testbench/text/json_tree.h"

namespace heddle::testbench {

/// Parses an argument of a launch. Throws input_error.
argument parse_argument(json_reader& r, const job& j);

}  // namespace heddle::testbench
