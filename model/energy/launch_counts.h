// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/sub_partition/account/launch_profile.h"

namespace heddle {

struct l2_counters;
struct memory_counters;

/// What costs energy in the L2 and in device memory: counters of slices and channels together.
struct memory_events {
  std::uint64_t l2_read_hits = 0;  // sectors, as all in the L2
  std::uint64_t l2_read_misses = 0;
  std::uint64_t l2_writes = 0;  // of lines that were present; atomics
  std::uint64_t l2_write_misses = 0;
  std::uint64_t dram_read_bytes = 0;
  std::uint64_t dram_write_bytes = 0;

  void add(const l2_counters& slice);
  void add(const memory_counters& channel);
};

/// What a launch has counted on the whole chip.
struct launch_counts {
  launch_code code;
  memory_events beside_sms;
};

}  // namespace heddle
