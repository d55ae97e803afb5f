// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/stream/recorded_stream.h"

#include <fmt/format.h>
#include <algorithm>
#include <cstring>

#include "heddle/sub_partition/warp/copy_groups.h"

namespace heddle {

recorded_stream::recorded_stream(const surroundings& s)
    : instruction_stream(s), independent_(s.config.sub_partition.divergence == choice::divergence::independent) {}

void recorded_stream::begin(warp_slot& w) const {
  w.barrier_lanes = 0;
  w.jumps = true;
  seek(w, 0);
  w.state.independent = false;
  w.state.pc = w.record->instruction;
  w.state.active = w.record->mask;
}

// Loads the segment that holds the record at `position`. Returns false if the warp has no such record.
bool recorded_stream::seek(warp_slot& w, std::uint64_t position) {
  auto segment = w.state.block->recording->segment(w.state.warp_in_block, position);
  if (!segment) return false;
  w.segment = std::move(segment);
  w.record = w.segment->first + (position - w.segment->position);
  w.last_record = w.segment->last;
  return true;
}

// Records without active lanes belong to the record after them; the end of the warp involves all lanes.
bool recorded_stream::lanes_go_on(const warp_slot& w) const {
  if ((w.state.live & ~w.barrier_lanes) == 0) return false;
  const isa::execution_record* s = w.record;
  while (s != w.last_record && s->mask == 0) ++s;
  const std::uint32_t lanes = s != w.last_record ? s->mask : w.segment->ends ? 0 : w.segment->next_lanes;
  return lanes != 0 && (lanes & w.barrier_lanes) == 0;
}

// A trace records which lanes take a branch. That the branch diverged follows from the records before and after it.
bool recorded_stream::branch(warp_slot& w, simt::lane_mask mask) const {
  const bool first = w.record == w.segment->first && w.segment->position == 0;
  const simt::lane_mask before = first ? mask : w.record[-1].mask;
  const std::uint32_t fall_through = w.state.pc + 1;
  next_record(w);
  const simt::lane_mask others = w.state.pc == fall_through ? w.state.active : before;
  return mask != 0 && (others & ~mask) != 0;
}

void recorded_stream::issue_exit(unsigned slot, simt::lane_mask mask, cycle_t cycle, unsigned) const {
  warp_slot& w = s_.warps[slot];
  const bool last = w.record == w.last_record;
  const simt::lane_mask gone = last ? w.state.live : mask & w.state.live;
  w.state.live &= ~gone;
  if (last) return exited(slot, gone, cycle);
  const std::uint32_t sequence = w.state.pc + 1;
  next_record(w);
  w.phase = warp_phase::waiting;
  w.timer = never;
  if (gone != 0 && (independent_ || w.state.live == 0)) s_.supervisor.lanes_exited(w.state.slot, gone, cycle);
  if (!s_.faults.halted()) s_.control.settle(slot, cycle + 1, fetched(slot, sequence, cycle + 1), w.leaves(sequence));
}

// While it waits, the warp is already at the record after its BAR.
void recorded_stream::issue_barrier(unsigned slot, simt::lane_mask mask, cycle_t cycle) const {
  warp_slot& w = s_.warps[slot];
  const isa::instruction& bar = *w.next->instruction;
  const simt::lane_mask lanes = bar.uniform ? w.state.live : mask & w.state.live;
  w.sequence = w.state.pc + 1;
  next_record(w);
  w.timer = never;
  if (lanes != 0) {
    w.phase = warp_phase::at_barrier;
    w.barrier_lanes |= lanes;
    const bool waits = s_.supervisor.barrier_arrive(w.state.slot, bar, lanes, cycle);
    if (s_.faults.halted()) return;
    if (!waits) w.barrier_lanes &= ~lanes;
    // The barrier is already complete and a timer is set, or no other lanes can continue.
    if (waits && (w.barrier_lanes == 0 || !lanes_go_on(w))) {
      s_.scheduler.set_waiting(slot);
      return;
    }
  }
  s_.control.settle(slot, cycle + 1, fetched(slot, w.sequence, cycle + 1), w.leaves(w.sequence));
}

bool recorded_stream::addresses(unsigned slot, simt::lane_mask, lsu_transaction& t) const {
  const warp_slot& w = s_.warps[slot];
  t.data = false;
  if (const isa::lane_addresses* shared = w.segment->shared_addresses(*w.record)) {
    t.shared_addresses = shared->at;
    t.differing_bits = shared->differing_bits;
  } else {
    w.segment->addresses(*w.record, t.own_addresses);
  }
  return true;
}

// A trace has one end of a copy only. The lanes write side by side.
bool recorded_stream::copy_target_of(unsigned, lsu_transaction& t, copy_target& to) const {
  t.global_mask = to.lanes;
  for (unsigned lane = 0; lane < isa::warp_size; ++lane) to.offsets[lane] = std::uint64_t{lane} * t.bytes_per_lane;
  return true;
}

void recorded_stream::write_copy(const warp_slot&, lsu_transaction& t) const {
  t.differing_bits = lsu_transaction::not_known;
}

void recorded_stream::store_data(const warp_slot&, lsu_transaction& t) const {
  std::memset(t.words, 0, sizeof t.words[0] * std::max(1, t.bytes_per_lane / 4));  // traces hold no data
}

void recorded_stream::exchange(warp_slot& w, simt::context_image& image) const {
  image.blank(std::size_t{w.launch->program->registers} * isa::warp_size);
  exchange_state(w, image);
  std::uint64_t at = position(w);
  image(at);
  image(w.barrier_lanes);
  if (image.reading()) restored(w, known_wait(w) && seek(w, at) && w.state.pc == w.record->instruction);
}

void recorded_stream::exchange_place(warp_slot& w, state_image& image) const {
  std::uint64_t at = image.reading() ? 0 : position(w);
  image(at);
  if (image.reading() && !seek(w, at)) throw state_error("a warp is behind the end of its trace");
}

// Machine code has addresses instead of lines.
std::string recorded_stream::place_of(const warp_slot& w, const isa::instruction& i) const {
  return fmt::format("{}, at 0x{:x}", w.launch->program->file, i.line);
}

// A trace-driven warp's state has no lanes.
std::vector<std::string> recorded_stream::lane_places(const warp_slot& w, unsigned barrier) const {
  return {(w.phase == warp_phase::at_barrier ? "waits at barrier " + std::to_string(barrier) + ", " : "is at ") +
          place_of(w, *w.next->instruction)};
}

}  // namespace heddle
