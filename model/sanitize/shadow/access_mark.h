// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/simt/warp/warp_state.h"

namespace heddle::sanitize {

/// Number of a watched instruction of a launch, in the order of execution (clocks.h).
using sequence = std::uint32_t;

/// An access: by these lanes of a warp, in the instruction of this number.
struct access_mark {
  std::uint32_t warp = 0;  // number of the warp in the grid
  sequence number = 0;     // 0: no access
  simt::lane_mask lanes = 0;
  // Index of the instruction, the part of a segment (shadow_segment), and flags. Of a read, crowded: no more reads of
  // the word need be kept.
  std::uint32_t what = 0;

  static constexpr std::uint32_t writes = 1u << 31, atomic = 1u << 30, strong = 1u << 29, of_block = 1u << 28,
                                 copying = 1u << 27, marking = 1u << 26, crowded = marking, index_mask = (1u << 22) - 1;
  static constexpr unsigned part_shift = 22;
  static constexpr std::uint32_t part_mask = 15u << part_shift;
  [[nodiscard]] bool is(std::uint32_t flag) const { return (what & flag) != 0; }
  /// Of a segment, or of a word.
  [[nodiscard]] bool is_whole() const { return (what & part_mask) == 0; }
  [[nodiscard]] std::uint32_t index() const { return what & index_mask; }
  bool operator==(const access_mark& o) const {
    return warp == o.warp && number == o.number && lanes == o.lanes && what == o.what;
  }
};

}  // namespace heddle::sanitize
