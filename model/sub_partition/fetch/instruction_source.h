// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/tlm/kernel/clock_timing.h"

namespace heddle {

/// Where a level of instruction cache gets its lines: the next level, or memory.
class instruction_source {
 public:
  /// First cycle in which the line whose first byte is at `address` is there, requested in `cycle` for a warp of
  /// `launch`. never: that is not known yet, and instruction_cache::fill_arrived() is called in that cycle.
  virtual cycle_t look_up(std::uint64_t address, cycle_t cycle, std::uint32_t launch) = 0;

 protected:
  ~instruction_source() = default;
};

}  // namespace heddle
