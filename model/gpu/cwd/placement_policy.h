// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "heddle/config/choices.h"

namespace heddle {

/// Chooses the SM that gets the next block.
class placement_policy {
 public:
  virtual ~placement_policy() = default;
  /// `resident[i]`: blocks that SM i holds; `fits(i)`: the block fits there. Returns the SM, or -1 if it fits nowhere.
  virtual int choose(const std::vector<std::uint64_t>& resident, const std::function<bool(unsigned)>& fits) = 0;
  /// Of `sms` SMs, how many are sure to get a block before `sm` gets one, counted up to `most`; `fits(i)`: whatever
  /// block comes next fits on SM i, until it has got one.
  virtual unsigned served_before(unsigned sm, unsigned sms, unsigned most,
                                 const std::function<bool(unsigned)>& fits) const {
    (void)sm, (void)sms, (void)most, (void)fits;
    return 0;
  }
};

/// The policy of `cwd.placement`.
std::unique_ptr<placement_policy> make_placement_policy(choice::placement which);

}  // namespace heddle
