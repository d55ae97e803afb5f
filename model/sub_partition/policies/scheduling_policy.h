// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>

#include "heddle/config/parameters.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

/// A policy's view of a sub-partition's warps in a cycle: masks with a bit per warp slot.
struct warp_view {
  std::uint64_t eligible = 0;  // may issue now
  std::uint64_t waiting = 0;   // cannot issue soon: waits for global memory, a barrier or a fence, or sleeps
  std::uint64_t cycle = 0;
};

/// The sub-partition of a policy: its number of warp slots, and its index in the SM.
struct policy_place {
  unsigned slots = 0;
  unsigned sub_partition = 0;
};

/// Selects, each cycle, the warp that issues among the eligible ones of a sub-partition. One object per sub-partition.
class scheduling_policy {
 public:
  virtual ~scheduling_policy() = default;
  /// Returns the slot to issue from; `view.eligible` is never empty.
  virtual unsigned select(const warp_view& view) = 0;
  /// A warp was placed in a slot (the later, the younger), or left it.
  virtual void placed(unsigned slot, std::uint64_t cycle) { (void)slot, (void)cycle; }
  virtual void removed(unsigned slot) { (void)slot; }

  /// True if held() must be called each cycle. Only policies that hold back memory accesses pay for it.
  [[nodiscard]] virtual bool holds_memory() const { return false; }
  /// Returns the warps of `wanting` that must not issue their next instruction in this cycle. `wanting`: warps whose
  /// next instruction accesses global memory; `loads`: those of them that may hit the L1. A policy must not hold back
  /// all warps indefinitely. `saturated`: the SM's memory system can hardly take another miss.
  virtual std::uint64_t held(const warp_view& view, std::uint64_t wanting, std::uint64_t loads, bool saturated) {
    (void)view, (void)wanting, (void)loads, (void)saturated;
    return 0;
  }
  /// True if lost_locality() must be called.
  [[nodiscard]] virtual bool wants_lost_locality() const { return false; }
  /// A load of the slot's warp missed a line that the L1 recently held for the same warp.
  virtual void lost_locality(unsigned slot, std::uint64_t cycle) { (void)slot, (void)cycle; }
  /// A policy with state describes it here.
  virtual void exchange(state_image& image) { static_cast<void>(image); }
};

/// Creates the policy of a name. Each policy's source file specialises it; the names are in parameter_list.h.
template <choice::scheduler name>
[[nodiscard]] std::unique_ptr<scheduling_policy> create_policy(const sub_partition_parameters& parameters,
                                                               const policy_place& place);
#define HEDDLE_X(name)                                                                                       \
  template <>                                                                                                \
  std::unique_ptr<scheduling_policy> create_policy<choice::scheduler::name>(const sub_partition_parameters&, \
                                                                            const policy_place&);
HEDDLE_SCHEDULING_POLICIES(HEDDLE_X)
#undef HEDDLE_X

/// Creates the policy that `sub_partition.scheduler` selects.
[[nodiscard]] std::unique_ptr<scheduling_policy> make_scheduling_policy(const sub_partition_parameters& parameters,
                                                                        const policy_place& place);

}  // namespace heddle
