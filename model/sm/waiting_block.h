// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "heddle/isa/program.h"
#include "heddle/simt/warp/warp_state.h"

namespace heddle {

/// A resident block that has warps waiting at barriers.
struct waiting_block {
  std::uint32_t launch = 0;
  std::uint64_t number = 0;  // block number in the grid
  simt::dim3 index;
  const isa::program* program = nullptr;
  bool for_ever = false;                                             // all live warps wait, and no barrier can complete
  std::vector<std::pair<unsigned, std::vector<std::string>>> warps;  // by warp: where its groups of lanes are
};

/// Describes where all warps of `blocks` wait: deadlocked blocks first, then in the order of launches, blocks and
/// warps. Equal descriptions are merged. At least one block must be deadlocked.
std::string describe_deadlock(std::vector<waiting_block> blocks);

}  // namespace heddle
