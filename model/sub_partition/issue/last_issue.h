// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/simt/warp/warp_state.h"
#include "heddle/tlm/kernel/clock_timing.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

/// The last issue of a sub-partition. Observers sample it.
struct last_issue {
  unsigned count = 0;            // instructions issued in the last active cycle
  unsigned warp = 0;             // warp id
  cycle_t cycle = never;         // of the last issue
  std::uint32_t pc = 0;          // of its first instruction
  simt::lane_mask lanes = 0;     // active ones
  unsigned conflicts = 0;        // extra operand-read cycles of the last instruction with a bank conflict,
  cycle_t conflicts_at = never;  // which issued in this cycle

  void exchange(state_image& image) { image(count, warp, cycle, pc, lanes, conflicts, conflicts_at); }
};

}  // namespace heddle
