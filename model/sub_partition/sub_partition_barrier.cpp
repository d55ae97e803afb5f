// SPDX-License-Identifier: MIT
// Barriers in a sub-partition: its warps stop at them, receive reduction results, and resume.
#include "heddle/config/error.h"
#include "heddle/simt/execute.h"
#include "heddle/simt/warp/divergence.h"
#include "heddle/sub_partition/sub_partition.h"

namespace heddle {

void sub_partition::stop_at_barrier(unsigned slot, simt::lane_mask mask, unsigned number) {
  warp_slot& w = slots_[slot];
  if (w.step != nullptr) return;  // a trace-driven warp tracks this itself
  simt::wait_at_barrier(w.state, mask, number);
  w.phase = w.state.active == 0 ? warp_phase::at_barrier : warp_phase::waiting;
  if (w.state.active == 0) scheduler.set_waiting(slot);
}

void sub_partition::resume_from_barrier(unsigned slot, unsigned number, cycle_t cycle) {
  warp_slot& w = slots_[slot];
  if (w.step != nullptr) w.barrier_lanes = 0;
  else if (independent_) simt::leave_barrier(w.state, number);
  else invariant(w.phase == warp_phase::at_barrier, "a barrier released a warp that does not wait at it");
  // If other lanes of the warp run already, or another barrier has just released some, the released lanes only wait
  // until they are selected.
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
