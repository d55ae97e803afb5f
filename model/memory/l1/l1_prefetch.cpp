// SPDX-License-Identifier: MIT
// The L1's prefetcher, and its report of lost locality to a cache-conscious scheduler.
#include "heddle/memory/l1/l1_cache.h"
#include "heddle/simt/warp/warp_state.h"

namespace heddle {

namespace {
constexpr std::uint64_t macro_block_bytes = 512;  // the prefetcher does not cross it: Jog et al., ISCA 2013
}

// After a miss, fetches the next lines of the same macro-block while MSHRs and queue entries are left for loads.
void l1_cache::prefetch_after(const l1_access& access) {
  if (ranges_ == nullptr) return;
  ranges_->refresh(hint_);
  for (unsigned n = 1; n <= prefetch_lines_; ++n) {
    l1_access next = access;
    next.line = access.line + std::uint64_t{n} * line_bytes;
    if (next.line / macro_block_bytes != access.line / macro_block_bytes || saturated()) return;
    if (!ranges_->find(next.line, line_bytes, hint_)) return;
    if (tags_.find(next.line) != l1_tags::none) continue;
    bool evicted = false;
    const unsigned index = tags_.allocate(next.line, evicted);
    if (index == l1_tags::none) return;
    if (locality_) locality_->prefetched(index, next.line);
    l1_counters& c = counters[access.transaction->launch->launch_id];
    c.evictions += evicted;
    ++c.prefetches;
    c.prefetched += sectors_per_line;
    fetch(next, open_mshr(index), (1u << sectors_per_line) - 1);
  }
}

void l1_cache::watch_locality(unsigned warps, unsigned tags_per_warp, lost_locality_observer& observer) {
  locality_ = std::make_unique<lost_locality>(warps, tags_per_warp, observer);
}

}  // namespace heddle
