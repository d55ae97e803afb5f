// SPDX-License-Identifier: MIT
// Shared memory between two barriers of a block (phase_check.h), and the marks of its cells when a phase cannot tell.
#include <algorithm>

#include "heddle/isa/set_bits.h"
#include "heddle/sanitize/race_check.h"

namespace heddle::sanitize {

// True: the accesses do not race. False: the cells have all marks of the phase, and tell.
bool race_check::passes_phase(const current& c, simt::lane_mask lanes, const access_shape& shape) {
  phase_check& phase = c.at->phase;
  const watched_access& a = *c.access;
  const bool strong = c.mark.is(access_mark::strong);
  if (strong && phase.lists_strong() && shape.pattern == nullptr) {  // it would hardly be made again
    mark_phase(*c.at);
    phase.list_plain_alone();
  }
  if (strong && !phase.lists_strong()) {
    if (!phase.excludes(a.addresses, lanes, a.bytes, shape)) {
      mark_phase(*c.at);
      phase.close();
    }
    return false;
  }
  const sequence sync = independent_ ? c.warp_sync : now_ - 1;
  const phase_check::access now{c.mark, c.warp, c.last_release, sync,        c.tile_sync,
                                c.tile, lanes,  a.bytes,        a.addresses, shape};
  if (phase.passes(now)) return true;
  const bool again = phase.is_full();
  mark_phase(*c.at);
  if (again && phase.passes(now)) return true;
  phase.close();
  return false;
}

// What copies (cp.async) write is not checked by the phase, as long as they are in flight and until the next barrier.
void race_check::leave_phase(place& p, const watched_access& a, simt::lane_mask lanes) {
  bool all = true;
  for (const unsigned lane : set_bits(lanes)) all = p.phase.copies_to(a.addresses[lane], a.bytes) && all;
  if (all) return;
  mark_phase(p);
  p.phase.close();
}

void race_check::begin_phase(place& p) {
  p.phase.begin();
  for (const std::vector<copy>& of_warp : p.of_threads)
    for (const copy& k : of_warp)
      for (const span& s : k.spans)
        if (s.writes) p.phase.copies_to(s.address, s.bytes);  // also those that others of the warp have waited for
  exclude_handed(p);
}

// Marks the cells as the accesses of the phase would have done: none of them races.
void race_check::mark_phase(place& p) {
  const sequence begin = p.clock->block_sync();
  const auto is_old = [&](const access_mark& m) { return m.number <= begin || !p.clock->holds(m); };
  const auto reads = [&](shadow_cell& cell, const access_mark& own, const phase_check::listed& from) {
    const auto joins = [&](access_mark& m) {
      if (m.warp != own.warp) return false;
      const bool strong = own.is(access_mark::strong), after = m.number <= from.sync;
      if (m.number != own.number && (strong ? after || m.lanes == own.lanes : after && p.phase.has_past())) {
        m = own;  // it comes after it
        return true;
      }
      if (m.what != own.what || (m.number != own.number && m.number <= from.release)) return false;
      m.lanes |= own.lanes;
      return true;
    };
    if (is_old(cell.read)) {
      cell.read = own;
      if (cell.more_reads != nullptr) cell.more_reads->clear();
      return;
    }
    if (joins(cell.read)) return;
    if (cell.more_reads != nullptr) {
      const auto earlier = cell.more_reads->of(own.warp);
      if (std::any_of(earlier.begin(), earlier.end(), joins)) return;
    }
    p.shared->add_read(cell, own);
  };
  p.phase.each([&](const phase_check::listed& from, unsigned lane, std::uint32_t offset) {
    access_mark own = from.mark;
    own.lanes = 1u << lane;
    const unsigned bytes = from.bytes;
    if (bytes < 4) p.shared->divide();
    const unsigned step = p.shared->bytes_per_cell();
    for (std::uint32_t at = offset; at < offset + bytes; at += step) {
      shadow_cell& cell = p.shared->at(at);
      if (!own.is(access_mark::writes)) {
        if (is_old(cell.write)) cell.write = {};
        reads(cell, own, from);
        continue;
      }
      // The last plain write before atomics is kept beside them.
      const auto stays = [&](const access_mark& m) {
        return own.is(access_mark::strong) && m.is(access_mark::writes) && !m.is(access_mark::strong) && !is_old(m);
      };
      cell.read = stays(cell.write) ? cell.write : stays(cell.read) ? cell.read : access_mark{};
      cell.write = own;
      if (cell.more_reads != nullptr) cell.more_reads->clear();
    }
  });
  p.phase.clear_list();
}

}  // namespace heddle::sanitize
