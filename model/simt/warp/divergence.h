// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/simt/warp/warp_state.h"

namespace heddle::simt {

// What only warps with independent lanes do (warp_state::independent). All leave (pc, active) at the next instruction
// to execute; no lane is active when all live ones wait. Source: NVIDIA Volta white paper, independent thread
// scheduling; the convergence frames follow US patent application 2016/0019066.

/// Turns of loops without atomics and volatile accesses after which another path gets its turn.
constexpr std::uint32_t plain_turns = 32;

/// The active lanes, or some of them, jumped back. Another path runs next if there is one: at once if the loop may wait
/// for other lanes (`waits`), else now and then. Lanes at a reconvergence point go on alone after `patience` turns of
/// loops that may wait, for it may be them that are waited for.
void turn_back(warp_state& w, bool waits, std::uint32_t patience);
/// Another path runs next if one can. Returns whether one could.
bool give_way(warp_state& w);

/// Active lanes of `mask` wait at the block's barrier `number`; the other active ones go on behind the instruction at
/// pc.
void wait_at_barrier(warp_state& w, lane_mask mask, std::uint32_t number);
/// The lanes that wait at barrier `number` may go on behind it. They run when their turn comes: see run_next.
void leave_barrier(warp_state& w, std::uint32_t number);
/// With no lane active: lanes that may go on become active, if there are any.
void run_next(warp_state& w);

/// The member mask of an instruction that synchronises lanes (bar.warp.sync, shfl.sync, vote.sync): an operand, of kind
/// none for forms without a mask. Null for all other instructions.
const isa::operand* member_operand(const isa::instruction& i);
/// The union of the member masks of the lanes of `mask`, without those that have exited.
lane_mask named_lanes(const isa::operand& members, const warp_state& w, lane_mask mask);
/// Active lanes of `mask` wait until those of `named` wait likewise; all then go on, together where they stand at the
/// same instruction, which they execute with `granted` set. The other active lanes go on behind it.
void wait_for_lanes(warp_state& w, lane_mask mask, lane_mask named);

namespace detail {
// Parts of the two modes, joined by divergence.cpp.
bool branch_independent(const isa::instruction& i, warp_state& w, lane_mask taken);
void exit_independent(warp_state& w, lane_mask mask);
void settle_independent(warp_state& w);
}  // namespace detail

}  // namespace heddle::simt
