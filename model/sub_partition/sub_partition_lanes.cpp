// SPDX-License-Identifier: MIT
// The issue stage for warps with independent lanes: instructions at which some lanes stop while others continue.
#include "heddle/config/error.h"
#include "heddle/simt/warp/divergence.h"
#include "heddle/sub_partition/sub_partition.h"

namespace heddle {

// Returns true if the instruction may execute on the lanes of `mask`. Otherwise these lanes wait for the other lanes
// that it names, and issue it again when all have arrived.
bool sub_partition::lanes_present(unsigned slot, simt::lane_mask mask, cycle_t cycle) {
  warp_slot& w = slots_[slot];
  if (w.state.granted) {
    w.state.granted = false;
    return true;
  }
  if (w.state.active == w.state.live || mask == 0) return true;
  const simt::lane_mask named = simt::named_lanes(*simt::member_operand(*w.next->instruction), w.state, mask);
  if ((named & ~mask) == 0) return true;
  const std::uint32_t sequence = w.state.pc + 1;
  simt::wait_for_lanes(w.state, mask, named);
  go_on(slot, sequence, cycle);
  return false;
}

// Some lanes have stopped in `cycle`. The warp continues with others, or waits if none can run.
void sub_partition::go_on(unsigned slot, std::uint32_t sequence, cycle_t cycle) {
  warp_slot& w = slots_[slot];
  if (w.state.active == 0) {
    w.phase = warp_phase::at_barrier;
    w.timer = never;
    scheduler.set_waiting(slot);
    return;
  }
  const bool redirected = w.state.pc != sequence;
  settle(slot, cycle + 1, fetched(slot, sequence, redirected ? cycle + config_.branch.latency_cycles : cycle + 1),
         redirected);
}

void sub_partition::lanes_at_barrier(unsigned slot, simt::lane_mask mask, cycle_t cycle) {
  warp_slot& w = slots_[slot];
  const std::uint32_t sequence = w.state.pc + 1;
  w.phase = warp_phase::waiting;
  w.timer = never;
  // The last arrival resumes the waiting lanes before the call returns; this warp's lanes may be among them.
  const bool waits = supervisor_.barrier_arrive(w.state.slot, *w.next->instruction, mask, cycle);
  if (halted_) return;
  if (!waits) simt::advance(w.state);
  if (w.phase == warp_phase::waiting) go_on(slot, sequence, cycle);
}

// The lanes of `mask` have exited while others live. The remaining lanes of the path, if any, continue at `sequence`.
void sub_partition::lanes_exit(unsigned slot, simt::lane_mask mask, std::uint32_t sequence, cycle_t cycle) {
  warp_slot& w = slots_[slot];
  w.phase = w.state.active == 0 ? warp_phase::at_barrier : warp_phase::waiting;
  w.timer = never;
  supervisor_.lanes_exited(w.state.slot, mask, cycle);
  if (!halted_ && w.phase == warp_phase::waiting) go_on(slot, sequence, cycle);
}

}  // namespace heddle
