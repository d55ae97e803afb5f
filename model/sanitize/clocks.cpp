// SPDX-License-Identifier: MIT
#include "heddle/sanitize/clocks.h"

#include <algorithm>
#include <iterator>

#include "heddle/isa/set_bits.h"

namespace heddle::sanitize {

namespace {

void raise(std::vector<sequence>& row, const std::vector<sequence>& by) {
  if (row.size() < by.size()) row.resize(by.size());
  for (std::size_t k = 0; k < by.size(); ++k) row[k] = std::max(row[k], by[k]);
}

}  // namespace

block_clock::block_clock(std::uint64_t block, std::uint32_t warps, bool independent)
    : block_(block), first_warp_(static_cast<std::uint32_t>(block * warps)), independent_(independent), warps_(warps) {}

bool block_clock::restart(std::uint64_t block) {
  const auto learned = [](const warp_clock& w) { return w.knows || w.sees || w.fenced; };
  if (shared_fences_ || !logs.empty() || std::any_of(warps_.begin(), warps_.end(), learned)) return false;
  block_ = block;
  first_warp_ = static_cast<std::uint32_t>(block * warps_.size());
  block_sync_ = cluster_completed_ = 0;
  fenced_ = false;
  arrivals_.clear();
  for (warp_clock& w : warps_) {
    all_meet(w, 0);
    w.warps.clear();
    w.last_release = w.learned = w.learned_elsewhere = w.last_access = 0;
    w.cluster_knows = false;
    w.ended = 0;
  }
  return true;
}

bool block_clock::ordered_for_all(const access_mark& a, std::uint32_t warp, simt::lane_mask lanes) const {
  const of_lanes<knowledge>& known = warps_[warp].known;
  const knowledge* last = nullptr;  // of the lane that was checked last
  for (const unsigned lane : set_bits(lanes)) {
    const knowledge* const own = &known.of(unit(lane));
    const bool same = last != nullptr && *own == *last && a.warp - first_warp_ != warp;
    if (!same && !ordered(a, warp, lane)) return false;
    last = own;
  }
  return true;
}

bool block_clock::ordered(const access_mark& a, std::uint32_t warp, unsigned lane) const {
  const warp_clock& own = warps_[warp];
  const std::uint32_t other = a.warp - first_warp_;
  // A copy that is in flight is in no thread's order; it ends at an mbarrier, if at all.
  if (other < warps_.size() && !a.is(access_mark::copying)) {
    if (block_sync_ >= a.number) return true;
    if (other == warp) {
      if (!independent_ || (a.lanes & ~(1u << lane)) == 0 || own.warp_sync >= a.number) return true;
      if (own.tile != 0) {
        const simt::lane_mask mates = (simt::all_lanes >> (isa::warp_size - own.tile)) << (lane & ~(own.tile - 1));
        if ((a.lanes & ~mates) == 0 && own.tiles[lane / own.tile] >= a.number) return true;
      }
      const auto later = [&](unsigned l) { return (*own.lanes)[lane][l] < a.number; };
      const set_bits others(a.lanes & ~(1u << lane));
      bool all = own.lanes != nullptr;
      for (auto l = others.begin(); all && l != others.end(); ++l) all = !later(*l);
      if (all) return true;
    } else if (other < own.warps.size() && own.warps[other] >= a.number) {
      return true;
    }
  }
  const knowledge& known = own.known.of(unit(lane));
  return known && comes_after(own, known, a);
}

bool block_clock::comes_after(const warp_clock& own, const knowledge& known, const access_mark& a) const {
  const auto warps = static_cast<std::uint32_t>(warps_.size());
  const std::uint64_t block = a.warp / warps;
  const bool copying = a.is(access_mark::copying);
  known_block& last = own.blocks[block % own.blocks.size()];
  if (!copying && last.by == known && last.block == block && a.number <= last.up_to) return true;
  known_copy& end = own.copies[a.number % own.copies.size()];
  if (copying && end.copy == a.number && end.by == known && (end.lanes == 0 || (end.lanes & a.lanes) != 0)) return true;
  for (const acquired& k : known->at)
    if (const fence_view* const view = k.log->covering(k.count, a, warps, block_, k.block)) {
      if (copying) end = {known, a.number, view->lanes};
      else if (view->block == block) last = {known, block, view->block_sync};
      return true;
    }
  return false;
}

void block_clock::fence(std::uint32_t warp, simt::lane_mask lanes, bool of_block, sequence now) {
  warp_clock& w = warps_[warp];
  if (w.sees) acquire_seen(w, lanes, of_block, now);
  if (std::max({w.last_access, w.learned_elsewhere, block_sync_}) > cluster_completed_) {
    w.cluster_knows = false;
    fenced_since_ = true;
  }
  auto view = std::make_shared<fence_view>();
  view->block = block_;
  view->warp = warp;
  view->lanes = independent_ ? lanes : simt::all_lanes;
  view->number = now;
  view->block_sync = block_sync_;
  view->warp_sync = w.warp_sync;
  view->of_block = of_block;
  view->warps = w.warps;
  if (w.knows && !w.known.divided()) view->known = w.known.of(0);
  else if (w.knows)
    for (const unsigned l : set_bits(lanes)) view->known = joined(view->known, w.known.of(unit(l)));
  w.fenced = fenced_ = true;
  w.last_release = now;
  w.fence.set(units(lanes), view);
  if (!of_block) w.fence_wide.set(units(lanes), view);
  w.released.set(units(lanes), nullptr);
}

void block_clock::all_meet(warp_clock& w, sequence now) {
  w.warp_sync = now;
  w.lanes.reset();
  w.tile = 0;
  w.tile_sync = 0;
}

bool block_clock::tiles_meet(std::uint32_t warp, unsigned tile, sequence now) {
  warp_clock& w = warps_[warp];
  if (!independent_ || w.knows || w.lanes || (w.tile != 0 && w.tile != tile)) return false;
  w.last_release = w.tile_sync = now;
  w.tile = tile;
  std::fill_n(w.tiles.begin(), isa::warp_size / tile, now);
  return true;
}

// False: these lanes are no tile, or not of the same size as those that have met before.
bool block_clock::tile_meets(warp_clock& w, simt::lane_mask lanes, sequence now) {
  const auto size = static_cast<unsigned>(__builtin_popcount(lanes)),
             first = static_cast<unsigned>(__builtin_ctz(lanes));
  const bool aligned = size > 1 && (size & (size - 1)) == 0 && first % size == 0 &&
                       lanes >> first == simt::all_lanes >> (isa::warp_size - size);
  if (!w.lanes && aligned && (w.tile == 0 || w.tile == size)) {
    if (w.tile == 0) w.tiles.fill(0);
    w.tile = size;
    w.tiles[first / size] = now;
    w.tile_sync = *std::min_element(w.tiles.begin(), w.tiles.begin() + isa::warp_size / size);
    return true;
  }
  if (w.tile == 0) return false;
  w.lanes = std::make_unique<warp_clock::lane_rows>();
  for (unsigned l = 0; l < isa::warp_size; ++l)
    for (unsigned k = l & ~(w.tile - 1), end = k + w.tile; k < end; ++k) (*w.lanes)[l][k] = w.tiles[l / w.tile];
  w.tile = 0;
  w.tile_sync = 0;
  return false;
}

void block_clock::lanes_meet(std::uint32_t warp, simt::lane_mask lanes, simt::lane_mask live, sequence now) {
  if (!independent_) return;
  warp_clock& w = warps_[warp];
  w.last_release = now;
  if (w.knows && w.known.divided()) {
    knowledge all;
    for (const unsigned l : set_bits(lanes)) all = joined(all, w.known.of(l));
    w.known.set(lanes, all);
  }
  if ((live & ~lanes) == 0) return all_meet(w, now);
  if (tile_meets(w, lanes, now)) return;
  if (!w.lanes) w.lanes = std::make_unique<warp_clock::lane_rows>();
  std::array<sequence, isa::warp_size> row{};
  for (const unsigned l : set_bits(lanes)) {
    for (unsigned x = 0; x < isa::warp_size; ++x) row[x] = std::max(row[x], (*w.lanes)[l][x]);
    row[l] = now;
  }
  for (const unsigned l : set_bits(lanes)) (*w.lanes)[l] = row;
}

void block_clock::arrives(std::uint32_t barrier, std::uint32_t warp, bool counted, sequence now) {
  arrivals_[barrier].push_back({warp, now, counted});
  warps_[warp].last_release = now;
}

// All that the block's threads have done and learned so far: they have fenced it before they arrived.
bool block_clock::released_all(const std::vector<arrival>& arrived, std::uint64_t live) const {
  const auto has_released = [this](const arrival& a) {
    return a.number >= std::max(warps_[a.warp].last_access, warps_[a.warp].learned);
  };
  for (const arrival& a : arrived)
    if (has_released(a)) live &= ~(std::uint64_t{1} << a.warp);
  return live == 0;
}

void block_clock::completes_cluster(const std::vector<arrival>& arrived, std::uint64_t released, std::uint64_t live,
                                    sync_log& cluster, sequence now) {
  cluster.to_wait -= static_cast<std::uint32_t>(__builtin_popcountll(to_wait_));
  const bool all = released_all(arrived, live);
  cluster_ = &cluster;
  for (warp_clock& w : warps_) w.cluster_knows = all;
  fenced_since_ = !all;
  cluster_completed_ = now;
  to_wait_ = live & ~released;
  cluster.to_wait += static_cast<std::uint32_t>(__builtin_popcountll(to_wait_));
  is_split_ = !all;
  if (all && to_wait_ == 0) block_sync_ = now;
}

void block_clock::waits_for_cluster(std::uint32_t warp) {
  const std::uint64_t bit = std::uint64_t{1} << warp;
  if ((to_wait_ & bit) == 0) return;
  to_wait_ &= ~bit;
  --cluster_->to_wait;
  is_split_ = is_split_ || warps_[warp].last_access > cluster_completed_;
  if (to_wait_ == 0 && !is_split_) block_sync_ = std::max(block_sync_, cluster_completed_);
}

void block_clock::completes(std::uint32_t barrier, std::uint64_t released, std::uint64_t live, sync_log* cluster,
                            sequence now) {
  const bool split = cluster != nullptr;
  std::vector<arrival> arrived;
  arrived.swap(arrivals_[barrier]);
  knowledge known;
  bool knows = false;
  for (const arrival& a : arrived)
    if (warps_[a.warp].knows) {
      knows = true;
      warps_[a.warp].known.each([&](const knowledge& k) { known = joined(known, k); });
    }
  const bool counted = std::any_of(arrived.begin(), arrived.end(), [](const arrival& a) { return a.counted; });
  if (split) completes_cluster(arrived, released, live, *cluster, now);
  const std::uint64_t all = warps_.size() == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << warps_.size()) - 1;
  if (!split && ((counted ? all : live) & ~released) == 0) {
    block_sync_ = now;
    for (warp_clock& w : warps_) w.warps.clear();
  } else {
    std::vector<sequence> row(warps_.size());
    for (const arrival& a : arrived) {
      raise(row, warps_[a.warp].warps);
      row[a.warp] = std::max(row[a.warp], a.number);
    }
    for (const unsigned k : set_bits(released)) {
      raise(warps_[k].warps, row);
      if (split) warps_[k].warp_sync = std::max(warps_[k].warp_sync, row[k]);
    }
  }
  for (const unsigned k : set_bits(released)) {
    warp_clock& w = warps_[k];
    w.last_release = now;
    if (!split) all_meet(w, now);
    if (!knows) continue;
    w.knows = true;
    w.known.set_all(known);
    w.learned = now;
    if (!split || !w.cluster_knows) w.learned_elsewhere = now;
  }
  if (fenced_) share_fences();
}

