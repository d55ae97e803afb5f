// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/sub_partition/policies/scheduling_policy.h"

namespace heddle {

/// `highest_slot`: the eligible warp in the highest slot.
class highest_slot : public scheduling_policy {
 public:
  highest_slot(const sub_partition_parameters&, const policy_place&) {}
  unsigned select(const warp_view& view) override { return 63 - static_cast<unsigned>(__builtin_clzll(view.eligible)); }
};

}  // namespace heddle
