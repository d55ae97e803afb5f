// SPDX-License-Identifier: MIT
#include "heddle/tlm/kernel/outbox.h"

#include <algorithm>

namespace heddle {

void outbox::apply(bool reversed) {
  if (reversed) std::reverse(pending_.begin(), pending_.end());
  for (outbox_section* s : pending_) s->apply();
  pending_.clear();
}

}  // namespace heddle
