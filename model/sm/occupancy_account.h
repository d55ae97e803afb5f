// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "memory/per_launch.h"
#include "tlm/clock_domain.h"

namespace heddle {

/// A sum over time, by steps of equal length from cycle 0 on. The steps double in length when there are too many.
class time_series {
 public:
  /// Adds `value` in each cycle of [from, to).
  void add(cycle_t from, cycle_t to, std::uint64_t value);
  cycle_t step_cycles() const { return step_; }
  const std::vector<std::uint64_t>& sums() const { return sums_; }

 private:
  cycle_t step_ = 64;
  std::vector<std::uint64_t> sums_;
};

/// Where the warp slots of one SM went that one launch could have filled: each cycle in which the SM holds a warp of it counts
/// `blocks_per_sm` x warps of a block, and each of these is live or in exactly one of the others.
struct launch_occupancy {
  // Now
  unsigned most_blocks = 0;               // of the launch that fit
  unsigned warps_per_block = 0;
  unsigned blocks = 0;
  unsigned warps = 0;
  std::uint64_t waiting = 0;              // warp-cycles of empty block places since the last block came: nobody filled them
  unsigned came = 0;                      // blocks, so far
  // In all, warp-cycles
  std::uint64_t live = 0;
  std::uint64_t ended = 0;                // of warps that have ended and whose block has not
  std::uint64_t filled_later = 0;         // of places to which a block came after all
  std::uint64_t beside_others = 0;        // of empty places while other launches' blocks were on the SM
  std::uint64_t block_cycles = 0;         // of resident blocks
  std::uint64_t active_cycles = 0;        // cycles in which the SM held a warp of the launch
};

/// The account of one SM, told of each change when it happens, in the order of time.
class occupancy_account {
 public:
  void block_came(std::uint32_t launch, unsigned most_blocks, unsigned warps_per_block, cycle_t cycle);
  void block_left(std::uint32_t launch, cycle_t cycle);
  void warp_came(std::uint32_t launch, cycle_t cycle);
  void warp_left(std::uint32_t launch, cycle_t cycle);
  /// Counts up to `cycle`.
  void settle(cycle_t cycle) { advance(cycle); }
  /// The account of a launch, up to the last change or settling.
  const launch_occupancy& of(std::uint32_t launch) const { return launches_.at(launch); }
  /// Resident warps of all launches.
  const time_series& over_time() const { return over_time_; }

 private:
  void advance(cycle_t cycle);

  per_launch<launch_occupancy> launches_;
  std::vector<launch_occupancy*> resident_;   // launches with blocks on the SM
  unsigned blocks_ = 0;                       // of all launches
  unsigned warps_ = 0;
  cycle_t last_ = 0;
  time_series over_time_;
};

}  // namespace heddle
