// SPDX-License-Identifier: MIT
#pragma once

#include "sub_partition/policies/placement_order.h"
#include "sub_partition/scheduling_policy.h"

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
