// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "heddle/isa/opcode.h"
#include "heddle/sub_partition/account/launch_profile.h"

namespace heddle {

/// Counts of one sub-partition for one launch. All are sums of events or of warp-cycles.
struct issue_totals {
  std::array<std::uint64_t, static_cast<std::size_t>(warp_cycle::count)> warp_cycles{};
  std::array<std::uint64_t, static_cast<std::size_t>(warp_stall::count)> warp_stalls{};
  std::uint64_t active_warp_cycles = 0;   // warp-cycles between placement and release
  std::uint64_t warps = 0;                // warps placed
  std::uint64_t inst_executed = 0;        // warp instructions, replays excluded
  std::uint64_t inst_issued1 = 0;         // cycles in which one instruction was issued or replayed
  std::uint64_t inst_issued2 = 0;         // cycles in which two were issued
  std::uint64_t shared_replays = 0;       // further issues of an instruction due to shared-memory bank conflicts
  std::uint64_t global_replays = 0;       // further issues because its global or local lanes access several lines
  std::uint64_t constant_replays = 0;     // further issues because its lanes read several constants
  std::uint64_t thread_inst = 0;          // active threads summed over instructions
  std::uint64_t nonpred_thread_inst = 0;  // of those, threads not predicated off
  std::uint64_t branches = 0;
  std::uint64_t divergent_branches = 0;
  std::array<std::uint64_t, static_cast<std::size_t>(isa::unit::count)> unit_inst{};

  void add(const issue_totals& other);
  /// Adds the instructions by executing unit, from the SM's profile of the launch.
  void add_units(const launch_profile& profile);
};

/// The counts of a running launch, without those in the profile. Hundreds of sub-partitions count at each instruction,
/// so each event is counted once, and counts that change together are adjacent.
struct alignas(64) issue_counters {
  std::array<std::uint64_t, state_count> states{};  // warp-cycles by state number; the most frequent come first
  std::uint64_t inst_executed = 0;
  std::uint64_t inst_issued1 = 0;
  std::uint64_t inst_issued2 = 0;
  std::uint64_t thread_inst = 0;
  std::uint64_t nonpred_thread_inst = 0;
  std::uint64_t branches = 0;
  std::uint64_t divergent_branches = 0;
  std::uint64_t shared_replays = 0;
  std::uint64_t global_replays = 0;
  std::uint64_t constant_replays = 0;
  std::uint64_t active_warp_cycles = 0;
  std::uint64_t warps = 0;

  issue_totals totals() const;
};

}  // namespace heddle
