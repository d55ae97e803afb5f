// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>

#include "heddle/config/parameters.h"

namespace heddle {

/// The warps of a sub-partition as a policy sees them in a cycle. Warps are named by their slot: a bit in each mask.
struct warp_view {
  std::uint64_t eligible = 0;  // may issue now
  std::uint64_t waiting = 0;   // cannot go on soon: wait for global memory, at a barrier or fence, sleep
  std::uint64_t cycle = 0;
};

/// Where a policy works: how many warps its sub-partition has, and which of the SM's it is.
struct policy_place {
  unsigned slots = 0;
  unsigned sub_partition = 0;
};

/// Chooses, each cycle, the warp that issues among the eligible ones of a sub-partition. One object per sub-partition.
class scheduling_policy {
 public:
  virtual ~scheduling_policy() = default;
  /// The slot to issue from; `view.eligible` is never empty.
  virtual unsigned select(const warp_view& view) = 0;
  /// A warp was placed in a slot (the later, the younger), or has left it.
  virtual void placed(unsigned slot, std::uint64_t cycle) { (void)slot, (void)cycle; }
  virtual void removed(unsigned slot) { (void)slot; }

  /// Whether held() is to be asked at all: policies that keep warps from the memory pay for it.
  virtual bool holds_memory() const { return false; }
  /// Of the warps of `wanting`, whose next instruction accesses global memory (`loads`: those of them that may hit the
  /// L1), those that must not issue it in this cycle. Some warp must always find its way in the end. `saturated`: the
  /// SM's memory system has hardly room for another miss.
  virtual std::uint64_t held(const warp_view& view, std::uint64_t wanting, std::uint64_t loads, bool saturated) {
    (void)view, (void)wanting, (void)loads, (void)saturated;
    return 0;
  }
  /// Whether lost_locality() is to be told at all.
  virtual bool wants_lost_locality() const { return false; }
  /// A load of the slot's warp missed a line that the L1 held for that same warp not long before.
  virtual void lost_locality(unsigned slot, std::uint64_t cycle) { (void)slot, (void)cycle; }
};

/// The policy of `sub_partition.scheduler`.
std::unique_ptr<scheduling_policy> make_scheduling_policy(const sub_partition_parameters& parameters,
                                                          const policy_place& place);

}  // namespace heddle
