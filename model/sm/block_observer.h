// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/tlm/kernel/unit_clock.h"

namespace heddle {

struct resident_launch;

/// Observes blocks and warps entering SMs (placed, or restored from memory) and leaving them (completed, or swapped
/// out).
class block_observer {
 public:
  virtual ~block_observer() = default;
  virtual void block_entered(unsigned sm, unsigned cta_slot, const resident_launch& launch, std::uint64_t block,
                             cycle_t cycle) = 0;
  virtual void block_left(unsigned sm, unsigned cta_slot, cycle_t cycle) = 0;
  /// `warp` is the warp id on the SM; the warp belongs to the block in `cta_slot`.
  virtual void warp_entered(unsigned sm, unsigned warp, unsigned cta_slot, unsigned warp_in_block, cycle_t cycle) = 0;
  virtual void warp_left(unsigned sm, unsigned warp, cycle_t cycle) = 0;
};

}  // namespace heddle
