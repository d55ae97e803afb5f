// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "heddle/simt/bulk/bulk_copy.h"
#include "heddle/sub_partition/dependence/decoded_program.h"
#include "heddle/tlm/kernel/clock_timing.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

/// A bulk copy from its issue to its completion, and who it belongs to.
struct bulk_command {
  simt::bulk_request request;
  const isa::instruction* instruction = nullptr;
  const resident_launch* launch = nullptr;
  traffic_counts traffic;
  simt::dim3 block;            // index of its block,
  std::uint64_t sequence = 0;  // which is this one of those that came to the SM
  unsigned cta_slot = 0;
  std::uint32_t thread = 0;
  unsigned warp = 0;  // warp id on the SM, and number of the warp among those that its slot has held
  std::uint16_t residency = 0;
  bool grouped = false;     // it completes in a group of its warp's copies
  std::uint32_t group = 0;  // number of that group
  std::uint32_t ranks = 0;  // blocks of the cluster to which it writes, bit by rank; 0: its own

  // For use by the TMA:
  simt::bulk_walk walk;
  simt::bulk_segment segment;  // the next one, if there is one
  isa::instruction atomic;     // what the L2 performs of a reduction
  isa::tensor_map map;
  std::array<std::uint8_t, sizeof(isa::tensor_map)> map_bytes{};
  cycle_t begins = 0;        // not before
  cycle_t ready = 0;         // its last bytes are in shared memory
  unsigned outstanding = 0;  // requests without an answer
  unsigned messages = 0;     // to other SMs, without an answer
  unsigned unread = 0;       // segments that shared memory has still to deliver
  bool begun = false;        // the walk is known
  bool fetches_map = false;
  bool all_sent = false;
  bool failed = false;
  bool completed = false;

  void exchange(state_image& image) {
    image(request, instruction, launch, traffic, block, sequence, cta_slot, thread, warp, residency, grouped, group,
          ranks, walk, segment);
    image(atomic.op, atomic.mem_space, atomic.sub, atomic.type, map_bytes);
    image.raw(&map, sizeof map);
    image(begins, ready, outstanding, messages, unread, begun, fetches_map, all_sent, failed, completed);
  }
};

}  // namespace heddle
