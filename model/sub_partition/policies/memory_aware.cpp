// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/policies/memory_aware.h"

namespace heddle {

unsigned memory_aware::select(const warp_view& view) {
  if (!(view.eligible >> last_ & 1)) last_ = order_.oldest(view.eligible);
  return last_;
}

void memory_aware::placed(unsigned slot, std::uint64_t) { order_.placed(slot); }

void memory_aware::removed(unsigned slot) {
  if (owner_ == slot) owner_ = nobody;
}

std::uint64_t memory_aware::held(const warp_view& view, std::uint64_t wanting, std::uint64_t, bool saturated) {
  if (!saturated) {
    owner_ = nobody;
    return 0;
  }
  if (wanting == 0) return 0;
  if (owner_ == nobody || (view.waiting >> owner_ & 1)) owner_ = order_.oldest(wanting);
  return wanting & ~(std::uint64_t{1} << owner_);
}

}  // namespace heddle
