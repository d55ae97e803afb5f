// SPDX-License-Identifier: MIT
// Warps with independent lanes: instructions at which some lanes stop while others continue.
#include "heddle/simt/bulk/arrival_test.h"
#include "heddle/simt/warp/divergence.h"
#include "heddle/simt/warp/lane_paths.h"
#include "heddle/sub_partition/stream/executed_stream.h"

namespace heddle {

bool executed_stream::lanes_present(unsigned slot, simt::lane_mask mask, cycle_t cycle) const {
  warp_slot& w = s_.warps[slot];
  if (w.state.granted) {
    w.state.granted = false;
    return true;
  }
  if (w.state.active == w.state.live || mask == 0) return true;
  const simt::lane_mask named = simt::named_lanes(*simt::member_operand(*w.next->instruction), w.state, mask);
  if ((named & ~mask) == 0) return true;
  const std::uint32_t sequence = w.state.pc + 1;
  simt::wait_for_lanes(w.state, mask, named);
  continue_with(slot, sequence, cycle);
  return false;
}

// Some lanes have stopped in `cycle`. The warp continues with others, or waits if none can run.
void executed_stream::continue_with(unsigned slot, std::uint32_t sequence, cycle_t cycle) const {
  warp_slot& w = s_.warps[slot];
  if (w.state.active == 0) {
    w.phase = warp_phase::at_barrier;
    w.timer = never;
    s_.scheduler.set_waiting(slot);
    return;
  }
  const bool redirected = w.state.pc != sequence;
  const cycle_t known = redirected ? cycle + s_.config.branch.latency_cycles : cycle + 1;
  s_.control.settle(slot, cycle + 1, fetched(slot, sequence, known), redirected);
}

void executed_stream::lanes_at_barrier(unsigned slot, simt::lane_mask mask, cycle_t cycle) const {
  warp_slot& w = s_.warps[slot];
  const std::uint32_t sequence = w.state.pc + 1;
  w.phase = warp_phase::waiting;
  w.timer = never;
  // The last arrival resumes the waiting lanes before the call returns; this warp's lanes may be among them.
  const bool waits = s_.supervisor.barrier_arrive(w.state.slot, *w.next->instruction, mask, cycle);
  if (s_.faults.halted()) return;
  if (!waits) simt::advance(w.state);
  if (w.phase == warp_phase::waiting) continue_with(slot, sequence, cycle);
}

void executed_stream::wait_at_barrier(unsigned slot, simt::lane_mask mask, unsigned number) const {
  warp_slot& w = s_.warps[slot];
  simt::wait_at_barrier(w.state, mask, number);
  w.phase = w.state.active == 0 ? warp_phase::at_barrier : warp_phase::waiting;
  if (w.state.active == 0) s_.scheduler.set_waiting(slot);
}

bool executed_stream::all_wait(const warp_slot& w) const {
  return independent_ && w.state.active == 0 && !simt::may_any_run(w.state);
}

bool executed_stream::end_mbarrier_waits(warp_slot& w, bool any) const {
  if (!independent_) return false;
  std::vector<std::uint32_t> ended;
  unsigned bad_lane = 0;  // the mbarriers were checked when the lanes stopped
  for (const simt::lane_path& p : w.state.paths) {
    if (p.wait != simt::path_wait::barrier || p.wanted < simt::mbarrier_number) continue;
    const isa::instruction& i = *w.program->code[p.pc].instruction;
    if (!any || simt::test_arrival(i, w.state, p.mask, bad_lane).complete != 0) ended.push_back(p.wanted);
  }
  for (const std::uint32_t number : ended) {
    for (const simt::lane_path& p : w.state.paths) {
      if (p.wait != simt::path_wait::barrier || p.wanted != number) continue;
      const isa::instruction& i = *w.program->code[p.pc].instruction;
      simt::write_arrival(i, w.state, p.mask, simt::test_arrival(i, w.state, p.mask, bad_lane).complete);
    }
    simt::leave_barrier(w.state, number);
  }
  return !ended.empty();
}

void executed_stream::issue_bulk(unsigned slot, simt::lane_mask mask, cycle_t cycle) const {
  const warp_slot& w = s_.warps[slot];
  if (mask != 0) s_.supervisor.bulk_copies(w.state.slot, *w.next->instruction, mask, cycle);
}

// The lanes of `mask` have exited while others live. The remaining lanes of the path, if any, continue at `sequence`.
void executed_stream::lanes_exit(unsigned slot, simt::lane_mask mask, std::uint32_t sequence, cycle_t cycle) const {
  warp_slot& w = s_.warps[slot];
  w.phase = w.state.active == 0 ? warp_phase::at_barrier : warp_phase::waiting;
  w.timer = never;
  s_.supervisor.lanes_exited(w.state.slot, mask, cycle);
  if (!s_.faults.halted() && w.phase == warp_phase::waiting) continue_with(slot, sequence, cycle);
}

}  // namespace heddle
