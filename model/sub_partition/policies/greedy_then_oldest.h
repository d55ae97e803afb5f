// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/sub_partition/policies/placement_order.h"
#include "heddle/sub_partition/policies/scheduling_policy.h"

namespace heddle {

/// `gto`: keeps issuing the same warp until it stalls, then the oldest by time of placement.
/// Source: Rogers, O'Connor, Aamodt, "Cache-Conscious Wavefront Scheduling", MICRO 2012.
class greedy_then_oldest : public scheduling_policy {
 public:
  greedy_then_oldest(const sub_partition_parameters&, const policy_place&) {}
  unsigned select(const warp_view& view) override;
  void placed(unsigned slot, std::uint64_t cycle) override;

 private:
  unsigned last_ = 0;
  placement_order order_;
};

}  // namespace heddle
