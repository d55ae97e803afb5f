// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/warp_residence.h"

#include <algorithm>

#include "heddle/config/error.h"

namespace heddle {

warp_residence::warp_residence(const surroundings& s)
    : s_(s),
      executed_(&s.executed),
      independent_(s.config.sub_partition.divergence == choice::divergence::independent) {}

void warp_residence::occupy(unsigned slot, const resident_launch& launch, const simt::block_context& block,
                            unsigned warp_in_block, unsigned allocated_registers, cycle_t cycle) {
  warp_slot& w = s_.warps[slot];
  invariant(w.phase == warp_phase::empty, "a warp was placed in a slot that is taken");
  w.launch = &launch;
  w.program = launch.decoded.get();
  w.stream = block.recording == nullptr ? executed_ : launch.program->follows ? &s_.followed : &s_.recorded;
  s_.account.placed(w, cycle);
  w.state.regs = s_.register_file.allocate(slot, w.stream->registers_kept(launch), allocated_registers);
  w.state.block = &block;
  w.steps = nullptr;
  w.counts = block.counts;
  w.counted = w.counts != nullptr;
  w.state.warp_in_block = warp_in_block;
  w.state.slot = slot * s_.config.sm.sub_partitions + s_.index;
  w.loads = w.stores = w.queued = 0;
  w.copying = 0;
  w.copies.clear();
  w.products.clear();
  w.registers = launch.program->registers;
  w.bulk.clear();
  do ++w.residency;
  while (s_.departed.contains(slot, w.residency));
  s_.dependence.clear(slot, *w.program);
  s_.fetch.clear(slot, launch.launch_id);
  s_.scheduler.placed(slot, cycle);
  s_.warps.set_active(slot);
}

void warp_residence::occupy_new(unsigned slot, const resident_launch& launch, const simt::block_context& block,
                                unsigned warp_in_block, unsigned allocated_registers, cycle_t cycle) {
  occupy(slot, launch, block, warp_in_block, allocated_registers, cycle);
  warp_slot& w = s_.warps[slot];
  ++w.counters->warps;
  w.state.predicates.fill(0);
  w.state.predicates[isa::pt] = simt::all_lanes;
  const unsigned threads = std::min(launch.threads_per_block() - warp_in_block * isa::warp_size, isa::warp_size);
  w.state.start(threads == isa::warp_size ? simt::all_lanes : (1u << threads) - 1, independent_);
  w.stream->begin(w);
}

std::uint64_t warp_residence::vacate(unsigned slot, cycle_t cycle) {
  warp_slot& w = s_.warps[slot];
  s_.account.settle(w, cycle);
  stall_account::settle_active(w, cycle);
  w.phase = warp_phase::empty;
  w.segment.reset();
  s_.warps.clear_active(slot);
  s_.scheduler.removed(slot);
  s_.register_file.release(slot);
  return w.executed;
}

void warp_residence::finish(unsigned slot, cycle_t cycle) {
  const std::uint64_t executed = vacate(slot, cycle);
  const warp_slot& w = s_.warps[slot];
  // The supervisor may reuse the slot at once.
  departed_warp gone{slot, w.residency, w.stores, 0, w.launch, w.state.block->index, w.state.warp_in_block};
  gone.block = s_.supervisor.warp_finished(w.state.slot, gone.stores != 0, executed, cycle);
  if (gone.stores != 0) s_.departed.add(gone);
}

}  // namespace heddle
