// SPDX-License-Identifier: MIT
#include "heddle/tlm/protocol/cluster_protocol.h"

#include <algorithm>

namespace heddle {

// The words of a load have a value when it has been answered; those that it was made with say nothing.
void cluster_access::exchange(state_image& image) {
  image(transaction, bulk, traffic, instruction, launch, block, from, to, lanes, kind, bytes_per_lane, passes, fault);
  if (!fault.empty()) image(fault_lane);
  const bool changes = kind == lsu_kind::atomic || kind == lsu_kind::reduction;
  const unsigned rows = changes && bytes_per_lane == 16 ? lsu_transaction::most_rows : 4;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    image(addresses[lane]);
    for (unsigned row = 0; row < rows; ++row) image(words[row][lane]);
  }
}

}  // namespace heddle
