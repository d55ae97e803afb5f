// SPDX-License-Identifier: MIT
// Control flow of trace-driven warps: each trace record gives the next instruction and its active lanes.
#include "heddle/sub_partition/sub_partition.h"

namespace heddle {

void sub_partition::follow(warp_slot& w, const isa::recorded_block* recording) const {
  w.barrier_lanes = 0;
  w.step = nullptr;
  w.jumps = independent_;
  if (recording == nullptr) return;
  seek(w, 0);
  w.jumps = true;
  w.state.independent = false;
  w.state.pc = w.step->instruction;
  w.state.active = w.step->mask;
}

// Loads the segment that holds the record at `position`. Returns false if the warp has no such record.
bool sub_partition::seek(warp_slot& w, std::uint64_t position) {
  auto piece = w.state.block->recording->piece(w.state.warp_in_block, position);
  if (!piece) return false;
  w.held_segment = std::move(piece);
  w.piece = w.held_segment.get();
  w.step = w.piece->first + (position - w.piece->position);
  w.last_step = w.piece->last;
  return true;
}

// Some lanes wait at a barrier. Returns true if the next record with active lanes involves only other lanes. Records
// without active lanes belong to the record after them; the end of the warp involves all lanes.
bool sub_partition::lanes_go_on(const warp_slot& w) {
  if ((w.state.live & ~w.barrier_lanes) == 0) return false;
  const isa::execution_record* s = w.step;
  while (s != w.last_step && s->mask == 0) ++s;
  const std::uint32_t lanes = s != w.last_step ? s->mask : w.piece->ends ? 0 : w.piece->next_lanes;
  return lanes != 0 && (lanes & w.barrier_lanes) == 0;
}

// A trace records which lanes take a branch. That the branch diverged follows from the records before and after it.
bool sub_partition::recorded_branch(warp_slot& w, simt::lane_mask mask) {
  const bool first = w.step == w.piece->first && w.piece->position == 0;
  const simt::lane_mask before = first ? mask : w.step[-1].mask;
  const std::uint32_t fall_through = w.state.pc + 1;
  next_step(w);
  const simt::lane_mask others = w.state.pc == fall_through ? w.state.active : before;
  return mask != 0 && (others & ~mask) != 0;
}

void sub_partition::recorded_addresses(const warp_slot& w, lsu_transaction& t) {
  if (const isa::lane_addresses* shared = w.piece->shared_addresses(*w.step)) {
    t.shared_addresses = shared->at;
    t.differing_bits = shared->differing_bits;
  } else {
    w.piece->addresses(*w.step, t.own_addresses);
  }
}

void sub_partition::recorded_exit(unsigned slot, simt::lane_mask mask, cycle_t cycle) {
  warp_slot& w = slots_[slot];
  const bool last = w.step == w.last_step;
  const simt::lane_mask gone = last ? w.state.live : mask & w.state.live;
  w.state.live &= ~gone;
  if (last) {
    w.phase = warp_phase::exited;
    scheduler.set_waiting(slot);
    supervisor_.lanes_exited(w.state.slot, gone, cycle);
    if (!halted_ && w.loads + w.queued == 0) set_timer(slot, cycle + 1);
    return;
  }
  const std::uint32_t sequence = w.state.pc + 1;
  next_step(w);
  w.phase = warp_phase::waiting;
  w.timer = never;
  if (gone != 0 && (independent_ || w.state.live == 0)) supervisor_.lanes_exited(w.state.slot, gone, cycle);
  if (!halted_) settle(slot, cycle + 1, fetched(slot, sequence, cycle + 1), leaves(w, sequence));
}

// While it waits, the warp is already at the record after its BAR.
void sub_partition::recorded_barrier(unsigned slot, simt::lane_mask mask, cycle_t cycle) {
  warp_slot& w = slots_[slot];
  const isa::instruction& bar = *w.next->instruction;
  const simt::lane_mask lanes = bar.uniform ? w.state.live : mask & w.state.live;
  w.sequence = w.state.pc + 1;
  next_step(w);
  w.timer = never;
  if (lanes != 0) {
    w.phase = warp_phase::at_barrier;
    w.barrier_lanes |= lanes;
    const bool waits = supervisor_.barrier_arrive(w.state.slot, bar, lanes, cycle);
    if (halted_) return;
    if (!waits) w.barrier_lanes &= ~lanes;
    // The barrier is already complete and a timer is set, or no other lanes can continue.
    if (waits && (w.barrier_lanes == 0 || !lanes_go_on(w))) {
      scheduler.set_waiting(slot);
      return;
    }
  }
  settle(slot, cycle + 1, fetched(slot, w.sequence, cycle + 1), leaves(w, w.sequence));
}

}  // namespace heddle
