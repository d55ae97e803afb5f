// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "heddle/gpu/cwd/block_sample.h"
#include "heddle/memory/common/address_map.h"
#include "heddle/memory/common/touched_lines.h"
#include "heddle/memory/l2/l2_cache.h"

namespace heddle {

/// The L2 of launches of which blocks are left out. Tells how much of it a launch has touched, and brings the lines
/// into it that blocks access without timing, whatever the order of their ends: as if as many blocks as the GPU holds
/// were resident at any time, evenly staggered. So the next launch finds about what it would find after a launch that
/// is simulated whole.
class sampled_l2 final : public sampled_cache, public line_follower {
 public:
  sampled_l2(const address_map& map, sc_core::sc_vector<l2_cache>& slices) : map_(map), slices_(slices) {}

  void launch_begins() override;
  [[nodiscard]] cache_use use_now() const override;
  /// From now on blocks access it without timing, number `first` first, of which the GPU holds `together`.
  void begin_untimed(std::uint64_t first, std::uint64_t together);
  void block_touched(std::uint64_t block, std::vector<line_touch> lines) override;
  [[nodiscard]] std::uint64_t together() const override { return due_.size(); }
  /// All blocks have ended, and the memory holds what they wrote. Returns how many sectors they missed.
  std::uint64_t end_untimed();

 private:
  void begin_block(const std::vector<line_touch>& lines);
  void end_step();

  const address_map& map_;
  sc_core::sc_vector<l2_cache>& slices_;
  std::uint64_t next_ = 0;                                    // block
  std::map<std::uint64_t, std::vector<line_touch>> waiting_;  // of blocks behind it
  // In each step a block begins, and each resident one makes an equal part of its accesses. What is due, in a ring.
  std::vector<std::vector<line_touch>> due_;
  std::size_t step_ = 0;  // the present one
  std::uint64_t missed_ = 0;
};

}  // namespace heddle
