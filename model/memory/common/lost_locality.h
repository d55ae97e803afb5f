// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/tlm/kernel/unit_clock.h"

namespace heddle {

class lost_locality_listener {
 public:
  virtual ~lost_locality_listener() = default;
  /// In `cycle` the warp missed a line that had been here for it not long before.
  virtual void locality_lost(unsigned warp, cycle_t cycle) = 0;
};

/// Beside a cache: per warp the addresses of the last lines that were fetched for it and replaced, to tell a miss that
/// a larger cache, or fewer warps, would have spared. Source: Rogers et al., MICRO 2012 (victim tag arrays).
class lost_locality {
 public:
  lost_locality(unsigned warps, unsigned tags_per_warp, lost_locality_listener& listener);

  /// The warp missed `line`, which takes the place `index` of the cache.
  void missed(unsigned index, std::uint64_t line, unsigned warp, cycle_t cycle);
  /// A line that no warp asked for takes the place.
  void prefetched(unsigned index, std::uint64_t line);

 private:
  struct holder {
    std::uint64_t line = 0;
    unsigned warp = ~0u;
  };
  void replace(unsigned index, const holder& by);

  unsigned tags_per_warp_;
  lost_locality_listener& listener_;
  std::vector<holder> places_;          // by place in the cache
  std::vector<std::uint64_t> victims_;  // tags_per_warp_ a warp, a ring each; lines never have their lowest bit set
  std::vector<unsigned> next_;          // of the ring
};

}  // namespace heddle
