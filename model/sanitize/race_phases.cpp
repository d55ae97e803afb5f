// SPDX-License-Identifier: MIT
// Plain accesses to shared memory between two barriers of a block: see phase_check.h.
#include <algorithm>

#include "heddle/functional/functional_block.h"
#include "heddle/isa/set_bits.h"
#include "heddle/sanitize/race_check.h"

namespace heddle::sanitize {

// True: the accesses do not race. False: the cells have all marks of the phase, and tell.
bool race_check::passes_phase(const current& c, simt::lane_mask lanes, const access_shape& shape) {
  phase_check& phase = c.at->phase;
  const watched_access& a = *c.access;
  if (c.mark.is(access_mark::strong)) {
    if (!phase.excludes(a.addresses, lanes, a.bytes)) {
      mark_phase(*c.at);
      phase.close();
    }
    return false;
  }
  const phase_check::access now{c.mark, c.warp, c.last_release, lanes, a.bytes, a.addresses, shape};
  if (phase.passes(now)) return true;
  const bool again = phase.is_full();
  mark_phase(*c.at);
  if (again && phase.passes(now)) return true;
  phase.close();
  return false;
}

// Marks the cells as the accesses of the phase would have done: none of them races.
void race_check::mark_phase(place& p) {
  const sequence begin = p.clock->block_sync();
  const auto is_old = [&](const access_mark& m) { return m.number <= begin || !p.clock->holds(m); };
  const auto reads = [&](shadow_cell& cell, const access_mark& own, sequence release) {
    const auto joins = [&](access_mark& m) {
      if (m.warp != own.warp || m.what != own.what || (m.number != own.number && m.number <= release)) return false;
      m.lanes |= own.lanes;
      return true;
    };
    if (is_old(cell.read)) {
      cell.read = own;
      if (cell.more_reads != nullptr) cell.more_reads->clear();
      return;
    }
    if (joins(cell.read)) return;
    if (cell.more_reads != nullptr && std::any_of(cell.more_reads->begin(), cell.more_reads->end(), joins)) return;
    p.shared->add_read(cell, own, most_shared_reads);
  };
  p.phase.each([&](access_mark own, sequence release, unsigned lane, std::uint32_t offset, unsigned bytes) {
    own.lanes = 1u << lane;
    if (bytes < 4) p.shared->divide();
    const unsigned step = p.shared->bytes_per_cell();
    for (std::uint32_t at = offset; at < offset + bytes; at += step) {
      shadow_cell& cell = p.shared->at(at);
      if (!own.is(access_mark::writes)) {
        if (is_old(cell.write)) cell.write = {};
        reads(cell, own, release);
        continue;
      }
      cell.write = own;
      cell.read = {};
      if (cell.more_reads != nullptr) cell.more_reads->clear();
    }
  });
  p.phase.clear_list();
}

}  // namespace heddle::sanitize
