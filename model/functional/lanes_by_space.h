// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/isa/program.h"
#include "heddle/isa/set_bits.h"
#include "heddle/simt/warp/warp_state.h"

namespace heddle {

inline bool within(std::uint64_t address, std::uint64_t base) {
  return address >= base && address < base + isa::window_bytes;
}

/// The lanes of an access by the memory that they access.
struct lanes_by_space {
  simt::lane_mask shared = 0;
  simt::lane_mask local = 0;
  simt::lane_mask global = 0;
};

/// Generic addresses in the windows of shared and local memory become offsets.
inline lanes_by_space divide_by_space(isa::space space, simt::lane_mask mask, std::uint64_t* addresses) {
  lanes_by_space lanes;
  switch (space) {
    case isa::space::shared: lanes.shared = mask; break;
    case isa::space::local: lanes.local = mask; break;
    case isa::space::global: lanes.global = mask; break;
    case isa::space::constant: break;
    case isa::space::generic:
      for (const unsigned l : set_bits(mask)) {
        std::uint64_t& a = addresses[l];
        if (within(a, isa::shared_window_base)) {
          a -= isa::shared_window_base;
          lanes.shared |= 1u << l;
        } else if (within(a, isa::local_window_base)) {
          a -= isa::local_window_base;
          lanes.local |= 1u << l;
        } else {
          lanes.global |= 1u << l;
        }
      }
      break;
  }
  return lanes;
}

/// The lanes of an access to shared memory that name other blocks of the cluster. Addresses that name the block itself
/// become offsets.
struct lanes_by_block {
  simt::lane_mask others = 0;

  lanes_by_block(simt::lane_mask mask, std::uint64_t* addresses, std::uint32_t own_rank) {
    for (const unsigned l : set_bits(mask)) {
      const std::uint64_t place = addresses[l] >> isa::cluster_offset_bits;
      if (place == own_rank + 1) addresses[l] &= isa::cluster_offset_mask;
      else if (place != 0) others |= 1u << l;
    }
  }
  /// Takes the lanes out of `left` that name the same block as the first of them, and gives its rank.
  static simt::lane_mask next(simt::lane_mask& left, const std::uint64_t* addresses, std::uint32_t& rank) {
    const std::uint64_t place = addresses[__builtin_ctz(left)] >> isa::cluster_offset_bits;
    simt::lane_mask some = 0;
    for (const unsigned l : set_bits(left))
      if (addresses[l] >> isa::cluster_offset_bits == place) some |= 1u << l;
    left &= ~some;
    rank = static_cast<std::uint32_t>(place) - 1;
    return some;
  }
};

}  // namespace heddle
