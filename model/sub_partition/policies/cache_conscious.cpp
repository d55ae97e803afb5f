// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/policies/cache_conscious.h"

#include <algorithm>

namespace heddle {

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
  for (std::uint64_t r = resident_; r; r &= r - 1) stack[height++] = static_cast<unsigned>(__builtin_ctzll(r));
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

}  // namespace heddle
