// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/policies/oldest_first.h"

namespace heddle {

unsigned oldest_first::select(const warp_view& view) { return order_.oldest(view.eligible); }

void oldest_first::placed(unsigned slot, std::uint64_t) { order_.placed(slot); }

}  // namespace heddle
