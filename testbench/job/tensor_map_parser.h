// SPDX-License-Identifier: MIT
#pragma once

#include "testbench/job/job.h"
#include "testbench/text/json_tree.h"

namespace heddle::testbench {

/// Parses the value of an argument's key "tensor_map" into `a`: the 128 bytes of a CUtensorMap, but for the address of
/// its buffer. Throws input_error for what cuTensorMapEncodeTiled refuses, and for a tensor that exceeds its buffer.
void parse_tensor_map(json_reader& r, argument& a, const job& j);

}  // namespace heddle::testbench
