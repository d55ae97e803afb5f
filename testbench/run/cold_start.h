// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/gpu/host/host_driver.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle::testbench {

/// Launches with empty caches (`--cold`), as profilers make them: one at a time, in the order in which they could
/// begin, and all caches are written back and emptied before each. Without it launches begin at once.
class cold_start {
 public:
  cold_start(host_driver& driver, bool cold) : driver_(driver), cold_(cold) {}

  /// True if the next launch may begin now. If not, ask again after the driver's progress event.
  bool ready();
  void exchange(state_image& image) { image(empty_, running_, launch_); }
  /// The launch has begun.
  void began(unsigned launch) {
    running_ = true;
    launch_ = launch;
    empty_ = false;
  }

 private:
  host_driver& driver_;
  const bool cold_;
  bool empty_ = true;  // or about to be: the caches
  bool running_ = false;
  unsigned launch_ = 0;
};

}  // namespace heddle::testbench