// After a barrier any thread of the block may release what others have fenced before it.
void block_clock::share_fences() {
  auto all = std::make_shared<fence_views>();
  const auto add = [&all](const std::shared_ptr<const fence_view>& v) {
    if (v && std::find(all->begin(), all->end(), v) == all->end()) all->push_back(v);
  };
  for (warp_clock& w : warps_) {
    w.cluster_knows = w.cluster_knows && !fenced_since_;
    if (w.fenced && !w.fence.divided() && !w.fence_wide.divided()) add(w.fence.of(0)), add(w.fence_wide.of(0));
    else if (w.fenced)
      for (unsigned l = 0; l < isa::warp_size; ++l) add(w.fence.of(l)), add(w.fence_wide.of(l));
    w.released.set_all(nullptr);
  }
  shared_fences_ = std::move(all);
  fenced_ = false;
}

// As the lane before, mostly. False: it is known.
bool block_clock::learns(knowledge& own, const acquired& a) {
  if (after_ && own == before_ && learnt_.log == a.log && learnt_.count == a.count) {
    own = after_;
    return true;
  }
  knowledge earlier = own;
  if (!learn(own, a)) return false;
  before_ = std::move(earlier);
  after_ = own;
  learnt_ = a;
  return true;
}

void block_clock::acquires(std::uint32_t warp, simt::lane_mask lanes, const sync_log& log, std::uint32_t count,
                           sequence now) {
  if (count == 0 || lanes == 0) return;
  warp_clock& w = warps_[warp];
  w.knows = true;
  bool news = false;
  if (units(lanes) == simt::all_lanes && !w.known.divided()) {
    knowledge known = w.known.of(0);
    news = learns(known, {&log, count});
    if (news) w.known.set_all(known);
  } else {
    for (const unsigned lane : set_bits(lanes)) news = learns(w.known.own(lane), {&log, count}) || news;
    if (lanes == simt::all_lanes) w.known.join();
  }
  if (!news) return;
  w.learned = now;
  if (!log.of_barrier) w.learned_elsewhere = now;
}

