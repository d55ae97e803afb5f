// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/policies/greedy_then_oldest.h"

namespace heddle {

unsigned greedy_then_oldest::select(const warp_view& view) {
  if (!(view.eligible >> last_ & 1)) last_ = order_.oldest(view.eligible);
  return last_;
}

void greedy_then_oldest::placed(unsigned slot, std::uint64_t) { order_.placed(slot); }

}  // namespace heddle
