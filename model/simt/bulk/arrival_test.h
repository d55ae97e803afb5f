// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/isa/instruction.h"
#include "heddle/simt/warp/warp_state.h"

namespace heddle::simt {

/// What lanes that execute SYNCS find at the mbarriers that they name.
struct arrival_test {
  lane_mask complete = 0;     // the phase that they wait for is complete
  std::uint32_t address = 0;  // of the mbarrier of the first lane, in the block's shared memory
  bool same = true;           // all lanes name this one
};

/// Tests the lanes of `mask`. Throws program_error (text without place) with `bad_lane` set if an mbarrier is outside
/// the block's shared memory or misaligned.
arrival_test test_arrival(const isa::instruction& i, const warp_state& w, lane_mask mask, unsigned& bad_lane);
/// Writes the result of SYNCS to the lanes of `mask`: true for those of `complete`.
void write_arrival(const isa::instruction& i, warp_state& w, lane_mask mask, lane_mask complete);

}  // namespace heddle::simt
