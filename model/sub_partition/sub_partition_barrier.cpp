// SPDX-License-Identifier: MIT
// Barriers as a sub-partition sees them: its warps stop at them, are given results and go on.
#include "heddle/config/error.h"
#include "heddle/simt/execute.h"
#include "heddle/simt/warp/divergence.h"
#include "heddle/sub_partition/sub_partition.h"

namespace heddle {

void sub_partition::stop_at_barrier(unsigned slot, simt::lane_mask mask, unsigned number) {
  warp_slot& w = slots_[slot];
  if (w.step != nullptr) return;  // it knows by itself
  simt::wait_at_barrier(w.state, mask, number);
  w.phase = w.state.active == 0 ? warp_phase::at_barrier : warp_phase::waiting;
  if (w.state.active == 0) scheduler.set_waiting(slot);
}

void sub_partition::resume_from_barrier(unsigned slot, unsigned number, cycle_t cycle) {
  warp_slot& w = slots_[slot];
  if (w.step != nullptr) w.barrier_lanes = 0;
  else if (independent_) simt::leave_barrier(w.state, number);
  else invariant(w.phase == warp_phase::at_barrier, "a barrier released a warp that does not wait at it");
  // Lanes that go on beside others, or with lanes that another barrier let go a moment before, wait for their turn
  // only.
  if (w.phase != warp_phase::at_barrier || w.timer != never) return;
  set_timer(slot, cycle);
  clock_.wake_at(cycle);
}

void sub_partition::deliver_reduction(unsigned slot, unsigned number, std::uint32_t count, std::uint32_t threads) {
  warp_slot& w = slots_[slot];
  if (!independent_) return simt::write_reduction(*w.next->instruction, w.state, w.state.active, count, threads);
  for (const simt::lane_path& p : w.state.paths) {
    if (p.wait == simt::path_wait::barrier && p.wanted == number)
      simt::write_reduction(*w.program->code[p.pc].instruction, w.state, p.mask, count, threads);
  }
}

}  // namespace heddle
