// SPDX-License-Identifier: MIT
#include "heddle/simt/bulk/arrival_test.h"

#include <cstdio>
#include <cstring>

#include "heddle/config/error.h"
#include "heddle/isa/program.h"
#include "heddle/isa/set_bits.h"
#include "heddle/simt/execute.h"
#include "heddle/simt/scalar/arrival.h"

namespace heddle::simt {

namespace {

constexpr std::uint64_t object_bytes = 8;

// Generic addresses of the block's own shared memory are accepted, and those that name the block by its rank.
std::uint64_t offset_of(std::uint64_t address, const block_context& block) {
  if (address >= isa::shared_window_base && address < isa::shared_window_base + isa::window_bytes)
    address -= isa::shared_window_base;
  if (address >> isa::cluster_offset_bits == block.cluster_rank + 1) address &= isa::cluster_offset_mask;
  return address;
}

}  // namespace

arrival_test test_arrival(const isa::instruction& i, const warp_state& w, lane_mask mask, unsigned& bad_lane) {
  std::uint64_t addresses[warp_size];
  lane_addresses(i, w, mask, addresses);
  const block_context& block = *w.block;
  arrival_test t;
  bool first = true;
  for (const unsigned lane : set_bits(mask)) {
    const std::uint64_t at = offset_of(addresses[lane], block);
    if (at % object_bytes != 0 || at + object_bytes > block.shared_bytes) {
      bad_lane = lane;
      char text[120];
      std::snprintf(text, sizeof text, "mbarrier at 0x%llx is %s (lane %u)", static_cast<unsigned long long>(at),
                    at % object_bytes != 0 ? "misaligned" : "outside the block's shared memory", lane);
      throw program_error(text);
    }
    std::uint64_t object = 0;
    std::memcpy(&object, block.shared + at, sizeof object);
    const auto waited = static_cast<std::uint32_t>(lane_value(i.src[1], w, lane));
    if (((object & arrival::phase) != 0) != (waited >> 31 != 0)) t.complete |= 1u << lane;
    if (first) t.address = static_cast<std::uint32_t>(at);
    t.same = t.same && t.address == at;
    first = false;
  }
  return t;
}

void write_arrival(const isa::instruction& i, warp_state& w, lane_mask mask, lane_mask complete) {
  if (i.pdst[0] == isa::pt) return;
  lane_mask& p = w.predicates[i.pdst[0]];
  p = (p & ~mask) | (complete & mask);
}

}  // namespace heddle::simt
