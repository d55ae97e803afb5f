// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "heddle/sub_partition/policies/scheduling_policy.h"

namespace heddle {

/// `two_level`: slots form fetch groups of sub_partition.fetch_group_warps neighbours. Warps of the active group are
/// selected first, round robin; the next groups in order fill the cycles that it leaves empty. When all warps of the
/// active group wait for memory or a barrier, the next group becomes active, so that groups reach their loads at
/// different times. Source: Narasiman et al., "Improving GPU Performance via Large Warps and Two-Level Warp
/// Scheduling", MICRO 2011.
class two_level : public scheduling_policy {
 public:
  two_level(const sub_partition_parameters& parameters, const policy_place& place);
  unsigned select(const warp_view& view) override;
  void placed(unsigned slot, std::uint64_t cycle) override;
  void removed(unsigned slot) override;
  void exchange(state_image& image) override { image(resident_, active_, last_); }

 protected:
  /// Groups are masks of slots.
  explicit two_level(std::vector<std::uint64_t> groups);

 private:
  std::vector<std::uint64_t> groups_;
  std::uint64_t resident_ = 0;
  std::size_t active_ = 0;
  unsigned last_ = 63;
};

}  // namespace heddle
