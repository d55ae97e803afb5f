// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "heddle/sub_partition/dependence/code_blocks.h"

namespace heddle::control_codes {

/// Allocates the dependence counters of a program whose stall counts are known, and writes which counters each
/// instruction waits for.
void assign_counters(decoded_program& p, const std::vector<block>& blocks);

}  // namespace heddle::control_codes
