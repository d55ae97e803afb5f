// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/sub_partition/account/stall_account.h"
#include "heddle/sub_partition/issue/warp_scheduler.h"
#include "heddle/sub_partition/warp/warp_supervisor.h"
#include "heddle/sub_partition/warp/warp_table.h"

namespace heddle {

/// Ready warps that the scheduling policy keeps from accessing global memory (policies that limit how many warps do).
class memory_hold {
 public:
  memory_hold(warp_table& warps, warp_scheduler& scheduler, stall_account& account, warp_supervisor& supervisor)
      : warps_(warps), scheduler_(scheduler), account_(account), supervisor_(supervisor) {}

  /// Asks the policy which ready warps must not access global memory in this cycle.
  void update(cycle_t cycle);
  /// The slot's warp is stopped.
  void forget(unsigned slot) { held_ &= ~(std::uint64_t{1} << slot); }
  [[nodiscard]] bool any() const { return held_ != 0; }
  /// For a state_image.
  template <class Image>
  void exchange(Image& image) {
    image(held_);
  }

 private:
  warp_table& warps_;
  warp_scheduler& scheduler_;
  stall_account& account_;
  warp_supervisor& supervisor_;
  std::uint64_t held_ = 0;  // mask of slots
};

}  // namespace heddle
