// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/frontend/ptx/machine/machine_ir.h"

namespace heddle::ptx {

/// Where code that keeps the lanes of a warp together has instructions for it.
struct convergence {
  /// For each block, the reconvergence point of lanes that diverge in a region which is entered at its end; no_node:
  /// none.
  std::vector<std::vector<std::uint32_t>> opens;
  std::vector<char> waits;  // whether lanes wait for each other at the beginning of the block
};

/// `reconvergence`: the reconvergence point of the end of each block. Regions whose branches all lanes of a warp decide
/// alike have no instructions. A region begins where no branch of it has been executed yet, outside of loops that the
/// lanes leave before they reconverge. `exits_apart`: nor has a region after which lanes only exit.
convergence find_convergence(const machine_function& f, const std::vector<std::uint32_t>& reconvergence,
                             bool exits_apart);

}  // namespace heddle::ptx
