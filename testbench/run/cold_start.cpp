// SPDX-License-Identifier: MIT
#include "testbench/run/cold_start.h"

namespace heddle::testbench {

bool cold_start::ready() {
  if (!cold_) return true;
  running_ = running_ && !driver_.finished(launch_);
  if (running_) return false;
  const bool begin = !empty_;
  empty_ = true;
  return !driver_.flush_caches(begin);
}

}  // namespace heddle::testbench
