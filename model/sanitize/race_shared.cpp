// SPDX-License-Identifier: MIT
// Accesses to words of shared memory where a phase cannot tell (phase_check.h), or is not kept.
#include <algorithm>

#include "heddle/functional/functional_block.h"
#include "heddle/isa/set_bits.h"
#include "heddle/sanitize/race_check.h"
#include "heddle/sanitize/shadow/lane_groups.h"

namespace heddle::sanitize {

namespace {

// More than a few lanes side by side may name the same address. Of all lanes of a warp.
bool any_alike(const std::uint64_t* addresses) {
  unsigned found = 0;
  for (unsigned lane = 0; lane + few_alike < isa::warp_size; ++lane)
    found |= addresses[lane] == addresses[lane + few_alike] ? 1 : 0;
  return found != 0;
}

}  // namespace

// Accesses to shared memory. In launches without clusters and copies the quick case is simpler than is_quick(): marks
// of other blocks, and those before the last barrier, are older than it.
void race_check::access_shared(current& c, simt::lane_mask lanes) {
  c.in_shared = true;
  if (releases_ && c.mark.is(access_mark::strong) && !c.mark.is(access_mark::copying)) {
    synchronise(c, lanes);
    lanes = access_alike(c, lanes);
  }
  if (c.access->bytes < 4 || c.holder->shared->fine()) {
    for (const unsigned lane : set_bits(lanes)) access_lane(c, lane);
    return;
  }
  if (!uses_phases_ || copies_) return access_shared_words(c, lanes);
  const sequence block_sync = c.block_sync, warp_sync = independent_ ? c.warp_sync : now_ - 1;
  const std::uint32_t first_warp = c.first_warp, warps = warps_per_block_;
  const access_mark mark = c.mark;
  const bool strong = mark.is(access_mark::strong);
  const auto before = [=](const access_mark& m, simt::lane_mask bit) {
    return m.number <= block_sync || (m.warp == mark.warp && (m.number <= warp_sync || m.lanes == bit));
  };
  const auto passes = [=](const access_mark& m, simt::lane_mask bit) {
    return before(m, bit) || (strong && m.is(access_mark::strong) && m.warp - first_warp < warps);
  };
  // Beside an atomic the cell keeps the plain write before it.
  const auto is_plain_write = [=](const access_mark& m) {
    return m.number > block_sync && m.is(access_mark::writes) && !m.is(access_mark::strong);
  };
  if (mark.is(access_mark::writes))
    each_shared_word(c, lanes, [=](shadow_cell& cell, simt::lane_mask bit) {
      if (!passes(cell.write, bit) || !passes(cell.read, bit) || cell.write.number == mark.number) return false;
      if (cell.has_more() || (strong && (is_plain_write(cell.write) || is_plain_write(cell.read)))) return false;
      cell.read = {};
      cell.write = {mark.warp, mark.number, bit, mark.what};
      return true;
    });
  else
    each_shared_word(c, lanes, [=](shadow_cell& cell, simt::lane_mask bit) {
      if (!passes(cell.write, bit) || cell.has_more()) return false;
      const bool again = cell.read.number == mark.number,
                 weak = cell.read.number != 0 && !cell.read.is(access_mark::strong);
      if (!again && (!before(cell.read, bit) || (strong && weak))) return false;
      cell.read = {mark.warp, mark.number, again ? cell.read.lanes | bit : bit, mark.what};
      return true;
    });
}

// Strong accesses by several lanes to one place, as to an mbarrier, if all follows from the first lane's. Returns the
// lanes that are left.
simt::lane_mask race_check::access_alike(current& c, simt::lane_mask lanes) {
  const watched_access& a = *c.access;
  shadow_cells& cells = *c.holder->shared;
  const auto first = static_cast<unsigned>(__builtin_ctz(lanes));
  const simt::lane_mask same = alike(a.addresses, lanes), others = same & (same - 1);
  if (others == 0 || a.bytes % 4 != 0 || cells.fine()) return lanes;
  access_lane(c, first);
  if (c.mark.is(access_mark::writes)) return lanes & ~same;  // the cells have this instruction as their last writer
  const auto is_read = [&](const shadow_cell& cell) {
    const access_mark &w = cell.write, &r = cell.read;
    const bool agrees = w.number == 0 || (w.is(access_mark::strong) && c.at->clock->holds(w));
    return agrees && r.warp == c.mark.warp && r.what == c.mark.what && r.number > c.last_release;
  };
  for (unsigned k = 0; k < a.bytes; k += 4)
    if (!is_read(cells.at(a.addresses[first] + k))) return lanes & (lanes - 1);
  for (unsigned k = 0; k < a.bytes; k += 4) cells.at(a.addresses[first] + k).read.lanes |= others;
  return lanes & ~same;
}

// In launches with copies. Reads of the same words by lanes that follow each other are one.
void race_check::access_shared_words(current& c, simt::lane_mask lanes) {
  const watched_access& a = *c.access;
  simt::lane_mask rest = lanes;
  if ((c.mark.what & (access_mark::writes | access_mark::strong | access_mark::copying)) == 0 &&
      (lanes != simt::all_lanes || any_alike(a.addresses)))
    for (simt::lane_mask left = lanes; left != 0;) {
      const simt::lane_mask same = alike(a.addresses, left);
      left &= ~same;
      if (__builtin_popcount(same) <= static_cast<int>(few_alike)) continue;
      rest &= ~same;
      read_same(c, same);
    }
  if (reaches_cluster_ || (c.mark.what & (access_mark::writes | access_mark::strong | access_mark::copying)) != 0)
    return each_shared_word(c, rest, [](shadow_cell&, simt::lane_mask) { return false; });
  const access_mark mark = c.mark;
  const sequence block_sync = c.block_sync, last_release = c.last_release;
  each_shared_word(c, rest, [=, &c](shadow_cell& cell, simt::lane_mask bit) {
    access_mark &w = cell.write, &r = cell.read;
    const auto before = [=](const access_mark& m) { return m.number <= block_sync && !m.is(access_mark::copying); };
    if (!before(w) && !is_past(c, w, static_cast<unsigned>(__builtin_ctz(bit)))) return false;
    if (r.warp == mark.warp && r.what == mark.what && r.number > last_release) {
      r.lanes |= bit;
      return true;
    }
    if (cell.has_more() || !before(r)) return false;
    r = {mark.warp, mark.number, bit, mark.what};
    return true;
  });
}

// What a lane copies to words of shared memory. False: they are checked one by one.
bool race_check::write_copied(current& c, unsigned lane) {
  const watched_access& a = *c.access;
  shadow_cells& cells = *c.holder->shared;
  constexpr std::uint32_t kind = access_mark::copying | access_mark::writes;
  if ((c.mark.what & (kind | access_mark::strong | access_mark::atomic)) != kind || reaches_cluster_) return false;
  if (a.addresses[lane] % 4 != 0 || a.bytes % 4 != 0 || cells.fine()) return false;
  const access_mark mark{c.mark.warp, c.mark.number, 1u << lane, c.mark.what};
  const auto before = [&](const access_mark& m) { return m.number <= c.block_sync && !m.is(access_mark::copying); };
  c.cell_bytes = 4;
  for (std::uint64_t at = a.addresses[lane]; at < a.addresses[lane] + a.bytes; at += 4) {
    shadow_cell& cell = cells.at(at);
    later_reads* const more = cell.has_more() ? cell.more_reads : nullptr;
    const bool passes = before(cell.read) && (before(cell.write) || is_past(c, cell.write, lane)) &&
                        (more == nullptr || std::all_of(more->begin(), more->end(), before));
    if (passes) {
      if (more != nullptr) more->clear();
      cell.read = {};
      cell.write = mark;
    } else if (!is_quick(c, cell, lane)) {
      touch(c, cells, cell, lane, at);
    }
  }
  return true;
}

// `quick`: marks a word's cell if nothing can race with the access.
template <class F>
void race_check::each_shared_word(current& c, simt::lane_mask lanes, F&& quick) {
  const watched_access& a = *c.access;
  shadow_cells& cells = *c.holder->shared;
  shadow_cell* const all = &cells.at(0);
  const unsigned words = a.bytes / 4;
  c.cell_bytes = 4;
  for (const unsigned lane : set_bits(lanes)) {
    shadow_cell* const of_lane = all + a.addresses[lane] / 4;
    for (unsigned k = 0; k < words; ++k)
      if (!quick(of_lane[k], 1u << lane) && !is_quick(c, of_lane[k], lane))
        touch(c, cells, of_lane[k], lane, a.addresses[lane] + 4 * k);
  }
}

}  // namespace heddle::sanitize
