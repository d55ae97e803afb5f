// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/isa/recording.h"
#include "heddle/memory/common/touched_lines.h"
#include "heddle/sub_partition/dependence/decoded_program.h"

namespace heddle {

/// What an access to global memory does with its lines.
line_use use_of(const isa::instruction& i);

/// The lines of global memory that a recorded block accesses, one warp after another. Throws what its records throw.
std::vector<line_touch> lines_of(const isa::recorded_block& block, const resident_launch& launch);

}  // namespace heddle