void block_clock::sees(std::uint32_t warp, unsigned lane, const sync_log& log, std::uint32_t count) {
  if (count == 0) return;
  warps_[warp].sees = true;
  learn(warps_[warp].seen[unit(lane)], {&log, count});
}

void block_clock::acquire_seen(warp_clock& w, simt::lane_mask lanes, bool of_block, sequence now) {
  for (const unsigned l : set_bits(independent_ ? lanes : 1u)) {
    if (!w.seen[l]) continue;
    w.knows = true;
    for (acquired a : w.seen[l]->at) {
      if (of_block) a.block = block_;
      if (learn(w.known.own(l), a)) w.learned = w.learned_elsewhere = now;
    }
    if (!of_block) w.seen[l].reset();
  }
}

std::shared_ptr<const fence_views> block_clock::releases(std::uint32_t warp, simt::lane_mask lanes, sequence& up_to) {
  const warp_clock& w = warps_[warp];
  auto all = std::make_shared<fence_views>();
  up_to = ~sequence{0};
  const auto add = [&all](const std::shared_ptr<const fence_view>& v) {
    if (v && std::find(all->begin(), all->end(), v) == all->end()) all->push_back(v);
  };
  if (shared_fences_)
    for (const auto& v : *shared_fences_) add(v);
  for (const unsigned l : set_bits(lanes)) {
    const auto& wide = w.fence_wide.of(unit(l));
    up_to = std::min(up_to, wide ? wide->number : 0);
    add(wide);
  }
  return all;
}

