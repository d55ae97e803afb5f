// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/simt/warp/warp_state.h"

namespace heddle::simt {

// Functions for warps with independent lanes only (warp_state::independent). All leave (pc, active) at the next
// instruction to execute; no lane is active when all live ones wait. Source: NVIDIA Volta white paper, independent
// thread scheduling; the convergence frames follow US patent application 2016/0019066.

/// After this many back edges of loops without atomics and volatile accesses, another path runs.
constexpr std::uint32_t plain_back_edges = 32;

/// The active lanes, or some of them, took a back edge. Another path, if there is one, runs next: at once if the loop
/// may wait for other lanes (`waits`), otherwise after plain_back_edges back edges. Lanes that wait at a reconvergence
/// point continue alone after `patience` back edges of loops that may wait, because those loops may wait for them.
void take_back_edge(warp_state& w, bool waits, std::uint32_t patience);
/// Switches to another path if one can run; returns whether one could.
bool yield_to_other_path(warp_state& w);

/// The lanes of `mask`, which are active, wait at the block's barrier `number`. The other active lanes continue after
/// the instruction at pc.
void wait_at_barrier(warp_state& w, lane_mask mask, std::uint32_t number);
/// The lanes that wait at barrier `number` may continue after it. They run when run_next or another switch selects
/// them.
void leave_barrier(warp_state& w, std::uint32_t number);
/// If no lane is active, selects lanes that can run, if there are any.
void run_next(warp_state& w);

/// The member mask of an instruction that synchronises lanes (bar.warp.sync, shfl.sync, vote.sync): an operand, of kind
/// none for forms without a mask. Null for all other instructions.
const isa::operand* member_operand(const isa::instruction& i);
/// The union of the member masks of the lanes of `mask`, without lanes that have exited.
lane_mask named_lanes(const isa::operand& members, const warp_state& w, lane_mask mask);
/// The lanes of `mask` that name the same members as its first one. `mask`: not 0.
lane_mask lanes_naming_alike(const isa::operand& members, const warp_state& w, lane_mask mask);
/// The lanes of `mask`, which are active, wait until all lanes of `named` wait likewise. Then all continue; those at
/// the same instruction execute it together, with `granted` set. The other active lanes continue after the instruction
/// at pc.
void wait_for_lanes(warp_state& w, lane_mask mask, lane_mask named);

namespace detail {
// The independent-lanes side of the functions in divergence.cpp.
bool branch_independent(const isa::instruction& i, warp_state& w, lane_mask taken);
void exit_independent(warp_state& w, lane_mask mask);
void settle_independent(warp_state& w);
}  // namespace detail

}  // namespace heddle::simt
