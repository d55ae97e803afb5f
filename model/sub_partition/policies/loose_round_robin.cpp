// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/policies/scheduling_policy.h"

namespace heddle {

/// `lrr`: scans from the slot after the last issued one and takes the first eligible warp.
class loose_round_robin : public scheduling_policy {
 public:
  loose_round_robin(const sub_partition_parameters&, const policy_place&) {}
  unsigned select(const warp_view& view) override;
  void exchange(state_image& image) override { image(last_); }

 private:
  unsigned last_ = 63;
};

unsigned loose_round_robin::select(const warp_view& view) {
  const std::uint64_t after = last_ == 63 ? 0 : view.eligible & (~std::uint64_t{0} << (last_ + 1));
  last_ = static_cast<unsigned>(__builtin_ctzll(after ? after : view.eligible));
  return last_;
}

template <>
std::unique_ptr<scheduling_policy> create_policy<choice::scheduler::lrr>(const sub_partition_parameters& parameters,
                                                                         const policy_place& place) {
  return std::make_unique<loose_round_robin>(parameters, place);
}

}  // namespace heddle