std::shared_ptr<const fence_views> block_clock::releases(std::uint32_t warp, unsigned lane) {
  warp_clock& w = warps_[warp];
  lane = unit(lane);
  const std::shared_ptr<const fence_view>&fence = w.fence.of(lane), &wide = w.fence_wide.of(lane);
  if (!fence && !shared_fences_) return nullptr;
  if (const auto& known = w.released.of(lane)) return known;
  const auto keep = [&](std::shared_ptr<const fence_views> views) {
    if (!w.fence.divided() && !w.fence_wide.divided()) w.released.set_all(views);
    else w.released.own(lane) = views;
    return views;
  };
  const unsigned last = w.released_last;
  w.released_last = lane;
  if (w.released.of(last) && w.fence.of(last) == fence && w.fence_wide.of(last) == wide)
    return keep(w.released.of(last));
  if (is_shared(fence) && is_shared(wide)) return keep(shared_fences_);
  auto views = std::make_shared<fence_views>();
  const auto is_covered = [&](const auto& v) { return (fence && fence->includes(*v)) || (wide && wide->includes(*v)); };
  if (shared_fences_)
    std::remove_copy_if(shared_fences_->begin(), shared_fences_->end(), std::back_inserter(*views), is_covered);
  if (fence) views->push_back(fence);
  if (wide && wide != fence) views->push_back(wide);
  return keep(std::move(views));
}

}  // namespace heddle::sanitize
