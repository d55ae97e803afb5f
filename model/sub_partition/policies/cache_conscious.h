// SPDX-License-Identifier: MIT
#pragma once

#include <array>

#include "heddle/sub_partition/policies/placement_order.h"
#include "heddle/sub_partition/policies/scheduling_policy.h"

namespace heddle {

/// `ccws`: greedy then oldest; the more locality is lost, the fewer warps may load through the L1. Each warp has a
/// score of at least sub_partition.ccws_base_score. A miss on a line that the L1 recently held for that warp raises the
/// score, which then falls by one a cycle. Scores are stacked from the highest down; warps above the summed base scores
/// of the resident warps may not issue loads. The L1 keeps sub_partition.ccws_victim_tags per warp to detect such
/// misses. Source: Rogers, O'Connor, Aamodt, "Cache-Conscious Wavefront Scheduling", MICRO 2012.
class cache_conscious : public scheduling_policy {
 public:
  cache_conscious(const sub_partition_parameters& parameters, const policy_place& place);
  unsigned select(const warp_view& view) override;
  void placed(unsigned slot, std::uint64_t cycle) override;
  void removed(unsigned slot) override;
  bool holds_memory() const override { return true; }
  std::uint64_t held(const warp_view& view, std::uint64_t wanting, std::uint64_t loads, bool saturated) override;
  bool wants_lost_locality() const override { return true; }
  void lost_locality(unsigned slot, std::uint64_t cycle) override;

 private:
  std::uint64_t score(unsigned slot, std::uint64_t cycle) const;
  std::uint64_t cutoff() const;

  const std::uint64_t base_;
  const std::uint64_t throttle_;
  unsigned last_ = 0;
  placement_order order_;
  std::uint64_t resident_ = 0;
  std::uint64_t issued_ = 1;               // cycles with an issue; starts at 1 because it is a divisor
  std::uint64_t lost_ = 0;                 // reported misses with lost locality
  std::uint64_t at_base_ = 0;              // all scores are at the base from this cycle on
  std::array<std::uint64_t, 64> until_{};  // cycle in which the slot's score is back at the base
};

}  // namespace heddle
