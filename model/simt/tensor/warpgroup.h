// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>

#include "heddle/simt/warp/execute_function.h"

namespace heddle::simt {

/// HGMMA, QGMMA, IGMMA, BGMMA: the 16 rows of a warp of a warpgroup's product. Throws program_error if a descriptor
/// leads out of the block's shared memory.
void warpgroup_product(const isa::instruction& i, warp_state& w, lane_mask mask);

/// Calls f(address, bytes) for each row of 16 bytes of the block's shared memory that the product reads.
void each_row_read(const isa::instruction& i, const warp_state& w, lane_mask mask,
                   const std::function<void(std::uint64_t, unsigned)>& f);

}  // namespace heddle::simt
