// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "heddle/isa/program.h"
#include "heddle/simt/warp/warp_state.h"

namespace heddle {

/// A resident block of which warps wait at barriers.
struct waiting_block {
  std::uint32_t launch = 0;
  std::uint64_t number = 0;  // in the grid
  simt::dim3 index;
  const isa::program* program = nullptr;
  bool for_ever = false;  // all that live wait, and no barrier can complete
  std::vector<std::pair<unsigned, std::vector<std::string>>>
      warps;  // by warp of the block: where groups of its lanes stand
};

/// Says of all warps of `blocks` where they wait: blocks that wait for ever first, then in the order of launches,
/// blocks and warps; what is alike is told once, with all to which it applies. At least one block waits for ever.
std::string describe_deadlock(std::vector<waiting_block> blocks);

}  // namespace heddle
