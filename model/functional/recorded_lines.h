// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/functional/lanes_by_space.h"
#include "heddle/isa/recording.h"
#include "heddle/memory/common/touched_lines.h"
#include "heddle/simt/warp/warp_state.h"
#include "heddle/sub_partition/dependence/decoded_program.h"

namespace heddle {

/// What an access to global or local memory does with its lines.
line_use use_of(const isa::instruction& i);

/// A warp of a block that is not simulated: where it would run, if blocks took the GPU's places in turn.
struct untimed_warp {
  const simt::launch_context& launch;
  std::uint64_t place = 0;  // among the warps of all SMs

  /// Warp `warp` of block `block`, if `together` blocks are resident at a time.
  untimed_warp(const simt::launch_context& launch, std::uint64_t block, std::uint64_t together, std::uint32_t warp);
  /// Adds to `lines` an access of lanes to addresses in global memory, and of others to offsets in local memory.
  void access(touched_lines& lines, const std::uint64_t addresses[32], const lanes_by_space& lanes, unsigned bytes,
              line_use use) const;
};

/// The lines of global and local memory that a recorded block accesses, one warp after another. `number`, `together`:
/// as above. Throws what its records throw.
std::vector<line_touch> lines_of(const isa::recorded_block& block, const decoded_program& program,
                                 const simt::launch_context& launch, std::uint64_t number, std::uint64_t together);

}  // namespace heddle
