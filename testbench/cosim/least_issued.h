// SPDX-License-Identifier: MIT
#pragma once

#include <heddle/sub_partition/issue/warp_scheduler.h>

#include <array>
#include <cstdint>

namespace cosim {

/// Selects the eligible warp that has issued the fewest instructions.
class least_issued : public heddle::scheduling_policy {
 public:
  unsigned select(const heddle::warp_view& view) override {
    unsigned best = 0;
    bool found = false;
    for (unsigned slot = 0; slot < issued_.size(); ++slot) {
      if (!(view.eligible >> slot & 1) || (found && issued_[slot] >= issued_[best])) continue;
      best = slot;
      found = true;
    }
    ++issued_[best];
    return best;
  }
  void placed(unsigned slot, std::uint64_t) override { issued_[slot] = 0; }

 private:
  std::array<std::uint64_t, 64> issued_{};
};

}  // namespace cosim
