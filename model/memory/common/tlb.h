// SPDX-License-Identifier: MIT
// Models: the timing of an SM's translation look-aside buffer for global and local memory (addresses are physical
//   here).
// Sockets: none; the load/store unit calls it before an access goes to the L1.
// One cycle: any number of look-ups. A missing page is filled after a fixed time; several fills may be outstanding.
// Parameters: [tlb].
// Source: Jia et al. 2018, table 3.1 (coverage, page size); LRU over all entries.
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/memory/common/per_launch.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/kernel/unit_clock.h"

namespace heddle {

/// accesses = hits + misses + pending_hits.
struct tlb_counters {
  std::uint64_t accesses = 0;  // look-ups: one per line of an access
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t pending_hits = 0;  // the translation was being fetched already
  void exchange(state_image& image) { image.numbers(*this); }
};

class tlb {
 public:
  explicit tlb(const gpu_config& config);

  /// If false, every address is translated at once and nothing is counted.
  [[nodiscard]] bool enabled() const { return !entries_.empty(); }
  /// The first cycle in which an access to `address`, looked up in `cycle`, can proceed.
  cycle_t look_up(std::uint64_t address, std::uint32_t launch, cycle_t cycle);

  per_launch<tlb_counters> counters;
  /// Throws internal_error if a launch's counters contradict each other.
  void check_invariants() const;
  void exchange(state_image& image);

 private:
  struct entry {
    std::uint64_t page = ~std::uint64_t{0};
    cycle_t filled = 0;
    std::uint64_t used = 0;  // 0: empty
    void exchange(state_image& image) { image(page, filled, used); }
  };
  unsigned page_shift_ = 0;
  unsigned miss_latency_;
  std::vector<entry> entries_;
  std::size_t recent_ = 0;  // the entry of the last look-up
  std::uint64_t clock_ = 0;
};

}  // namespace heddle
