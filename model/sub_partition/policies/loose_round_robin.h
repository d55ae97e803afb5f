// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/sub_partition/policies/scheduling_policy.h"

namespace heddle {

/// `lrr`: scans from the slot after the last issued one and takes the first eligible warp.
class loose_round_robin : public scheduling_policy {
 public:
  loose_round_robin(const sub_partition_parameters&, const policy_place&) {}
  unsigned select(const warp_view& view) override;

 private:
  unsigned last_ = 63;
};

}  // namespace heddle
