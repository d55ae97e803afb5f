// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "heddle/isa/instruction.h"
#include "heddle/simt/scalar/memory_access.h"
#include "heddle/simt/warp/control_flow.h"
#include "heddle/simt/warp/execute_function.h"
#include "heddle/simt/warp/warp_state.h"

namespace heddle::simt {

/// The value of an operand (one word or two, without modifiers) on one lane.
std::uint64_t lane_value(const isa::operand& o, const warp_state& w, unsigned lane);

/// Writes a reducing barrier's result for the lanes of `mask` that wait at it: of `threads` arrived threads, `count`
/// had the predicate true.
void write_reduction(const isa::instruction& i, warp_state& w, lane_mask mask, std::uint32_t count,
                     std::uint32_t threads);

}  // namespace heddle::simt
