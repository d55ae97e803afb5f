// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace heddle::testbench {

/// A launch that is simulated for others: they all take `weight` times as long as it.
struct weighted_launch {
  std::uint32_t launch = 0;
  double weight = 0;
};

}  // namespace heddle::testbench
