// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/sub_partition/policies/placement_order.h"
#include "heddle/sub_partition/policies/scheduling_policy.h"

namespace heddle {

/// `memory_aware`: greedy then oldest while the memory system is not saturated. When it is, one warp of the
/// sub-partition owns the right to access global memory until it waits for its data; the others may only compute. The
/// loads of one warp then return together, and its reuse stays in the cache. ldst.reexecution_entries lets hits bypass
/// misses that find no room. Source: Sethia, Jamshidi, Mahlke, "Mascar: Speeding up GPU Warps by Reducing Memory
/// Pitstops", HPCA 2015.
class memory_aware : public scheduling_policy {
 public:
  memory_aware(const sub_partition_parameters&, const policy_place&) {}
  unsigned select(const warp_view& view) override;
  void placed(unsigned slot, std::uint64_t cycle) override;
  void removed(unsigned slot) override;
  bool holds_memory() const override { return true; }
  std::uint64_t held(const warp_view& view, std::uint64_t wanting, std::uint64_t loads, bool saturated) override;

 private:
  static constexpr unsigned nobody = ~0u;

  unsigned last_ = 0;
  unsigned owner_ = nobody;
  placement_order order_;
};

}  // namespace heddle
