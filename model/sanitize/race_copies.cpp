// SPDX-License-Identifier: MIT
// Copies that are in flight while the program goes on: cp.async, bulk copies, and what products of a warpgroup read.
// Their accesses are marked as copying, and are ordered with nothing later. A wait for a group of copies makes them
// accesses of the thread that waits. The end of a copy at an mbarrier, and of a product, is a release there, of which
// those know who wait.
#include <algorithm>

#include "heddle/functional/functional_block.h"
#include "heddle/isa/matrix.h"
#include "heddle/isa/set_bits.h"
#include "heddle/sanitize/race_check.h"
#include "heddle/sanitize/sanitize_kinds.h"

namespace heddle::sanitize {

namespace {

bool of_products(const isa::instruction& i) {
  return i.op == isa::opcode::wgcommit || i.op == isa::opcode::wgdepbar || isa::is_warpgroup_product(i.op);
}

}  // namespace

// Lanes begin a copy (cp.async). It is one with that of other lanes in this instruction, as far as they are of the same
// group.
void race_check::copies(const current& c, simt::lane_mask lanes) {
  const watched_access& a = *c.access;
  place* const holder = c.in_shared ? c.holder : nullptr;
  if (c.at->of_threads.empty()) c.at->of_threads.resize(warps_per_block_);
  std::vector<copy>& all = c.at->of_threads[c.warp];
  const unsigned* const groups = c.at->groups_of(copy_kind::of_thread, a.warp.thread(0));
  for (const unsigned lane : set_bits(lanes)) {
    if (all.empty() || all.back().number != now_ || all.back().group != groups[lane])
      all.push_back({copy_kind::of_thread, c.warp, lane, 0, c.mark.index(), now_, groups[lane], {}});
    copy& own = all.back();
    own.lanes |= 1u << lane;
    if (!own.spans.empty()) {
      span& last = own.spans.back();
      const bool next = lane == last.lane + last.lanes && a.addresses[lane] == last.address + last.bytes;
      if (next && holder == last.holder && last.bytes == last.lanes * a.bytes) {
        ++last.lanes;
        last.bytes += a.bytes;
        continue;
      }
    }
    own.spans.push_back({holder, a.addresses[lane], a.bytes, a.copies_in, lane});
  }
}

void race_check::transfer_begins() { ++now_; }

void race_check::transfer_moves(const watched_step& s, const watched_segment& p) {
  const auto lane = static_cast<unsigned>(__builtin_ctz(s.mask));
  std::uint64_t addresses[isa::warp_size];
  addresses[lane] = p.address;
  watched_access a{s};
  a.addresses = addresses;
  a.bytes = p.bytes;
  a.holder = p.holder == &s.block ? nullptr : p.holder;
  current c = start(a);
  c.in_shared = p.holder != nullptr;
  c.mark.what |= access_mark::copying | (p.writes ? access_mark::writes : 0) |
                 (p.atomic ? access_mark::atomic | access_mark::strong : 0);
  access_lane(c, lane);
  const bool product = isa::is_warpgroup_product(s.instruction.op);
  const span now{c.in_shared ? c.holder : nullptr, p.address, p.bytes, p.writes};
  if (!c.at->copies.empty() && c.at->copies.back().number == now_) {
    std::vector<span>& spans = c.at->copies.back().spans;
    const auto continues = [&](const span& e) {
      return e.holder == now.holder && e.writes == now.writes && e.address + e.bytes == now.address;
    };
    const auto joined = std::find_if(spans.rbegin(), spans.rend(), continues);
    if (joined != spans.rend()) joined->bytes += now.bytes;
    else spans.push_back(now);
    return;
  }
  const copy_kind kind = product ? copy_kind::product : copy_kind::bulk;
  const unsigned who = product ? c.warp : s.warp.thread(lane);
  c.at->copies.push_back({kind, c.warp, lane, 1u << lane, c.mark.index(), now_, c.at->group(kind, who), {now}});
}

// The copy ends at the mbarrier, and no group waits for it.
void race_check::transfer_signals(const watched_step& s, const functional_block& holder, std::uint32_t offset) {
  place &own = place_of(s.block), &at = place_of(holder);
  if (!own.copies.empty() && own.copies.back().number == now_) own.copies.pop_back();
  sync_log& log = log_of(at, offset);
  see_phase(at, log, offset);
  auto view = std::make_shared<fence_view>();
  view->block = s.block.number;
  view->copy = now_;
  log.append(std::make_shared<const fence_views>(1, std::move(view)), s.block.number, now_);
}

void race_check::closes_copies(const watched_step& s) {
  place& p = place_of(s.block);
  if (of_products(s.instruction)) {
    ++p.group(copy_kind::product, s.warp.warp_in_block);
    return;
  }
  if (signals_.hands_over(index_of(s.instruction))) return hands_over(s);
  const bool bulk = s.instruction.op == isa::opcode::utmacmdflush;
  for (const unsigned lane : set_bits(s.mask))
    ++p.group(bulk ? copy_kind::bulk : copy_kind::of_thread, s.warp.thread(lane));
}

void race_check::awaits_copies(const watched_step& s) {
  ++now_;
  if (of_products(s.instruction)) return await_products(s);
  if (s.instruction.offset == isa::copies::of_threads) {
    if (!signals_.is_no_wait(index_of(s.instruction))) await_copies_of_threads(s);
    return;
  }
  place& p = place_of(s.block);
  const bool reads_alone = s.instruction.offset == isa::copies::of_unit_reads;
  const unsigned left = s.instruction.sub, warp = s.warp.warp_in_block;
  const auto complete = [&](copy& k) {
    if (k.kind != copy_kind::bulk || k.warp != warp || (s.mask >> k.lane & 1) == 0) return false;
    if (k.group + left >= p.group(copy_kind::bulk, s.warp.thread(k.lane))) return false;
    settle(k, reads_alone);
    if (reads_alone)
      k.spans.erase(std::remove_if(k.spans.begin(), k.spans.end(), [](const span& x) { return !x.writes; }),
                    k.spans.end());
    return k.spans.empty() || !reads_alone;
  };
  p.copies.erase(std::remove_if(p.copies.begin(), p.copies.end(), complete), p.copies.end());
}

// Calls f(part) for the parts of these lanes.
template <class F>
void race_check::each_of(const span& s, simt::lane_mask lanes, F&& f) {
  const simt::lane_mask own = (simt::all_lanes >> (isa::warp_size - s.lanes)) << s.lane;
  if ((own & ~lanes) == 0) return f(s);
  span part = s;
  part.bytes = s.bytes / s.lanes;
  part.lanes = 1;
  for (const unsigned lane : set_bits(own & lanes)) {
    part.lane = lane;
    part.address = s.address + std::uint64_t{lane - s.lane} * part.bytes;
    f(part);
  }
}

void race_check::await_copies_of_threads(const watched_step& s) {
  place& p = place_of(s.block);
  if (p.of_threads.empty()) return;
  const unsigned left = s.instruction.sub, warp = s.warp.warp_in_block;
  simt::lane_mask learn = 0;  // their copies that are handed over end elsewhere for others
  const unsigned* const groups = p.groups_of(copy_kind::of_thread, s.warp.thread(0));
  const auto complete = [&](copy& k) {
    simt::lane_mask done = 0;
    for (unsigned lane = 0; lane < isa::warp_size; ++lane)
      done |= simt::lane_mask{k.group + left < groups[lane]} << lane;
    done &= k.lanes & s.mask;
    k.lanes &= ~done;
    learn |= done & k.handed;
    done &= ~k.handed;
    for (const span& x : k.spans) each_of(x, done, [&](const span& part) { settle(k, part, done); });
    return k.lanes == 0;
  };
  std::vector<copy>& all = p.of_threads[warp];
  all.erase(std::remove_if(all.begin(), all.end(), complete), all.end());
  if (learn == 0) return;
  const sync_log& log = *handed_by(p, warp).log;
  p.clock->acquires(warp, learn, log, log.size(), now_);
}

// A product is complete for all four warps of the warpgroup at once: a warp that waits knows of the reads of all.
void race_check::await_products(const watched_step& s) {
  constexpr unsigned warps = 4;
  place& p = place_of(s.block);
  const unsigned left = s.instruction.sub, warp = s.warp.warp_in_block, group = warp / warps;
  const unsigned closed = p.group(copy_kind::product, warp);
  sync_log*& log = p.products[group];
  if (log == nullptr) log = &all_logs_.emplace_back();
  const auto complete = [&](const copy& k) {
    if (k.kind != copy_kind::product || k.warp / warps != group) return false;
    if (k.group + left >= closed) return false;
    auto view = std::make_shared<fence_view>();
    view->block = s.block.number;
    view->copy = k.number;
    log->append(std::make_shared<const fence_views>(1, std::move(view)), s.block.number, now_);
    return true;
  };
  p.copies.erase(std::remove_if(p.copies.begin(), p.copies.end(), complete), p.copies.end());
  p.clock->acquires(warp, s.mask, *log, log->size(), now_);
}

// Copies that are complete are accesses of their thread at this time.
void race_check::settle(const copy& k, bool reads_alone) {
  for (const span& s : k.spans)
    if (!reads_alone || !s.writes) settle(k, s, k.lanes);
}

// `lanes`: those whose copies are complete.
void race_check::settle(const copy& k, const span& s, simt::lane_mask lanes) {
  const auto is_of = [&](const access_mark& m) { return m.number == k.number && m.is(access_mark::copying); };
  const auto settles = [&](access_mark& m) {
    if (!is_of(m)) return;
    m.number = now_;
    m.what &= ~access_mark::copying;
  };
  const auto settle_all = [&](access_mark& write, access_mark& read, later_reads* more) {
    if (s.writes) return settles(write);
    settles(read);
    if (more != nullptr) std::for_each(more->begin(), more->end(), settles);
  };
  if (s.holder != nullptr && s.writes) {
    shadow_cells& cells = *s.holder->shared;
    for (std::uint64_t at = s.address; at < s.address + s.bytes; at += cells.bytes_per_cell())
      settles(cells.at(at).write);
    return;
  }
  const auto waits = [&](const access_mark& m) { return is_of(m) && (m.lanes & ~lanes) != 0; };
  for (std::uint64_t at = s.address; at < s.address + s.bytes;) {
    if (shadow_segment* const whole = s.holder == nullptr ? global_.segment(at) : nullptr; whole != nullptr) {
      later_reads* const more = whole->more_reads;
      if (!waits(whole->write) && !waits(whole->read) &&
          (more == nullptr || std::none_of(more->begin(), more->end(), waits))) {
        settle_all(whole->write, whole->read, more);
        at = (at / shadow_segment::bytes + 1) * shadow_segment::bytes;
        continue;
      }
    }
    shadow_cells& cells = s.holder != nullptr ? *s.holder->shared : global_.page(at);
    shadow_cell& cell = cells.at(s.holder != nullptr ? at : at % shadow_pages::page_bytes);
    settle_all(cell.write, cell.read, cell.more_reads);
    at += cells.bytes_per_cell();
  }
}

// A block must not exit while other blocks, or its own copies, still access its shared memory.
void race_check::block_ends(const functional_block& block) {
  place& p = place_of(block);
  ++now_;
  for (const copy& k : p.copies)
    if (k.kind == copy_kind::bulk &&
        std::any_of(k.spans.begin(), k.spans.end(), [](const span& s) { return s.holder != nullptr; }))
      report_early_end(p, k);
  for (const auto& [warp, last] : p.from_others) {
    bool known = false;
    for (std::uint32_t w = 0; !known && w < warps_per_block_; ++w)
      for (unsigned lane = 0; !known && lane < isa::warp_size; ++lane) known = p.clock->ordered(last, w, lane);
    if (!known) report_exit(p, last);
  }
}

}  // namespace heddle::sanitize
