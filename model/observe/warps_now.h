// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "heddle/sub_partition/account/warp_state.h"
#include "heddle/tlm/kernel/clock_timing.h"

namespace heddle {

class sm;
struct warp_slot;

/// A resident warp between two cycles.
struct warp_now {
  unsigned warp = 0;  // warp id of the SM
  const warp_slot* slot = nullptr;
  warp_stall state = warp_stall::selected;  // in the last cycle; not_selected: it is eligible
};

/// The resident warps of an SM that is in step with the GPU's time (gpu::bring_into_step), in the order of their ids.
/// `cycle`: of the GPU. It changes nothing, and needs no sampling in the cycles before, so the state of a warp that
/// waits for a unit is that of the unit's input now.
std::vector<warp_now> warps_now(const sm& s, cycle_t cycle);

}  // namespace heddle
