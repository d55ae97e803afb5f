// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/policies/placement_order.h"
#include "heddle/sub_partition/policies/scheduling_policy.h"

namespace heddle {

/// `oldest`: always the eligible warp that was placed first.
class oldest_first : public scheduling_policy {
 public:
  oldest_first(const sub_partition_parameters&, const policy_place&) {}
  unsigned select(const warp_view& view) override;
  void placed(unsigned slot, std::uint64_t cycle) override;
  void exchange(state_image& image) override { image(order_); }

 private:
  placement_order order_;
};

unsigned oldest_first::select(const warp_view& view) { return order_.oldest(view.eligible); }

void oldest_first::placed(unsigned slot, std::uint64_t) { order_.placed(slot); }

template <>
std::unique_ptr<scheduling_policy> create_policy<choice::scheduler::oldest>(const sub_partition_parameters& parameters,
                                                                            const policy_place& place) {
  return std::make_unique<oldest_first>(parameters, place);
}

}  // namespace heddle
