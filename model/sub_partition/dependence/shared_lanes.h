// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/tlm/kernel/clock_domain.h"

namespace heddle {

/// An instruction's use of them: none of them executes it, those that do everything, or any.
enum class lane_use : std::uint8_t { none, general, any };

/// Lanes of the SM that its sub-partitions share, in groups of a warp's width, each for one instruction at a time. The
/// first groups take additions and multiplications of fp32 alone, the last ones whatever a core does. The first right
/// to a group changes from cycle to cycle; others may have it if who has that right has not asked for lanes lately, or
/// has had its turn in this cycle and left them (users have their turns in the order of their numbers).
class shared_lanes {
 public:
  /// `groups` in all, `general` of them for everything; users are numbered from 0 to `users` - 1.
  shared_lanes(unsigned groups, unsigned general, unsigned users);

  /// May `user` use a group from `cycle` on? If so it calls take() next.
  bool grant(unsigned user, lane_use use, cycle_t cycle);
  void take(cycle_t cycle, unsigned initiation_cycles) { free_at_[granted_] = cycle + initiation_cycles; }

 private:
  bool may_have(std::size_t group, unsigned user, cycle_t cycle) const;

  std::vector<cycle_t> free_at_;  // by group
  std::vector<cycle_t> asked_;    // by user: the last time, plus one; 0: never
  unsigned general_;
  std::size_t granted_ = 0;
};

}  // namespace heddle
