// SPDX-License-Identifier: MIT
#include "heddle/tlm/protocol/lsu_protocol.h"

#include <algorithm>

#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

// An atomic may have two operands.
unsigned lsu_transaction::rows() const {
  const unsigned count = std::max(1u, bytes_per_lane / 4u);
  return kind == lsu_kind::atomic || kind == lsu_kind::reduction ? 2 * count : count;
}

void lsu_transaction::exchange(state_image& image) {
  image(launch, operation, decoded, instruction, traffic);
  image(ready_cycle, first_cycle, outstanding, global_mask, partition, slot, residency, kind, bytes_per_lane, all_sent,
        sole, faulted, data, local, texture, read_only, bypass_l1);
  image(issue_cycle, differing_bits, shared_mask, atomic_changes, constant_mask, word, warp, cluster_mask);
  if (faulted) image(fault_lane, fault);
  if (shared_mask != 0 && (kind == lsu_kind::atomic || kind == lsu_kind::reduction)) image(counts);
  const std::uint64_t* const from = addresses();
  const unsigned used = rows();
  if (used > most_rows) throw state_error("a memory instruction of more than 16 bytes per lane");
  // The function of accesses to the block's own shared memory is performed at issue.
  const std::uint32_t moved = data || kind != lsu_kind::load ? global_mask | cluster_mask : 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((lanes() >> lane & 1) == 0) continue;
    std::uint64_t address = image.reading() ? 0 : from[lane];
    image(address);
    if (image.reading()) own_addresses[lane] = address;
    for (unsigned k = 0; (moved >> lane & 1) != 0 && k < used; ++k) image(words[k][lane]);
  }
  if (image.reading()) shared_addresses = nullptr;
}

void lsu_transaction::clear_answer() {
  ready_cycle = first_cycle = 0;
  outstanding = 0;
  all_sent = faulted = false;
  if (kind == lsu_kind::load) clear_words(lanes());
}

void lsu_transaction::clear_words(std::uint32_t of_lanes, unsigned first) {
  for (unsigned row = first; row < std::max(4u, rows()); ++row)
    for (unsigned lane = 0; lane < 32; ++lane)
      if ((of_lanes >> lane & 1) != 0) words[row][lane] = 0;
}

}  // namespace heddle
