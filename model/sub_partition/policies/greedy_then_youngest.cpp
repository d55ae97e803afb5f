// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/policies/greedy_then_youngest.h"

namespace heddle {

unsigned greedy_then_youngest::select(const warp_view& view) {
  if (!(view.eligible >> last_ & 1)) last_ = order_.youngest(view.eligible);
  return last_;
}

void greedy_then_youngest::placed(unsigned slot, std::uint64_t) { order_.placed(slot); }

}  // namespace heddle
