// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/isa/set_bits.h"
#include "heddle/sanitize/shadow/shadow_memory.h"
#include "heddle/simt/warp/warp_state.h"

namespace heddle::sanitize {

/// The lanes from the first one of `left` that fill a segment; 0: they do not.
inline simt::lane_mask filling(const std::uint64_t* addresses, simt::lane_mask left, unsigned bytes) {
  const auto first = static_cast<unsigned>(__builtin_ctz(left));
  const unsigned count = shadow_segment::bytes / bytes;
  if (addresses[first] % shadow_segment::bytes != 0 || first + count > isa::warp_size) return 0;
  const simt::lane_mask lanes = (simt::all_lanes >> (isa::warp_size - count)) << first;
  if ((left & lanes) != lanes) return 0;
  for (unsigned k = 1; k < count; ++k)
    if (addresses[first + k] != addresses[first] + std::uint64_t{k} * bytes) return 0;
  return lanes;
}

/// The lanes from the first one of `left` on that lie side by side at the begin or end of a segment, the last or first
/// of several that they reach; `part`: which (shadow_segment). 0: they do not. `all`: lanes of the access.
inline simt::lane_mask at_edge(const std::uint64_t* addresses, simt::lane_mask all, simt::lane_mask left,
                               unsigned bytes, std::uint32_t& part) {
  const auto first = static_cast<unsigned>(__builtin_ctz(left));
  const std::uint64_t begin = addresses[first];
  const auto follows = [&](unsigned lane) {
    return (all >> lane & 1) != 0 && addresses[lane] == begin + (std::uint64_t{lane} - first) * bytes;
  };
  const auto room = static_cast<unsigned>(shadow_segment::bytes - begin % shadow_segment::bytes) / bytes;
  unsigned end = first + 1;
  while (end < isa::warp_size && end - first < room && follows(end)) ++end;
  const bool at_end = begin % shadow_segment::bytes != 0;
  const bool goes_on =
      at_end ? end - first == room && end < isa::warp_size && follows(end) : first != 0 && follows(first - 1);
  if (!goes_on || begin % bytes != 0) return 0;
  part = shadow_segment::part_of(at_end, bytes);
  return (simt::all_lanes >> (isa::warp_size - (end - first))) << first;
}

/// So many lanes that name the same address are checked one by one.
constexpr unsigned few_alike = 3;

/// The lanes from the first one of `left` on that name the same address.
inline simt::lane_mask alike(const std::uint64_t* addresses, simt::lane_mask left) {
  const std::uint64_t first = addresses[__builtin_ctz(left)];
  simt::lane_mask lanes = 0;
  for (const unsigned lane : set_bits(left)) {
    if (addresses[lane] != first) break;
    lanes |= 1u << lane;
  }
  return lanes;
}

}  // namespace heddle::sanitize
