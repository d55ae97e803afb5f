// SPDX-License-Identifier: MIT
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
  [[nodiscard]] bool holds_memory() const override { return true; }
  std::uint64_t held(const warp_view& view, std::uint64_t wanting, std::uint64_t loads, bool saturated) override;
  void exchange(state_image& image) override { image(last_, owner_, order_); }

 private:
  static constexpr unsigned no_owner = ~0u;

  unsigned last_ = 0;
  unsigned owner_ = no_owner;
  placement_order order_;
};

unsigned memory_aware::select(const warp_view& view) {
  if (!(view.eligible >> last_ & 1)) last_ = order_.oldest(view.eligible);
  return last_;
}

void memory_aware::placed(unsigned slot, std::uint64_t) { order_.placed(slot); }

void memory_aware::removed(unsigned slot) {
  if (owner_ == slot) owner_ = no_owner;
}

std::uint64_t memory_aware::held(const warp_view& view, std::uint64_t wanting, std::uint64_t, bool saturated) {
  if (!saturated) {
    owner_ = no_owner;
    return 0;
  }
  if (wanting == 0) return 0;
  if (owner_ == no_owner || (view.waiting >> owner_ & 1)) owner_ = order_.oldest(wanting);
  return wanting & ~(std::uint64_t{1} << owner_);
}

template <>
std::unique_ptr<scheduling_policy> create_policy<choice::scheduler::memory_aware>(
    const sub_partition_parameters& parameters, const policy_place& place) {
  return std::make_unique<memory_aware>(parameters, place);
}

}  // namespace heddle
