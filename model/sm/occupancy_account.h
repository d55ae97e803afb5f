// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/memory/common/per_launch.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/kernel/unit_clock.h"

namespace heddle {

/// A sum over time in steps of equal length; step k begins at cycle k x step_cycles(). The length doubles when there
/// are too many steps from the first to the last nonzero one.
class time_series {
 public:
  explicit time_series(std::size_t most_steps) : most_steps_(most_steps) {}
  /// A series whose first step is always that of cycle 0.
  static time_series from_zero(std::size_t most_steps) {
    time_series t(most_steps);
    t.sums_.push_back(0);
    return t;
  }
  /// Adds `value` in each cycle of [from, to).
  void add(cycle_t from, cycle_t to, std::uint64_t value);
  /// Adds another series; the longer step length of the two is used.
  void add(const time_series& other);
  [[nodiscard]] cycle_t step_cycles() const { return step_; }
  /// The number of the first step in sums().
  [[nodiscard]] cycle_t first_step() const { return first_; }
  [[nodiscard]] const std::vector<std::uint64_t>& sums() const { return sums_; }
  void exchange(state_image& image) { image(step_, first_, sums_); }
  /// Frees the memory that its steps do not need, when no more will be added.
  void shrink() { sums_.shrink_to_fit(); }

 private:
  void double_step();

  std::size_t most_steps_;
  cycle_t step_ = 64;
  cycle_t first_ = 0;
  std::vector<std::uint64_t> sums_;
};

/// Attribution of the warp slots of one SM that one launch could have filled. Each cycle in which the SM holds a warp
/// of the launch counts most_blocks x warps_per_block slots; each of these is live or in exactly one other category.
struct launch_occupancy {
  // Present state
  unsigned most_blocks = 0;  // blocks of the launch that fit on the SM
  unsigned warps_per_block = 0;
  unsigned blocks = 0;
  unsigned warps = 0;
  std::uint64_t waiting = 0;  // warp-cycles of empty block slots since the last block arrived, not filled so far
  unsigned arrived = 0;       // blocks that have arrived
  // Totals, in warp-cycles
  std::uint64_t live = 0;
  std::uint64_t ended = 0;          // of warps that have ended while their block has not
  std::uint64_t filled_later = 0;   // of empty block slots before a later block arrived
  std::uint64_t beside_others = 0;  // of empty block slots while blocks of other launches were on the SM
  std::uint64_t block_cycles = 0;   // of resident blocks
  std::uint64_t active_cycles = 0;  // cycles in which the SM held a warp of the launch
  // Sums over time
  time_series live_over_time{128};
  time_series active_over_time{128};

  void exchange(state_image& image);
};

/// Occupancy account of one SM. Every change must be reported when it happens, in order of time.
class occupancy_account {
 public:
  void block_entered(std::uint32_t launch, unsigned most_blocks, unsigned warps_per_block, cycle_t cycle);
  void block_left(std::uint32_t launch, cycle_t cycle);
  void warp_entered(std::uint32_t launch, cycle_t cycle);
  void warp_left(std::uint32_t launch, cycle_t cycle);
  /// Counts up to `cycle`.
  void settle(cycle_t cycle) { advance(cycle); }
  void check_invariants() const;
  /// Of a launch that has ended.
  void shrink(std::uint32_t launch);
  /// The account of a launch, up to the last change or settle().
  [[nodiscard]] const launch_occupancy& of(std::uint32_t launch) const { return launches_.at(launch); }
  /// Resident warps of all launches.
  [[nodiscard]] const time_series& over_time() const { return over_time_; }
  void exchange(state_image& image);

 private:
  void advance(cycle_t cycle);

  per_launch<launch_occupancy> launches_;
  std::vector<launch_occupancy*> resident_;  // launches with blocks on the SM
  unsigned blocks_ = 0;                      // of all launches
  unsigned warps_ = 0;
  cycle_t last_ = 0;
  time_series over_time_ = time_series::from_zero(256);
};

}  // namespace heddle
