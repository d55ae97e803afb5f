// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/policies/placement_order.h"
#include "heddle/sub_partition/policies/scheduling_policy.h"

namespace heddle {

/// `gto`: keeps issuing the same warp until it stalls, then the oldest by time of placement.
/// Source: Rogers, O'Connor, Aamodt, "Cache-Conscious Wavefront Scheduling", MICRO 2012.
class greedy_then_oldest : public scheduling_policy {
 public:
  greedy_then_oldest(const sub_partition_parameters&, const policy_place&) {}
  unsigned select(const warp_view& view) override;
  void placed(unsigned slot, std::uint64_t cycle) override;
  void exchange(state_image& image) override { image(last_, order_); }

 private:
  unsigned last_ = 0;
  placement_order order_;
};

unsigned greedy_then_oldest::select(const warp_view& view) {
  if (!(view.eligible >> last_ & 1)) last_ = order_.oldest(view.eligible);
  return last_;
}

void greedy_then_oldest::placed(unsigned slot, std::uint64_t) { order_.placed(slot); }

template <>
std::unique_ptr<scheduling_policy> create_policy<choice::scheduler::gto>(const sub_partition_parameters& parameters,
                                                                         const policy_place& place) {
  return std::make_unique<greedy_then_oldest>(parameters, place);
}

}  // namespace heddle
