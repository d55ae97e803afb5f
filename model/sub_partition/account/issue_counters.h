// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "heddle/isa/opcode.h"
#include "heddle/sub_partition/account/launch_profile.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

// clang-format off
/// Events that a sub-partition counts for a launch: X(counter). All are sums of events or of warp-cycles. Those that
/// change together are adjacent.
#define HEDDLE_ISSUE_COUNTS(X) \
  X(inst_executed)        /* warp instructions, replays excluded */                                           \
  X(inst_issued1)         /* cycles in which one instruction was issued or replayed */                        \
  X(inst_issued2)         /* cycles in which two were issued */                                               \
  X(thread_inst)          /* active threads summed over instructions */                                       \
  X(nonpred_thread_inst)  /* of those, threads not predicated off */                                          \
  X(branches)                                                                                                 \
  X(divergent_branches)                                                                                       \
  X(shared_replays)       /* further issues of an instruction due to shared-memory bank conflicts */          \
  X(global_replays)       /* further issues because its global or local lanes access several lines */         \
  X(constant_replays)     /* further issues because its lanes read several constants */                       \
  X(active_warp_cycles)   /* warp-cycles between placement and release */                                     \
  X(warps)                /* warps placed */
// clang-format on

/// Counts of one sub-partition for one launch.
struct issue_totals {
  counts_by<warp_cycle> warp_cycles{};
  counts_by<warp_stall> warp_stalls{};
  std::array<std::uint64_t, static_cast<std::size_t>(isa::unit::count)> unit_inst{};
#define HEDDLE_X(counter) std::uint64_t counter = 0;
  HEDDLE_ISSUE_COUNTS(HEDDLE_X)
#undef HEDDLE_X

  void add(const issue_totals& other);
  /// Adds the instructions by executing unit.
  void add_units(const launch_code& code);
};

/// The counts of a running launch, without those in the profile. Hundreds of sub-partitions count at each instruction,
/// so each event is counted once.
struct alignas(64) issue_counters {
  std::array<std::uint64_t, state_count> states{};  // warp-cycles by state number; the most frequent come first
#define HEDDLE_X(counter) std::uint64_t counter = 0;
  HEDDLE_ISSUE_COUNTS(HEDDLE_X)
#undef HEDDLE_X

  [[nodiscard]] issue_totals totals() const;
  void exchange(state_image& image) {
    image.sparse(states.data(), sizeof states);
#define HEDDLE_X(counter) image(counter);
    HEDDLE_ISSUE_COUNTS(HEDDLE_X)
#undef HEDDLE_X
  }
};

}  // namespace heddle
