// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/isa/instruction.h"
#include "heddle/simt/warp/warp_state.h"

namespace heddle::simt {

/// Divergence, by reconvergence stack or (warp_state::independent) with a program counter per lane, see
/// docs/divergence.md. All leave (pc, active) at the next instruction to execute. With independent lanes exit_lanes may
/// leave none active while some live: all those wait (simt/warp/divergence.h). A branch: lanes of `taken` jump to
/// i.target, the other active lanes fall through. Returns true if the warp diverged.
bool branch(const isa::instruction& i, warp_state& w, lane_mask taken);
/// Lanes of `mask` exit. pc advances for the rest, or control goes to other lanes. No live lane: warp is done.
void exit_lanes(warp_state& w, lane_mask mask);
/// pc + 1, meeting the lanes that wait there if it is a reconvergence point.
void advance(warp_state& w);

}  // namespace heddle::simt
