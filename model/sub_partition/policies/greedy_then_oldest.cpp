// SPDX-License-Identifier: MIT
#include "sub_partition/policies/greedy_then_oldest.h"

namespace heddle {

unsigned greedy_then_oldest::select(std::uint64_t eligible, std::uint64_t) {
  if (eligible >> last_ & 1) return last_;
  unsigned best = static_cast<unsigned>(__builtin_ctzll(eligible));
  for (std::uint64_t rest = eligible & (eligible - 1); rest; rest &= rest - 1) {
    const unsigned slot = static_cast<unsigned>(__builtin_ctzll(rest));
    if (age_[slot] < age_[best]) best = slot;
  }
  last_ = best;
  return best;
}

void greedy_then_oldest::placed(unsigned slot, std::uint64_t) { age_[slot] = ++placements_; }

}  // namespace heddle
