// SPDX-License-Identifier: MIT
// The L1's stores and atomics, which go on to the L2.
#include "heddle/memory/common/lane_data.h"
#include "heddle/memory/l1/l1_cache.h"

namespace heddle {

namespace {
unsigned number_of(std::uint8_t sectors) { return static_cast<unsigned>(__builtin_popcount(sectors)); }
}  // namespace

// Writes a store's bytes into the sectors that the line holds. Returns the sectors in which it is a hit.
std::uint8_t l1_cache::store_into_line(const l1_access& access, line_payload& p, l1_counters& c) {
  unsigned index = tags_.find(access.line);
  const bool allocates = store_allocates_ && !access.transaction->local;
  if (index == l1_tags::none) {
    if (!allocates) return 0;
    bool evicted = false;
    index = tags_.allocate(access.line, evicted);
    if (index == l1_tags::none) return 0;
    c.evictions += evicted;
  }
  l1_tags::line_state& line = tags_[index];
  const std::uint8_t held = access.sectors & line.valid;
  std::uint8_t* const to = tags_.data(index);
  const std::uint8_t* const from = p.line_data();
  const std::uint8_t* const enables = p.line_enables();
  for (unsigned s = 0; s < sectors_per_line; ++s) {
    if (!(held >> s & 1)) continue;
    for (unsigned b = s * sector_bytes; b < (s + 1) * sector_bytes; ++b)
      to[b] = static_cast<std::uint8_t>((from[b] & enables[b]) | (to[b] & ~enables[b]));
  }
  if (line.mshr != l1_tags::none) {
    mshr& m = mshrs_[line.mshr];
    m.stale |= m.pending & access.sectors;
  }
  const std::uint8_t hit = access.sectors & (line.valid | line.stored);
  if (allocates) line.stored |= access.sectors;
  if (hit != 0) tags_.touch(index);
  return hit;
}

tlm::tlm_sync_enum l1_cache::store(l1_access& access, l1_phase& phase) {
  if (!room_for_data()) return nack(access, phase);
  line_payload& p = make_request(access, gpu_request::kind::store, &access, l1_tags::none);
  lanes_to_bytes(*access.transaction, access.lanes, p.line_data(), p.line_enables());
  p.make_write(access.line);
  if (store_invalidates_ && !access.transaction->local) drop_sectors(access.line, access.sectors);
  l1_counters& c = counters[access.transaction->launch->launch_id];
  const unsigned all = number_of(access.sectors), hits = number_of(store_into_line(access, p, c));
  c.accesses += all;
  c.writes += all;
  c.hits += hits;
  c.write_hits += hits;
  c.misses += all - hits;
  ++c.write_requests;
  traffic_of(access).each([=](instruction_traffic& t) {
    ++t.l1_lines;
    t.l1_sectors += all;
    t.l1_hits += hits;
    t.l1_write_hits += hits;
    t.l1_write_misses += all - hits;
    t.flits += 1 + all;
  });
  access.ready_cycle = access.cycle;
  port_.push(p, access.cycle);
  return tlm::TLM_ACCEPTED;
}

// Atomics are performed in the L2. The L1's copy of their sectors is invalidated, as it would be too old for the warp's
// next load.
tlm::tlm_sync_enum l1_cache::atomic(l1_access& access, l1_phase& phase) {
  if (!room_for_data()) return nack(access, phase);
  drop_sectors(access.line, access.sectors);
  line_payload& p = make_request(access, gpu_request::kind::atomic, &access, l1_tags::none);
  p.make_atomic(access.line);
  p.request.sectors = access.sectors;
  lanes_to_atomic(*access.transaction, access.lanes, *p.request.atomic);
  ++counters[access.transaction->launch->launch_id].atomics;
  const atomic_cells cells = cells_of(*p.request.atomic);
  traffic_of(access).each([&cells](instruction_traffic& t) {
    ++t.l1_lines;
    ++t.atomics;
    t.atomic_cells += cells.different;
    t.atomic_turns += cells.passes;
    t.flits += 3;
  });
  access.ready_cycle = access.cycle;
  port_.push(p, access.cycle);
  return tlm::TLM_ACCEPTED;
}

}  // namespace heddle
