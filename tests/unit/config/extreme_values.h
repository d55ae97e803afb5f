// SPDX-License-Identifier: MIT
// Which values of each parameter are tried, beside which other settings, and what they may leave unchanged.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "heddle/config/config.h"
#include "heddle/config/parameter_table.h"

namespace heddle::test {
namespace parameter_extremes_test {

using settings = std::vector<std::string>;

/// Other settings that a parameter needs to have an effect; a setting of its own is what its extremes are compared
/// with.
inline const std::map<std::string, settings>& beside() {
  static const std::map<std::string, settings> all = {
      {"sub_partition.issue_width", {"sub_partition.dual_issue=any"}},
      {"interconnect.output_queue_entries", {"interconnect.response_bytes_per_cycle=8"}},
      {"sub_partition.dual_issue", {"sub_partition.issue_width=2"}},
      {"sub_partition.fetch_group_warps", {"sub_partition.scheduler=two_level", "sm.sub_partitions=1"}},
      {"sub_partition.ccws_victim_tags", {"sub_partition.scheduler=ccws", "sm.sub_partitions=1"}},
      {"sub_partition.ccws_base_score", {"sub_partition.scheduler=ccws", "sm.sub_partitions=1"}},
      {"sub_partition.ccws_throttle", {"sub_partition.scheduler=ccws", "sm.sub_partitions=1"}},
      {"sub_partition.operand_read", {"sub_partition.register_bank_bytes=4", "sub_partition.register_banks=1"}},
      {"sub_partition.reuse_cache", {"sub_partition.register_bank_bytes=4", "sub_partition.register_banks=1"}},
      {"ldst.reexecution_entries", {"l1.mshr_entries=1"}},  // loads that find no room in the L1
      {"ldst.return_words", {"ldst.return_interval_cycles=100"}},
      {"ldst.shared_return_words", {"ldst.return_interval_cycles=100"}},
      {"tlb.page_bytes", {"tlb.entries=1"}},
      {"tlb.miss_latency_cycles", {"tlb.entries=1", "tlb.page_bytes=128"}},
      {"int.shared_lanes",
       {"fp32.shared_lanes=128", "int.on_fp32_lanes=true", "sub_partition.issue_width=2",
        "sub_partition.dual_issue=any"}},
      {"fp32.shared_lanes", {"sub_partition.issue_width=2", "sub_partition.dual_issue=any"}},
      {"memory.latency_cycles", {"memory.model=fixed"}},
      {"memory.bytes_per_cycle", {"memory.model=fixed"}},
      {"dram.bank_groups", {"dram.banks=64"}},
      {"dram.row_timeout_cycles", {"dram.row_policy=timeout"}},
      {"dram.refresh", {"dram.t_refi_cycles=1000", "dram.t_rfc_cycles=100", "dram.t_rfc_pb_cycles=50"}},
      {"dram.t_ccd_l_cycles", {"dram.bank_groups=4"}},
      {"dram.t_rrd_l_cycles", {"dram.bank_groups=4"}},
      {"dram.t_wtr_l_cycles", {"dram.bank_groups=4"}},
      {"dram.t_cs_cycles", {"dram.ranks=4"}},
      {"tlm.random_delay_seed", {"tlm.random_delay_cycles=50"}},
      {"sm.warp_allocation_granularity", {"sm.register_allocation=block"}},
      {"l1.banks", {"l1.read_cycles=4"}},
      {"memory.byte_enables", {"l2.size_bytes=4096", "l2.ways=2"}},
      {"context.priority_preemption", {"sm.max_blocks=2"}},
      {"context.time_slice_cycles", {"sm.max_blocks=2", "context.time_slice_cycles=1000"}},
      {"dram.t_refi_cycles", {"dram.refresh=all_bank", "dram.t_rfc_cycles=300", "dram.t_refi_cycles=2000"}},
      {"dram.t_rfc_cycles", {"dram.refresh=all_bank", "dram.t_refi_cycles=2000"}},
      {"dram.t_rfc_pb_cycles", {"dram.refresh=per_bank", "dram.t_refi_cycles=2000"}},
      {"dram.starvation_cycles", {"memory.channels=1", "dram.banks=1", "dram.ranks=1"}},
      {"instruction_cache.instruction_bytes", {"instruction_cache.size_bytes=2048", "instruction_cache.ways=4"}},
      {"instruction_cache.per_sub_partition", {"instruction_cache.size_bytes=2048", "instruction_cache.ways=4"}},
      {"cwd.max_resident_grids", {"sm.max_blocks=2"}},
      {"l2.atomic_limit_cycles", {"l2.atomic_interval_cycles=10000"}},
      {"energy.tlb_pj", {"tlb.entries=1"}},
      {"energy.reference_volts", {"gpu.core_clock_mhz=1000"}},
      {"energy.volts_per_ghz", {"gpu.core_clock_mhz=1000"}},
      {"energy.least_volts", {"gpu.core_clock_mhz=100"}},
      {"energy.power_cap_watts", {"energy.power_cap_watts=55"}},
      {"energy.power_cap_interval_cycles", {"energy.power_cap_watts=55"}},
      {"energy.clock_step_mhz", {"energy.power_cap_watts=55"}},
      {"energy.least_clock_mhz", {"energy.power_cap_watts=1"}},
  };
  return all;
}

/// What happens besides the launch of the kernel that uses all units.
enum class scenario : std::uint8_t { one_grid, two_grids, large_l1, preempted, waiting_lanes, external };

/// Scenarios in which a parameter has an effect.
inline scenario scenario_of(const std::string& name) {
  static const std::map<std::string, scenario> all = {
      {"cwd.max_resident_grids", scenario::two_grids},
      {"context.priority_preemption", scenario::two_grids},
      {"context.time_slice_cycles", scenario::two_grids},
      {"context.preemption", scenario::preempted},
      {"context.lines_in_flight", scenario::preempted},
      {"energy.context_line_pj", scenario::preempted},
      {"context.saved_registers", scenario::preempted},
      {"sub_partition.divergence", scenario::waiting_lanes},
      {"sub_partition.convergence_patience_iterations", scenario::waiting_lanes},
      {"shared_memory.unified_bytes", scenario::large_l1},
      {"shared_memory.carveouts_kb", scenario::large_l1},
      {"memory.max_transfer_bytes", scenario::external},
      {"memory.byte_enables", scenario::external},
      {"memory.addresses", scenario::external},
      {"memory.base_mib", scenario::external},
  };
  const auto found = all.find(name);
  return found == all.end() ? scenario::one_grid : found->second;
}

/// Parameters whose values all run and change nothing here, and why. Any other parameter must change something, or a
/// value of it must be refused.
inline const std::map<std::string, std::string>& idle() {
  static const std::map<std::string, std::string> all = {
      {"gpu.watchdog_cycles", "no warp loops without effect"},
      {"cwd.launch_overhead_cycles", "beside the kernel: the summary and heddle correlate"},
      {"sm.barriers_per_block", "one barrier"},
      {"sm.barriers", "both values are enough"},
      {"l1.line_bytes", "one value"},
      {"instruction_cache.second_level_line_bytes", "the code is streamed"},
      {"l2.line_bytes", "one value"},
      {"l2.sector_bytes", "one value"},
      {"context.area_mib", "a limit of allocations"},
      {"memory.capacity_mib", "CUDA programs only"},
      {"host_link.bandwidth_gbs", "CUDA programs only"},
      {"host_link.latency_us", "CUDA programs only"},
      {"tlm.check", "the protocol is kept"},
  };
  return all;
}

/// A time, of which half the largest value is tried, too: each value must have an effect of its own. A value that the
/// model cannot hold and cuts off would differ from the default, but not from another that is cut off.
inline bool is_time(const parameter& p) {
  return p.unit == parameter_unit::cycles || p.unit == parameter_unit::l2_cycles ||
         p.unit == parameter_unit::dram_cycles;
}

/// Times of which two values have the same effect here, and why.
inline const std::map<std::string, std::string>& alike() {
  static const std::map<std::string, std::string> all = {
      {"dram.starvation_cycles", "0 is never, and no request waits for half the largest"},
      {"dram.row_timeout_cycles", "longer than the kernel"},
      {"dram.t_refi_cycles", "0 is never, and half the largest is longer than the kernel"},
      {"energy.power_cap_interval_cycles", "longer than the kernel"},
  };
  return all;
}

/// Values rejected because of the kernel's needs, with a message about the kernel.
inline const std::set<std::string> limits_of_a_block = {"sm.max_threads_per_block", "sm.registers_per_block",
                                                        "sm.registers_per_thread", "sm.register_allocation_unit",
                                                        "sm.warp_allocation_granularity"};

/// The values tried for a parameter.
inline std::vector<std::string> values_of(const parameter& p) {
  if (p.is_choice()) return p.choices;
  const auto text = [](double value) {
    char digits[40];
    std::snprintf(digits, sizeof digits, "%.17g", value);
    return std::string(digits);
  };
  if (p.is_list) {
    const std::string of_a100 = text_of(p, load_config("a100"));
    return {text(p.range.lowest), text(p.range.highest), of_a100.substr(of_a100.rfind(',') + 1)};
  }
  if (!p.is_number()) return p.values() == "text" ? settings{} : settings{"true", "false"};
  settings values = {text(p.range.lowest)};
  if (is_time(p) && p.range.holds(std::floor(p.range.highest / 2)))
    values.push_back(text(std::floor(p.range.highest / 2)));
  if (p.range.lowest != p.range.highest) values.push_back(text(p.range.highest));
  return values;
}

/// Values covered by a separate test, or that need memory bound by a program.
inline bool is_tried_elsewhere(const parameter& p, const std::string& value) {
  return (p.name() == "gpu.sm_count" && value == "1024") || (p.name() == "memory.model" && value == "external");
}

}  // namespace parameter_extremes_test
}  // namespace heddle::test
