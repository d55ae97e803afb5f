// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/isa/instruction.h"
#include "heddle/simt/warp/warp_state.h"

namespace heddle::simt {

/// Divergence, by reconvergence stack or (warp_state::independent) with a program counter per lane, see
/// docs/model/divergence.md. All functions leave (pc, active) at the next instruction to execute. With independent
/// lanes, exit_lanes may leave no lane active while live lanes all wait (simt/warp/divergence.h).
///
/// A branch: lanes of `taken` jump to i.target, the other active lanes fall through. Returns true if the warp diverged.
bool branch(const isa::instruction& i, warp_state& w, lane_mask taken);
/// Lanes of `mask` exit. pc advances for the others, or control passes to other lanes. Without live lanes the warp is
/// done.
void exit_lanes(warp_state& w, lane_mask mask);
/// Advances to pc + 1. If that is a reconvergence point, the active lanes join those that wait there.
void advance(warp_state& w);

}  // namespace heddle::simt
