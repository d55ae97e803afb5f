// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/tlm/kernel/clock_timing.h"

namespace heddle {

/// Learns that system-scope fences have been performed.
class fence_observer {
 public:
  /// All L2 slices have answered the warp's fence.
  virtual void fence_performed(unsigned warp, cycle_t cycle) = 0;

 protected:
  ~fence_observer() = default;
};

}  // namespace heddle
