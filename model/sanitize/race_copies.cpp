// SPDX-License-Identifier: MIT
// Copies that are under way while the program goes on: cp.async, bulk copies, and what products of a warpgroup read.
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

void race_check::transfer_begins() { ++now_; }

void race_check::transfer_moves(const watched_step& s, const watched_piece& p) {
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
  const unsigned group = c.at->groups[static_cast<unsigned>(kind)][who];
  c.at->copies.push_back({kind, c.warp, lane, c.mark.index(), now_, group, {now}});
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
    ++p.groups[static_cast<unsigned>(copy_kind::product)][s.warp.warp_in_block];
    return;
  }
  const bool bulk = s.instruction.op == isa::opcode::utmacmdflush;
  for (const unsigned lane : set_bits(s.mask))
    ++p.groups[static_cast<unsigned>(bulk ? copy_kind::bulk : copy_kind::of_thread)][s.warp.thread(lane)];
}

void race_check::awaits_copies(const watched_step& s) {
  ++now_;
  if (of_products(s.instruction)) return await_products(s);
  place& p = place_of(s.block);
  const bool bulk = s.instruction.offset != isa::copies::of_threads;
  const copy_kind kind = bulk ? copy_kind::bulk : copy_kind::of_thread;
  const bool reads_alone = s.instruction.offset == isa::copies::of_unit_reads;
  const unsigned left = s.instruction.sub, warp = s.warp.warp_in_block;
  const auto complete = [&](copy& k) {
    if (k.kind != kind || k.warp != warp || (s.mask >> k.lane & 1) == 0) return false;
    if (k.group + left >= p.groups[static_cast<unsigned>(kind)][s.warp.thread(k.lane)]) return false;
    settle(k, reads_alone);
    if (reads_alone)
      k.spans.erase(std::remove_if(k.spans.begin(), k.spans.end(), [](const span& x) { return !x.writes; }),
                    k.spans.end());
    return k.spans.empty() || !reads_alone;
  };
  p.copies.erase(std::remove_if(p.copies.begin(), p.copies.end(), complete), p.copies.end());
}

// A product is complete for all four warps of the warpgroup at once: a warp that waits knows of the reads of all.
void race_check::await_products(const watched_step& s) {
  constexpr unsigned warps = 4;
  place& p = place_of(s.block);
  const unsigned left = s.instruction.sub, warp = s.warp.warp_in_block, group = warp / warps;
  const unsigned closed = p.groups[static_cast<unsigned>(copy_kind::product)][warp];
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
  for (const unsigned lane : set_bits(s.mask)) p.clock->acquires(warp, lane, *log, log->size(), now_);
}

template <class F>
void race_check::each_cell(const span& s, F&& f) {
  for (std::uint64_t at = s.address; at < s.address + s.bytes;) {
    shadow_cells& cells = s.holder != nullptr ? *s.holder->shared : global_.page(at);
    f(cells.at(s.holder != nullptr ? at : at % shadow_pages::page_bytes));
    at += cells.bytes_per_cell();
  }
}

// Copies that are complete are accesses of their thread at this time.
void race_check::settle(const copy& k, bool reads_alone) {
  const auto settles = [&](access_mark& m) {
    if (m.number != k.number || !m.is(access_mark::copying)) return;
    m.number = now_;
    m.what &= ~access_mark::copying;
  };
  for (const span& s : k.spans) {
    if (reads_alone && s.writes) continue;
    each_cell(s, [&](shadow_cell& cell) {
      if (s.writes) return settles(cell.write);
      settles(cell.read);
      if (cell.more_reads != nullptr)
        for (access_mark& m : *cell.more_reads) settles(m);
    });
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
