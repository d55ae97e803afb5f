// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/sub_partition/policies/placement_order.h"
#include "heddle/sub_partition/policies/scheduling_policy.h"

namespace heddle {

/// `oldest`: always the eligible warp that was placed first.
class oldest_first : public scheduling_policy {
 public:
  oldest_first(const sub_partition_parameters&, const policy_place&) {}
  unsigned select(const warp_view& view) override;
  void placed(unsigned slot, std::uint64_t cycle) override;

 private:
  placement_order order_;
};

}  // namespace heddle
