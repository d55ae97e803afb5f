// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/issue/memory_hold.h"

#include "heddle/isa/set_bits.h"

namespace heddle {

void memory_hold::update(cycle_t cycle) {
  std::uint64_t wanting = held_, loads = 0;
  for (const unsigned slot : set_bits(scheduler_.ready(isa::unit::ldst))) {
    if (warps_[slot].next->global_access) wanting |= std::uint64_t{1} << slot;
  }
  for (const unsigned slot : set_bits(wanting)) {
    if (warps_[slot].next->cached_load) loads |= std::uint64_t{1} << slot;
  }
  const warp_view view{scheduler_.eligible(cycle), scheduler_.waiting(), cycle};
  const std::uint64_t held = wanting & scheduler_.policy().held(view, wanting, loads, supervisor_.memory_saturated());
  for (const unsigned slot : set_bits(held & ~held_)) {
    scheduler_.leave_ready(slot, warps_[slot], cycle, account_);
    warps_[slot].phase = warp_phase::held;
  }
  for (const unsigned slot : set_bits(held_ & ~held)) {
    warp_slot& w = warps_[slot];
    account_.settle(w, cycle);
    w.phase = warp_phase::ready;
    scheduler_.add_ready(slot, w.next->unit, cycle);
  }
  held_ = held;
}

}  // namespace heddle
