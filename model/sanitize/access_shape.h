// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

#include "heddle/isa/set_bits.h"
#include "heddle/simt/warp/warp_state.h"

namespace heddle::sanitize {

/// How the bytes that the lanes of an access name lie in memory. Most accesses are of one of the first two kinds, and
/// are checked at once for all lanes.
struct access_shape {
  enum class kind : std::uint8_t {
    same,  // all lanes name the same bytes
    row,   // all 32 lanes, each the bytes that follow those of the lane before
    other
  };
  kind how = kind::other;
  std::uint64_t begin = 0, end = 0;  // contain all bytes; half-open
  std::uint64_t ored = 0;            // all addresses, or'ed: their low bits tell of alignment

  /// `mask`: not 0.
  static access_shape of(const std::uint64_t* addresses, simt::lane_mask mask, unsigned bytes) {
    access_shape s;
    const std::uint64_t first = addresses[__builtin_ctz(mask)];
    std::uint64_t from_first = 0, from_row = 0;
    if (mask == simt::all_lanes)
      for (unsigned l = 0; l < isa::warp_size; ++l) {
        s.ored |= addresses[l];
        from_first |= addresses[l] ^ first;
        from_row |= addresses[l] ^ (first + std::uint64_t{l} * bytes);
      }
    else
      for (const unsigned l : set_bits(mask)) {
        s.ored |= addresses[l];
        from_first |= addresses[l] ^ first;
        from_row = 1;
      }
    s.begin = first;
    s.end = first + bytes;
    if (from_first == 0) {
      s.how = kind::same;
    } else if (from_row == 0) {
      s.how = kind::row;
      s.end = first + std::uint64_t{isa::warp_size} * bytes;
    } else {
      std::uint64_t last = first;
      for (const unsigned l : set_bits(mask)) {
        s.begin = std::min(s.begin, addresses[l]);
        last = std::max(last, addresses[l]);
      }
      s.end = last + bytes;
    }
    return s;
  }
};

}  // namespace heddle::sanitize
