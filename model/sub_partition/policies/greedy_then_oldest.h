// SPDX-License-Identifier: MIT
#pragma once

#include <array>

#include "sub_partition/scheduling_policy.h"

namespace heddle {

/// `gto`: keeps issuing the same warp until it stalls, then the oldest by time of placement (ties: lowest slot).
/// Source: Rogers, O'Connor, Aamodt, "Cache-Conscious Wavefront Scheduling", MICRO 2012.
class greedy_then_oldest : public scheduling_policy {
 public:
  unsigned select(std::uint64_t eligible, std::uint64_t cycle) override;
  void placed(unsigned slot, std::uint64_t cycle) override;

 private:
  unsigned last_ = 0;
  std::uint64_t placements_ = 0;
  std::array<std::uint64_t, 64> age_{};   // order of placement
};

}  // namespace heddle
