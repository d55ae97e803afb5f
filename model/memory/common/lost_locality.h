// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/kernel/unit_clock.h"

namespace heddle {

class lost_locality_observer {
 public:
  virtual ~lost_locality_observer() = default;
  /// In `cycle` the warp missed a line that was fetched for it and evicted recently.
  virtual void locality_lost(unsigned warp, cycle_t cycle) = 0;
};

/// Victim tags beside a cache: keeps, for each warp, the addresses of the last lines that were fetched for it and
/// evicted. They identify misses that a larger cache or fewer warps would have avoided. Source: Rogers et al., MICRO
/// 2012 (victim tag arrays).
class lost_locality {
 public:
  lost_locality(unsigned warps, unsigned tags_per_warp, lost_locality_observer& observer);

  /// The warp missed `line`, which is allocated at index `index` of the cache.
  void missed(unsigned index, std::uint64_t line, unsigned warp, cycle_t cycle);
  /// A prefetched line, which belongs to no warp, is allocated at the index.
  void prefetched(unsigned index, std::uint64_t line);
  void exchange(state_image& image);

 private:
  struct holder {
    std::uint64_t line = 0;
    unsigned warp = ~0u;
    void exchange(state_image& image) { image(line, warp); }
  };
  void replace(unsigned index, const holder& by);

  unsigned tags_per_warp_;
  lost_locality_observer& observer_;
  std::vector<holder> places_;          // by index in the cache
  std::vector<std::uint64_t> victims_;  // per warp a ring of tags_per_warp_ line addresses (no_line: none)
  std::vector<unsigned> next_;          // by warp: next position in the ring
};

}  // namespace heddle
