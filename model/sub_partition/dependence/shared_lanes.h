// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/kernel/unit_clock.h"

namespace heddle {

/// The shared lanes that may execute an instruction: none, only the general ones, or any.
enum class lane_use : std::uint8_t { none, general, any };

/// Lanes that the SM's sub-partitions share, in groups of a warp's width; a group executes one instruction at a time.
/// The first groups execute only fp32 additions and multiplications, the last ones (general) every core instruction.
/// Each cycle another sub-partition (user) has priority for a group. Another user may take the group if the user with
/// priority has not requested lanes recently, or has already left it free in this cycle (users issue in the order of
/// their numbers).
class shared_lanes {
 public:
  /// `groups`: all groups; `general`: those for every instruction; users are numbered from 0 to `users` - 1.
  shared_lanes(unsigned groups, unsigned general, unsigned users);

  /// True if `user` may use a group from `cycle` on; it then calls take().
  bool grant(unsigned user, lane_use use, cycle_t cycle);
  void take(cycle_t cycle, unsigned initiation_cycles) { free_at_[granted_] = cycle + initiation_cycles; }
  void exchange(state_image& image) {
    image.each(free_at_);
    image.each(asked_);
    image(granted_);
  }

 private:
  [[nodiscard]] bool may_have(std::size_t group, unsigned user, cycle_t cycle) const;

  std::vector<cycle_t> free_at_;  // by group
  std::vector<cycle_t> asked_;    // by user: cycle of the last request plus one; 0: none yet
  unsigned general_;
  std::size_t granted_ = 0;
};

}  // namespace heddle
