// SPDX-License-Identifier: MIT
#include "heddle/memory/common/tlb.h"

#include "heddle/config/error.h"

namespace heddle {

tlb::tlb(const gpu_config& config) : miss_latency_(config.tlb.miss_latency_cycles), entries_(config.tlb.entries) {
  const unsigned page = config.tlb.page_bytes;
  if (page < 128 || (page & (page - 1)) != 0)
    throw input_error("tlb.page_bytes: a power of two of at least 128 was expected");
  while ((std::uint64_t{1} << page_shift_) < page) ++page_shift_;
}

cycle_t tlb::look_up(std::uint64_t address, std::uint32_t launch, cycle_t cycle) {
  const std::uint64_t page = address >> page_shift_;
  tlb_counters& c = counters[launch];
  ++c.accesses;
  std::size_t victim = 0;
  std::size_t found = entries_.size();
  if (entries_[recent_].used != 0 && entries_[recent_].page == page) {
    found = recent_;
  } else {
    for (std::size_t k = 0; k < entries_.size(); ++k) {
      if (entries_[k].used != 0 && entries_[k].page == page) {
        found = k;
        break;
      }
      if (entries_[k].used < entries_[victim].used) victim = k;
    }
  }
  if (found == entries_.size()) {
    ++c.misses;
    recent_ = victim;
    entries_[victim] = {page, cycle + miss_latency_, ++clock_};
    return entries_[victim].filled;
  }
  recent_ = found;
  entry& e = entries_[found];
  e.used = ++clock_;
  ++(e.filled > cycle ? c.pending_hits : c.hits);
  return e.filled > cycle ? e.filled : cycle;
}

void tlb::check_invariants() const {
  for (std::uint32_t l = 0; l < counters.end(); ++l) {
    const tlb_counters* c = counters.find(l);
    invariant(c == nullptr || c->accesses == c->hits + c->misses + c->pending_hits,
              "tlb: accesses differ from hits + misses + pending hits");
  }
}

void tlb::exchange(state_image& image) {
  image.each(entries_);
  image(recent_, clock_, counters);
}

}  // namespace heddle
