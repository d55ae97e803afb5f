// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>

#include "heddle/isa/set_bits.h"
#include "heddle/sub_partition/policies/placement_order.h"
#include "heddle/sub_partition/policies/scheduling_policy.h"

namespace heddle {

/// `ccws`: greedy then oldest; the more locality is lost, the fewer warps may load through the L1. Each warp has a
/// score of at least sub_partition.ccws_base_score. A miss on a line that the L1 recently held for that warp raises the
/// score, which then falls by one a cycle. Scores are stacked from the highest down; warps above the summed base scores
/// of the resident warps may not issue loads. The L1 keeps sub_partition.ccws_victim_tags per warp to detect such
/// misses. Source: Rogers, O'Connor, Aamodt, "Cache-Conscious Wavefront Scheduling", MICRO 2012.
class cache_conscious : public scheduling_policy {
 public:
  cache_conscious(const sub_partition_parameters& parameters, const policy_place& place);
  unsigned select(const warp_view& view) override;
  void placed(unsigned slot, std::uint64_t cycle) override;
  void removed(unsigned slot) override;
  [[nodiscard]] bool holds_memory() const override { return true; }
  std::uint64_t held(const warp_view& view, std::uint64_t wanting, std::uint64_t loads, bool saturated) override;
  [[nodiscard]] bool wants_lost_locality() const override { return true; }
  void lost_locality(unsigned slot, std::uint64_t cycle) override;
  void exchange(state_image& image) override { image(last_, order_, resident_, issued_, lost_, at_base_, until_); }

 private:
  [[nodiscard]] std::uint64_t score(unsigned slot, std::uint64_t cycle) const;
  [[nodiscard]] std::uint64_t cutoff() const;

  const std::uint64_t base_;
  const std::uint64_t throttle_;
  unsigned last_ = 0;
  placement_order order_;
  std::uint64_t resident_ = 0;
  std::uint64_t issued_ = 1;               // cycles with an issue; starts at 1 because it is a divisor
  std::uint64_t lost_ = 0;                 // reported misses with lost locality
  std::uint64_t at_base_ = 0;              // all scores are at the base from this cycle on
  std::array<std::uint64_t, 64> until_{};  // cycle in which the slot's score is back at the base
};

cache_conscious::cache_conscious(const sub_partition_parameters& parameters, const policy_place&)
    : base_(parameters.ccws_base_score), throttle_(parameters.ccws_throttle) {}

unsigned cache_conscious::select(const warp_view& view) {
  ++issued_;
  if (!(view.eligible >> last_ & 1)) last_ = order_.oldest(view.eligible);
  return last_;
}

void cache_conscious::placed(unsigned slot, std::uint64_t) {
  order_.placed(slot);
  resident_ |= std::uint64_t{1} << slot;
  until_[slot] = 0;
}

void cache_conscious::removed(unsigned slot) { resident_ &= ~(std::uint64_t{1} << slot); }

std::uint64_t cache_conscious::score(unsigned slot, std::uint64_t cycle) const {
  return base_ + (until_[slot] > cycle ? until_[slot] - cycle : 0);
}

std::uint64_t cache_conscious::cutoff() const { return base_ * static_cast<unsigned>(__builtin_popcountll(resident_)); }

void cache_conscious::lost_locality(unsigned slot, std::uint64_t cycle) {
  ++lost_;
  // The score grows with the share of issue cycles that lose locality, up to the height of the whole stack; at that
  // height only this warp may issue loads.
  const std::uint64_t raised = std::min(lost_ * throttle_ * cutoff() / issued_, cutoff());
  until_[slot] = std::max(until_[slot], cycle + raised);
  at_base_ = std::max(at_base_, until_[slot]);
}

std::uint64_t cache_conscious::held(const warp_view& view, std::uint64_t, std::uint64_t loads, bool) {
  if (view.cycle >= at_base_ || loads == 0) return 0;
  std::array<unsigned, 64> stack;
  unsigned height = 0;
  for (const unsigned slot : set_bits(resident_)) stack[height++] = slot;
  const auto higher = [&](unsigned a, unsigned b) {
    const std::uint64_t sa = score(a, view.cycle), sb = score(b, view.cycle);
    return sa != sb ? sa > sb : a < b;
  };
  std::sort(stack.begin(), stack.begin() + height, higher);
  std::uint64_t allowed = 0, sum = 0;
  for (unsigned k = 0; k < height; ++k) {
    sum += score(stack[k], view.cycle);
    if (k != 0 && sum > cutoff()) break;
    allowed |= std::uint64_t{1} << stack[k];
  }
  return loads & ~allowed;
}

template <>
std::unique_ptr<scheduling_policy> create_policy<choice::scheduler::ccws>(const sub_partition_parameters& parameters,
                                                                          const policy_place& place) {
  return std::make_unique<cache_conscious>(parameters, place);
}

}  // namespace heddle
