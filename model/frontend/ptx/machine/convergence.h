// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/frontend/ptx/machine/machine_ir.h"

namespace heddle::ptx {

/// Where code that keeps the lanes of a warp together has instructions for it.
struct convergence {
  /// For each block, the block where lanes meet again that part in a region which is entered at its end; no_node: none.
  std::vector<std::vector<std::uint32_t>> opens;
  std::vector<char> waits;  // whether lanes wait for each other at the beginning of the block
};

/// `meeting`: where lanes meet that part at the end of each block. Regions whose branches all lanes of a warp decide
/// alike have no instructions. A region begins where every branch of it is still ahead, outside of loops that the lanes
/// leave before they meet.
convergence find_convergence(const machine_function& f, const std::vector<std::uint32_t>& meeting);

}  // namespace heddle::ptx
