// SPDX-License-Identifier: MIT
// The SM's part of mbarriers: warps that wait at one until its phase is complete.
#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/isa/set_bits.h"
#include "heddle/simt/bulk/arrival_test.h"
#include "heddle/simt/execute.h"
#include "heddle/simt/warp/lane_paths.h"
#include "heddle/sm/sm.h"

namespace heddle {

// Lanes that find the phase complete go on after the latency; at once if others of their warp run meanwhile. Those that
// name different mbarriers do not wait. With a reconvergence stack none do: others of their warp could not arrive.
bool sm::mbarrier_wait(unsigned warp, const isa::instruction& i, simt::lane_mask mask, cycle_t cycle) {
  sub_partition& p = partition_of(warp);
  const unsigned slot = slot_of(warp);
  unsigned bad_lane = 0;
  simt::arrival_test t;
  try {
    t = simt::test_arrival(i, p.warp(slot), mask, bad_lane);
  } catch (const program_error& e) {
    p.fault(slot, bad_lane, e.what());
    return true;
  }
  const bool others = p.warp(slot).active != mask || simt::may_any_run(p.warp(slot));
  if (!independent_ || !t.same || (t.complete != 0 && others)) {
    simt::write_arrival(i, p.warp(slot), mask, t.complete);
    return false;
  }
  cycle_t limit = config_.tma.mbarrier_limit_cycles;
  if (i.src[2].kind != isa::operand_kind::none) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(mask));
    limit = std::min(limit, clock.cycles_in(simt::lane_value(i.src[2], p.warp(slot), lane)));
  }
  const cycle_t latency = config_.tma.mbarrier_latency_cycles;
  p.waits.stop_at_barrier(slot, mask, simt::mbarrier_number | t.address);
  if (t.complete != 0) p.waits.resume_from_mbarrier(slot, cycle + latency);
  else p.waits.limit_mbarrier_wait(slot, cycle + std::max(limit, latency));
  return true;
}

void sm::mbarrier_changed(unsigned cta_slot, cycle_t cycle) {
  const resident_block& b = resource_manager.block(cta_slot);
  for (const unsigned in_block : set_bits(b.live))
    partition_of(b.warps[in_block])
        .waits.resume_from_mbarrier(slot_of(b.warps[in_block]), cycle + config_.tma.mbarrier_latency_cycles);
}

}  // namespace heddle
