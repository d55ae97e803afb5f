// SPDX-License-Identifier: MIT
#include "heddle/sanitize/clocks.h"

#include <algorithm>
#include <iterator>

namespace heddle::sanitize {

namespace {

bool knows(const std::vector<acquired>& all, const acquired& a) {
  const auto has = [&](const acquired& k) { return k.log == a.log && k.block == a.block && k.count >= a.count; };
  return std::any_of(all.begin(), all.end(), has);
}

void add(std::vector<acquired>& all, const acquired& a) {
  const auto same =
      std::find_if(all.begin(), all.end(), [&](const acquired& k) { return k.log == a.log && k.block == a.block; });
  if (same == all.end()) all.push_back(a);
  else same->count = std::max(same->count, a.count);
}

}  // namespace

knowledge joined(const knowledge& a, const knowledge& b) {
  if (!a || a == b) return b;
  if (!b) return a;
  const auto in_a = [&](const acquired& x) { return knows(a->at, x); };
  const auto in_b = [&](const acquired& x) { return knows(b->at, x); };
  if (std::all_of(b->at.begin(), b->at.end(), in_a)) return a;
  if (std::all_of(a->at.begin(), a->at.end(), in_b)) return b;
  auto both = std::make_shared<acquired_releases>();
  both->at = a->at;
  for (const acquired& x : b->at) add(both->at, x);
  std::set_union(a->views.begin(), a->views.end(), b->views.begin(), b->views.end(), std::back_inserter(both->views));
  return both;
}

// False: it is known.
bool learn(knowledge& known, const acquired& a) {
  if (known && knows(known->at, a)) return false;
  const bool all = a.block == acquired::any_block;
  if (all && known && !a.log->has_news(a.count, known)) return false;
  auto more = known ? std::make_shared<acquired_releases>(*known) : std::make_shared<acquired_releases>();
  if (all) a.log->add_views(a.count, more->views);
  add(more->at, a);
  known = std::move(more);
  return true;
}

bool fence_view::covers(const access_mark& a, std::uint32_t warp_in_block) const {
  if (copy != 0 || a.is(access_mark::copying))
    return a.is(access_mark::copying) && copy == a.number && (lanes == 0 || (lanes & a.lanes) != 0);
  if (block_sync >= a.number) return true;
  if (warp_in_block != warp) return warp_in_block < warps.size() && warps[warp_in_block] >= a.number;
  return (a.lanes & ~lanes) == 0 ? number >= a.number : warp_sync >= a.number;
}

bool fence_view::includes(const fence_view& earlier) const {
  if (copy != 0 || earlier.copy != 0 || block_sync < earlier.number || (of_block && !earlier.of_block)) return false;
  return !earlier.known || (known && joined(known, earlier.known) == known);
}

void sync_log::append(std::shared_ptr<const fence_views> views, std::uint64_t block, sequence now) {
  last_release& last = last_[block % last_.size()];
  if (last.block == block && last.views == views.get()) return;  // nothing was fenced since
  last = {block, views.get()};
  std::vector<std::uint32_t>& own = by_block_[block];
  if (!own.empty() && releases_[own.back()].views == views) return;
  own.push_back(size());
  const auto knows_others = [this](const auto& v) {
    return v->known &&
           std::any_of(v->known->at.begin(), v->known->at.end(), [this](const acquired& k) { return k.log != this; });
  };
  if (std::any_of(views->begin(), views->end(), knows_others)) nested_.push_back(size());
  add_blocks(*views, block);
  for (const auto& v : *views) {
    if (v->copy != 0) copies_.emplace(v->copy, size());
    note(*v);
  }
  releases_.push_back({std::move(views), now});
}

void sync_log::add_blocks(const fence_views& views, std::uint64_t block) {
  blocks_.add(block);
  for (const auto& v : views) {
    if (!v->known || v->known.get() == added_) continue;
    added_ = v->known.get();
    for (const acquired& k : v->known->at)
      if (k.log != this) blocks_.add(k.log->blocks_);
  }
}

void sync_log::note(const fence_view& v) {
  if (views_.size() > most_views) return;
  const auto at = std::lower_bound(views_.begin(), views_.end(), &v,
                                   [](const seen_view& s, const fence_view* w) { return s.view < w; });
  if (at == views_.end() || at->view != &v) views_.insert(at, {&v, size()});
}

bool sync_log::has_news(std::uint32_t count, const knowledge& known) const {
  if (views_.size() > most_views) return true;
  for (const knowing& k : knowing_)
    if (k.address == known.get() && k.views == views_.size()) return false;
  auto at = known->views.begin();
  const auto end = known->views.end();
  const auto is_known = [&](const seen_view& s) {
    while (at != end && *at < s.view) ++at;
    return s.release >= count || (at != end && *at == s.view);
  };
  if (!std::all_of(views_.begin(), views_.end(), is_known)) return true;
  if (count == size()) knowing_[next_knowing_++ % knowing_.size()] = {known, known.get(), views_.size()};
  return false;
}

// A view of a block's fence counts for other blocks in a cluster alone.
void sync_log::add_views(std::uint32_t count, std::vector<const fence_view*>& known) const {
  if (views_.size() > most_views) return;
  auto at = known.begin();
  for (const seen_view& s : views_) {
    if (s.release >= count || known.size() >= most_views || (s.view->of_block && !in_cluster)) continue;
    at = std::lower_bound(at, known.end(), s.view);
    if (at == known.end() || *at != s.view) at = known.insert(at, s.view);
  }
}

const fence_view* sync_log::covering(std::uint32_t count, const access_mark& a, std::uint32_t warps_per_block,
                                     std::uint64_t reader, std::uint64_t only) const {
  if (!blocks_.may_have(a.warp / warps_per_block)) return nullptr;
  if (const fence_view* const own = among_own(count, a, warps_per_block, reader, only)) return own;
  if (nested_.empty()) return nullptr;
  visits seen;
  return search(count, a, warps_per_block, reader, only, seen);
}

// Among the releases by the access's own block.
const fence_view* sync_log::among_own(std::uint32_t count, const access_mark& a, std::uint32_t warps_per_block,
                                      std::uint64_t reader, std::uint64_t only) const {
  const std::uint64_t block = a.warp / warps_per_block;
  if (only != acquired::any_block && !in_cluster && block != only) return nullptr;
  if (a.is(access_mark::copying)) {
    const auto ends = copies_.equal_range(a.number);
    for (auto end = ends.first; end != ends.second; ++end) {
      if (end->second >= count) continue;
      for (const auto& view : *releases_[end->second].views)
        if (view->covers(a, a.warp % warps_per_block)) return view.get();
    }
    return nullptr;
  }
  const auto own = by_block_.find(block);
  if (own == by_block_.end()) return nullptr;
  for (auto k = own->second.rbegin(); k != own->second.rend(); ++k) {
    if (*k >= count) continue;
    if (releases_[*k].time < a.number) break;
    for (const auto& view : *releases_[*k].views)
      if ((!view->of_block || in_cluster || block == reader) && view->covers(a, a.warp % warps_per_block))
        return view.get();
  }
  return nullptr;
}

const fence_view* sync_log::search(std::uint32_t count, const access_mark& a, std::uint32_t warps_per_block,
                                   std::uint64_t reader, std::uint64_t only, visits& seen) const {
  const auto before =
      std::find_if(seen.begin(), seen.end(), [&](const acquired& v) { return v.log == this && v.block == only; });
  if (before != seen.end() && before->count >= count) return nullptr;
  if (before != seen.end()) before->count = count;
  else seen.push_back({this, count, only});
  if (const fence_view* const own = among_own(count, a, warps_per_block, reader, only)) return own;
  const bool all = only == acquired::any_block || in_cluster;
  for (auto k = nested_.rbegin(); k != nested_.rend(); ++k) {
    if (*k >= count) continue;
    if (releases_[*k].time < a.number) break;
    for (const auto& view : *releases_[*k].views) {
      if (!all && view->block != only) continue;
      if (!view->known || (view->of_block && !in_cluster && view->block != reader)) continue;
      for (const acquired& other : view->known->at)
        if (const fence_view* const found =
                other.log->search(other.count, a, warps_per_block, reader, other.block, seen))
          return found;
    }
  }
  return nullptr;
}

}  // namespace heddle::sanitize
