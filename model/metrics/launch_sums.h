// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/energy/launch_counts.h"
#include "heddle/isa/instruction.h"
#include "heddle/metrics/memory_metrics.h"
#include "heddle/metrics/state_metrics.h"
#include "heddle/sm/load_store_unit.h"
#include "heddle/sm/shared_memory.h"
#include "heddle/sub_partition/account/issue_counters.h"
#include "heddle/tlm/protocol/gpu_request.h"

namespace heddle {

class energy_account;
class gpu;
struct kernel_metrics;

/// a / b; 0 where b is.
template <class A, class B>
double ratio(A a, B b) {
  const auto dividend = static_cast<double>(a), divisor = static_cast<double>(b);
  return divisor > 0 ? dividend / divisor : 0;
}

/// A launch's counts summed over the chip, from which its metrics are computed.
struct launch_sums {
  issue_totals issue;
  lsu_counters::direction global_load;
  lsu_counters::direction global_store;
  shared_memory_counters shared;
  memory_counts memory;
  launch_counts counts;
  warp_cycle_counts warp_cycles;
  std::uint64_t busiest_atomic_unit = 0;  // L2 cycles in which that of a slice was busy
  std::uint64_t busiest_sm = 0;           // instructions that an SM has executed, at most
  std::uint64_t longest_even_sm = 0;      // cycles with warps, at most, of an SM with the mean of instructions or less
  double active_cycles = 0;               // SMs' cycles with warps of the launch
  double cycles = 0;                      // from the launch's start to its end
  double sms = 0;
  double max_warps = 0;       // of an SM
  double sub_partitions = 0;  // of an SM

  [[nodiscard]] std::uint64_t inst_issued() const { return issue.inst_issued1 + 2 * issue.inst_issued2; }
  [[nodiscard]] std::uint64_t issue_slots() const { return issue.inst_issued1 + issue.inst_issued2; }
  [[nodiscard]] double replays() const {
    return static_cast<double>(inst_issued()) - static_cast<double>(issue.inst_executed);
  }
  static double moved_bytes(const lsu_counters::direction& d) {
    return static_cast<double>(d.transactions) * sector_bytes;
  }
  /// Threads that the executed instructions could have had.
  [[nodiscard]] double lanes() const { return static_cast<double>(issue.inst_executed) * isa::warp_size; }
  [[nodiscard]] std::uint64_t eligible_warps() const {
    return warp_cycles[warp_cycle::selected] + warp_cycles[warp_cycle::not_selected];
  }
  /// The share of a reason in all stalled warp-cycles.
  [[nodiscard]] double stalled(warp_cycle reason) const {
    return ratio(warp_cycles[reason], warp_cycles.active - warp_cycles[warp_cycle::selected]);
  }
};

/// The sums of `launch` up to now. `cycles` is not set.
launch_sums sums_of(const gpu& g, std::uint32_t launch);
/// Dynamic energy of each instruction of a kernel, and of what these of its blocks have executed, J; empty if it is not
/// known. Valid until the next call.
const instruction_joules& joules_of(const kernel_metrics& k, energy_account& energy, const launch_counts& counts,
                                    const std::vector<const block_counts*>& of_blocks = {});

}  // namespace heddle
