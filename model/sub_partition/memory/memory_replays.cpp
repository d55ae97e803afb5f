// SPDX-License-Identifier: MIT
// Replays: up to Kepler a memory instruction performs one pass per issue. Each further pass is issued again.
#include <algorithm>

#include "heddle/isa/set_bits.h"
#include "heddle/sub_partition/memory/memory_issue.h"

namespace heddle {

namespace {

unsigned halves_of(simt::lane_mask mask) { return ((mask & 0xffff) != 0) + ((mask >> 16) != 0); }

// Lanes that read the same constant share a pass.
unsigned different_addresses(const std::uint64_t* addresses, simt::lane_mask mask) {
  unsigned count = 0;
  while (mask != 0) {
    const std::uint64_t address = addresses[__builtin_ctz(mask)];
    for (const unsigned lane : set_bits(mask))
      if (addresses[lane] == address) mask &= ~(1u << lane);
    ++count;
  }
  return count;
}

}  // namespace

void memory_issue::count_replays(const warp_slot& w, const lsu_transaction& t) {
  issue_counters& c = *w.counters;
  // If a pass serves half a warp, the two passes of a warp without conflicts are one issue.
  const bool half_warps = config_.ldst.coalescing == choice::coalescing::half_warp;
  if (t.kind == lsu_kind::constant_load) {
    const unsigned more = different_addresses(t.addresses(), t.constant_mask) - 1;
    c.constant_replays += more;
    t.traffic.add(&instruction_traffic::replays, more);
    pending_replays_ += more;
    return;
  }
  if (t.shared_mask != 0) {
    const unsigned passes =
        banks_.passes(t.addresses(), t.shared_mask, t.bytes_per_lane, t.serialises_lanes(), t.differing_bits);
    const unsigned free = config_.shared_memory.banks < isa::warp_size ? halves_of(t.shared_mask) : 1;
    const unsigned more = passes - std::min(passes, free);
    c.shared_replays += more;
    t.traffic.add(&instruction_traffic::replays, more);
    pending_replays_ += more;
  }
  if (t.global_mask != 0) {
    coalesced_access lines;
    if (half_warps) coalesce_half_warps(t.addresses(), t.global_mask, t.bytes_per_lane, lines);
    else coalesce(t.addresses(), t.global_mask, t.bytes_per_lane, lines);
    const unsigned free = half_warps ? halves_of(t.global_mask) : 1;
    const unsigned words = t.local ? std::max<unsigned>(1, t.bytes_per_lane / 4) : 1;  // local words are lines apart
    const unsigned more = lines.count * words - std::min(lines.count, free);
    c.global_replays += more;
    t.traffic.add(&instruction_traffic::replays, more);
    pending_replays_ += more;
  }
}

}  // namespace heddle
