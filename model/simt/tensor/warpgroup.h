// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/simt/warp/execute_function.h"

namespace heddle::simt {

/// HGMMA, QGMMA, IGMMA, BGMMA: the 16 rows of a warp of a warpgroup's product. Throws program_error if a descriptor
/// leads out of the block's shared memory.
void warpgroup_product(const isa::instruction& i, warp_state& w, lane_mask mask);

}  // namespace heddle::simt
