// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "heddle/isa/opcode.h"
#include "heddle/sub_partition/account/launch_profile.h"

namespace heddle {

/// What one sub-partition counts for one launch. All are sums of events or of warp-cycles.
struct issue_totals {
  std::array<std::uint64_t, static_cast<std::size_t>(warp_cycle::count)> warp_cycles{};
  std::array<std::uint64_t, static_cast<std::size_t>(warp_stall::count)> warp_stalls{};
  std::uint64_t active_warp_cycles = 0;   // warp-cycles between placement and release
  std::uint64_t warps = 0;                // warps placed
  std::uint64_t inst_executed = 0;        // warp instructions, replays excluded
  std::uint64_t inst_issued1 = 0;         // cycles in which one instruction was issued, or issued again
  std::uint64_t inst_issued2 = 0;         // cycles in which two were issued
  std::uint64_t shared_replays = 0;       // further issues of an instruction: its shared lanes conflict in a bank
  std::uint64_t global_replays = 0;       // its global or local lanes lie in several lines
  std::uint64_t constant_replays = 0;     // its lanes read several constants
  std::uint64_t thread_inst = 0;          // active threads summed over instructions
  std::uint64_t nonpred_thread_inst = 0;  // those not predicated off
  std::uint64_t branches = 0;
  std::uint64_t divergent_branches = 0;
  std::array<std::uint64_t, static_cast<std::size_t>(isa::unit::count)> unit_inst{};

  void add(const issue_totals& other);
  /// Adds the instructions by the unit that executed them, which the SM's profile of the launch knows.
  void add_units(const launch_profile& profile);
};

/// The same while the launch runs, without what the profile knows. Hundreds of sub-partitions count at each
/// instruction, so a count is kept once and lies with those that are made together.
struct alignas(64) issue_counters {
  std::array<std::uint64_t, state_count> states{};  // warp-cycles by number of state; the commonest come first
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
