// SPDX-License-Identifier: MIT
// Plain accesses: to shared memory between two barriers of a block (phase_check.h), and to global memory for several
// lanes at once where they lie side by side, or read the same bytes.
#include <algorithm>

#include "heddle/functional/functional_block.h"
#include "heddle/isa/set_bits.h"
#include "heddle/sanitize/race_check.h"
#include "heddle/sanitize/shadow/lane_groups.h"

namespace heddle::sanitize {

// The usual cases: the earlier accesses are of this thread, or ordered by a barrier of the block.
bool race_check::is_quick(const current& c, shadow_cell& cell, unsigned lane) {
  const simt::lane_mask bit = 1u << lane;
  access_mark &w = cell.write, &r = cell.read;
  const auto before = [&](const access_mark& m) {
    if (m.number == 0) return true;
    if (m.is(access_mark::copying)) return false;
    if (m.warp == c.mark.warp && (independent_ ? m.lanes == bit || m.number <= c.warp_sync : m.number != now_))
      return true;
    const bool in_block = m.warp - c.first_warp < warps_per_block_;
    return in_block ? m.number <= c.block_sync : c.in_shared && !reaches_cluster_;
  };
  if ((c.mark.what & (access_mark::atomic | access_mark::strong)) != 0) return false;
  if (c.mark.is(access_mark::copying) && (!c.in_shared || !c.mark.is(access_mark::writes))) return false;
  if (!c.mark.is(access_mark::writes)) {
    if (r.is(access_mark::crowded) && w.number == 0) return true;
    if (r.warp == c.mark.warp && r.what == c.mark.what && (r.lanes & bit) != 0 && r.number > c.last_release &&
        w.number < r.number)
      return true;  // nothing has happened since it was read last
    if ((!before(w) && !is_past(c, w, lane)) || (w.number != 0 && c.texture)) return false;
    const auto joins = [&](access_mark& m) {
      if (m.warp != c.mark.warp || (m.number != now_ && (m.what != c.mark.what || m.number <= c.last_release)))
        return false;
      m.lanes |= bit;
      return true;
    };
    if (joins(r)) return true;
    if (cell.has_more()) {
      const auto own = cell.more_reads->of(c.mark.warp);
      if (std::any_of(own.begin(), own.end(), joins)) return true;
      if (own.first != own.last) return false;
    } else if (before(r)) {
      r = c.mark;
      r.lanes = bit;
      return true;
    }
    // Another warp of the block has read it, too.
    if (!c.in_shared || reaches_cluster_ || cell.more_reads == nullptr || r.is(access_mark::writes)) return false;
    if (r.warp == c.mark.warp || r.warp - c.first_warp >= warps_per_block_) return false;
    access_mark mark = c.mark;
    mark.lanes = bit;
    cell.more_reads->add(mark);
    return true;
  }
  const auto past = [&](const access_mark& m) { return before(m) || (c.in_shared && is_past(c, m, lane)); };
  if (w.number == now_ || !past(w) || !past(r)) return false;
  if (cell.has_more()) {
    if (!c.in_shared || !std::all_of(cell.more_reads->begin(), cell.more_reads->end(), past)) return false;
    cell.more_reads->clear();
  }
  const bool marks = !c.in_shared && r.warp == c.mark.warp && r.lanes == bit && marks_with(c, r);
  r = {};
  w = c.mark;
  w.lanes = bit;
  if (marks) w.what |= access_mark::marking;
  return true;
}

// The lanes of a copy (cp.async) that fill a segment of global memory side by side have one mark in it.
void race_check::access_copied(current& c, simt::lane_mask lanes) {
  const watched_access& a = *c.access;
  c.in_shared = false;
  for (simt::lane_mask left = lanes; left != 0;) {
    const unsigned first = first_bit(left);
    simt::lane_mask now = filling(a.addresses, left, a.bytes);
    shadow_segment* const s = now == 0 ? nullptr : global_.segment(a.addresses[first]);
    if (s == nullptr || !access_segment(c, *s, now)) {
      now = left & -left;
      access_lane(c, first);
    }
    copies(c, now);
    left &= ~now;
  }
}

void race_check::access_lane(current& c, unsigned lane) {
  const watched_access& a = *c.access;
  const std::uint64_t first = a.addresses[lane];
  const bool small = a.bytes < 4;
  if (!c.in_shared && c.mark.is(access_mark::strong) && !c.mark.is(access_mark::copying) && access_words(c, lane))
    return;
  if (c.in_shared && write_copied(c, lane)) return;
  const bool writes = c.mark.is(access_mark::writes);
  if (!c.in_shared && !writes && !samples_crowded() && global_.crowded(first, a.bytes)) return;
  const bool by_segment = !c.in_shared && c.mark.is(access_mark::copying) && !c.mark.is(access_mark::strong);
  const shadow_cell* like = nullptr;  // the cell before, if one that was as that can be as it is now
  shadow_cell was;
  for (std::uint64_t at = first; at < first + a.bytes;) {
    constexpr std::uint64_t whole = shadow_segment::bytes;
    if (by_segment && at % whole == 0 && first + a.bytes - at >= whole) {
      shadow_segment* const s = global_.segment(at);
      if (s != nullptr && access_segment(c, *s, 1u << lane)) {
        at += whole;
        continue;
      }
    }
    shadow_cells& cells = c.in_shared ? *c.holder->shared : global_.page(at, writes);
    if (small) cells.divide();
    const std::uint64_t offset = c.in_shared ? at : at % shadow_pages::page_bytes;
    c.cell_bytes = cells.bytes_per_cell();
    shadow_cell& cell = cells.at(offset);
    at += c.cell_bytes;
    if (like != nullptr && !cell.has_more() && cell.write == was.write && cell.read == was.read) {
      cell.write = like->write;
      cell.read = like->read;
      continue;
    }
    was = cell;
    marks_insufficient_ = was.has_more();
    if (!is_quick(c, cell, lane)) touch(c, cells, cell, lane, at - c.cell_bytes);
    like = marks_insufficient_ || cell.has_more() ? nullptr : &cell;
  }
}

void race_check::access_global(current& c, simt::lane_mask lanes, const access_shape& shape) {
  const watched_access& a = *c.access;
  c.in_shared = false;
  const bool reads = !c.mark.is(access_mark::writes);
  if (reads && shape.how == access_shape::kind::same) return read_same(c, lanes);
  const bool apart = shape.how == access_shape::kind::other;
  if (apart) lanes = global_.uncrowded(a.addresses, lanes, a.bytes, reads && !samples_crowded());
  if (apart && reads) global_.load_lists(a.addresses, lanes, a.bytes);
  for (simt::lane_mask left = lanes; left != 0;) {
    if (apart) {
      const unsigned first = first_bit(left);
      const simt::lane_mask rest = without_first(left);
      const shadow_pages::marks words = global_.words_of(first, a.addresses[first], a.bytes);
      if (words.first != nullptr && (!reads || rest == 0 || a.addresses[first_bit(rest)] != a.addresses[first])) {
        if (!access_words(c, first, words)) access_lane(c, first);
        left = rest;
        continue;
      }
    }
    if (const simt::lane_mask side_by_side = filling(a.addresses, left, a.bytes); side_by_side != 0) {
      shadow_segment* const s = global_.segment(a.addresses[first_bit(left)]);
      if (s != nullptr && access_segment(c, *s, side_by_side)) {
        left &= ~side_by_side;
        continue;
      }
    }
    if (reads && !keeps_many_) {
      std::uint32_t part = 0;
      if (const simt::lane_mask edge = at_edge(a.addresses, lanes, left, a.bytes, part); edge != 0) {
        shadow_segment* const s = global_.segment(a.addresses[first_bit(left)]);
        if (s != nullptr && access_segment(c, *s, edge, part)) {
          left &= ~edge;
          continue;
        }
      }
    }
    const simt::lane_mask same = reads ? alike(a.addresses, left) : left & -left;
    if (__builtin_popcount(same) > static_cast<int>(few_alike)) {
      read_same(c, same);
      left &= ~same;
      continue;
    }
    const unsigned first = first_bit(left);
    if (!access_words(c, first)) access_lane(c, first);
    left = without_first(left);
  }
}

// The accesses are of these threads, a barrier orders them, or what the threads have acquired.
bool race_check::is_before(const current& c, const access_mark& m, const access_mark& own) const {
  if (synced(c, m)) return true;
  const bool by_lane = m.lanes == own.lanes && ((m.what ^ own.what) & access_mark::part_mask) == 0;
  if (m.warp == own.warp && (independent_ ? by_lane : m.number != now_) && !m.is(access_mark::copying)) return true;
  if (m.warp - c.first_warp >= warps_per_block_ && !orders_blocks()) return false;
  return c.at->clock->knows(c.warp) && c.at->clock->ordered_for_all(m, c.warp, own.lanes);
}

// False: the segment must be divided. `part`: of it that the lanes read; 0: all of it.
bool race_check::access_segment(const current& c, shadow_segment& s, simt::lane_mask lanes, std::uint32_t part) {
  access_mark own = c.mark;
  own.lanes = lanes;
  own.what |= part;
  if (!own.is(access_mark::writes)) return reads_segment(c, s, own);
  const auto before = [&](const access_mark& m) { return is_before(c, m, own); };
  if (s.write.number == now_ || !before(s.write) || !before(s.read)) return false;
  if (s.more_reads && !std::all_of(s.more_reads->begin(), s.more_reads->end(), before)) return false;
  if (s.read.warp == own.warp && s.read.lanes == lanes && marks_with(c, s.read)) own.what |= access_mark::marking;
  if (s.more_reads) s.more_reads->clear();
  s.read = {};
  s.write = own;
  return true;
}

bool race_check::reads_segment(const current& c, shadow_segment& s, const access_mark& own) {
  access_mark &w = s.write, &r = s.read;
  if (r.is(access_mark::crowded) && w.number == 0) return true;
  if (r.warp == own.warp && r.what == own.what && r.lanes == own.lanes && r.number > c.last_release &&
      w.number < r.number && !own.is(access_mark::copying))
    return true;  // nothing has happened since it was read last
  const auto before = [&](const access_mark& m) { return is_before(c, m, own); };
  if (!before(w)) return false;
  if (shadow_segment::covers(own, r) && before(r)) {
    r = own;
    return true;
  }
  if (s.more_reads == nullptr) s.more_reads = global_.take_reads();
  for (access_mark& m : s.more_reads->of(own.warp))
    if (shadow_segment::covers(own, m) && before(m)) {
      m = own;
      return true;
    }
  two_warps seen(*this, c, own.is(access_mark::strong));
  if (seen.with(r) || std::any_of(s.more_reads->begin(), s.more_reads->end(), [&](auto& m) { return seen.with(m); }))
    return true;
  if (keeps_one_more(s.more_reads, own)) {
    if (!own.is_whole() && s.more_reads->size() >= most_reads) return false;
    s.more_reads->add(own);
  } else if (keeps_many_) {
    replace_read(c, *s.more_reads, own);
  } else if (!own.is(access_mark::strong)) {
    r.what |= access_mark::crowded;
  }
  return true;
}

// It replaces those that come before it, or one of the others. A strong one does not stand for a weak one.
void race_check::replace_read(const current& c, later_reads& reads, const access_mark& own) const {
  const auto stands_for = [&](const access_mark& m) {
    return m.is(access_mark::strong) || !own.is(access_mark::strong);
  };
  reads.drop_if([&](const access_mark& m) { return stands_for(m) && is_before(c, m, own); });
  if (reads.size() < most_reads) return reads.add(own);
  later_reads::iterator const victim = reads.begin() + any_of(reads.size());
  if (stands_for(*victim)) reads.replace(victim, own);
}

// Several lanes read the same bytes.
void race_check::read_same(current& c, simt::lane_mask lanes) {
  const watched_access& a = *c.access;
  const std::uint64_t first = a.addresses[first_bit(lanes)];
  if (a.bytes < 4) global_.page(first).divide();  // those of shared memory are not read at once
  for (std::uint64_t at = first; at < first + a.bytes;) {
    shadow_cells& cells = c.in_shared ? *c.holder->shared : global_.page(at);
    shadow_cell& cell = cells.at(c.in_shared ? at : at % shadow_pages::page_bytes);
    c.cell_bytes = cells.bytes_per_cell();
    if (!read_at_once(c, cells, cell, lanes))
      for (const unsigned lane : set_bits(lanes)) touch(c, cells, cell, lane, at);
    at += c.cell_bytes;
  }
}

bool race_check::read_at_once(const current& c, shadow_cells& cells, shadow_cell& cell, simt::lane_mask lanes) {
  access_mark own = c.mark;
  own.lanes = lanes;
  const auto joins = [&](access_mark& m) {
    if (m.warp != own.warp || m.what != own.what || m.number <= c.last_release) return false;
    m.lanes |= lanes;
    return true;
  };
  access_mark &w = cell.write, &r = cell.read;
  if (c.in_shared) {  // marks of blocks that ran there before, and of others of the cluster
    const block_clock& clock = *c.at->clock;
    if ((w.number != 0 && !clock.holds(w)) || (r.number != 0 && !clock.holds(r))) return false;
  }
  if (r.is(access_mark::crowded) && w.number == 0) return true;
  if (w.number < r.number && joins(r)) return true;
  if (!synced(c, w)) return false;
  if (synced(c, r)) {
    r = own;
    return true;
  }
  if (joins(r)) return true;
  if (cell.more_reads != nullptr)
    for (access_mark& m : cell.more_reads->of(own.warp)) {
      if (joins(m)) return true;
      if (!synced(c, m) && ((m.lanes & ~lanes) != 0 || m.is(access_mark::copying))) continue;
      m = own;
      return true;
    }
  if (c.in_shared) cells.add_read(cell, own);
  else keep_read(c, cells, cell, own);
  return true;
}

}  // namespace heddle::sanitize
