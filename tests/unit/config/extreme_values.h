// SPDX-License-Identifier: MIT
// Which values of each parameter are tried, beside which other settings, and what they may leave unchanged.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
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
      {"gpu.cpcs_per_gpc", {"interconnect.cpc_response_bytes_per_cycle=8", "gpu.cpcs_per_gpc=1"}},
      {"interconnect.cpc_response_bytes_per_cycle", {"interconnect.cpc_response_bytes_per_cycle=8"}},
      {"interconnect.gpc_response_bytes_per_cycle", {"interconnect.gpc_response_bytes_per_cycle=8"}},
      {"sub_partition.dual_issue", {"sub_partition.issue_width=2"}},
      {"sub_partition.starvation_cycles", {"sub_partition.starvation_cycles=20"}},
      {"sub_partition.fetch_group_warps", {"sub_partition.scheduler=two_level", "sm.sub_partitions=1"}},
      {"sub_partition.ccws_victim_tags", {"sub_partition.scheduler=ccws", "sm.sub_partitions=1"}},
      {"sub_partition.ccws_base_score", {"sub_partition.scheduler=ccws", "sm.sub_partitions=1"}},
      {"sub_partition.ccws_throttle", {"sub_partition.scheduler=ccws", "sm.sub_partitions=1"}},
      {"sub_partition.operand_read", {"sub_partition.register_bank_bytes=4", "sub_partition.register_banks=1"}},
      {"sub_partition.reuse_cache", {"sub_partition.register_bank_bytes=4", "sub_partition.register_banks=1"}},
      {"ldst.reexecution_entries", {"l1.mshr_entries=1"}},  // loads that find no room in the L1
      {"ldst.return_words", {"ldst.return_interval_cycles=100"}},
      {"ldst.shared_return_words", {"ldst.return_interval_cycles=100"}},
      {"fp32.compare_lanes", {"fp32.compare_lanes=1"}},
      {"half.shared", {"half.lanes=8", "half.compare_lanes=8"}},
      {"tlb.page_bytes", {"tlb.entries=1"}},
      {"tlb.miss_latency_cycles", {"tlb.entries=1", "tlb.page_bytes=128"}},
      {"int.shared_lanes",
       {"fp32.shared_lanes=128", "int.on_fp32_lanes=true", "sub_partition.issue_width=2",
        "sub_partition.dual_issue=any"}},
      {"fp32.shared_lanes", {"sub_partition.issue_width=2", "sub_partition.dual_issue=any"}},
      {"memory.latency_cycles", {"memory.model=fixed"}},
      // Atomics of several blocks meet in an order by phases.
      {"cwd.launch_latency_cycles", {"sm.max_blocks=1", "gpu.sm_count=1", "shared_memory.latency_cycles=30"}},
      {"sub_partition.guard_latency_cycles", {"shared_memory.latency_cycles=30"}},
      {"sub_partition.scheduler", {"ldst.queue_entries=1"}},  // accesses of several warps compete
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
      {"l1.replacement", {"l1.ways=2"}},
      {"memory.byte_enables", {"l2.size_bytes=4096", "l2.ways=2"}},
      {"context.priority_preemption", {"sm.max_blocks=2"}},
      {"context.time_slice_cycles", {"sm.max_blocks=2", "context.time_slice_cycles=1000"}},
      {"dram.t_refi_cycles", {"dram.refresh=all_bank", "dram.t_rfc_cycles=300", "dram.t_refi_cycles=2000"}},
      {"dram.t_rfc_cycles", {"dram.refresh=all_bank", "dram.t_refi_cycles=2000"}},
      {"dram.t_rfc_pb_cycles", {"dram.refresh=per_bank", "dram.t_refi_cycles=2000"}},
      {"dram.starvation_cycles", {"memory.channels=1", "dram.banks=1", "dram.ranks=1"}},
      {"instruction_cache.instruction_bytes", {"instruction_cache.size_bytes=2048", "instruction_cache.ways=4"}},
      {"instruction_cache.per_sub_partition", {"instruction_cache.size_bytes=2048", "instruction_cache.ways=4"}},
      {"sm.barriers", {"sm.barriers=16"}},  // one block on an SM at a time
      {"cwd.max_resident_grids", {"sm.max_blocks=2"}},
      {"gpu.sms_per_tpc", {"cluster.tpc_hop_cycles=1000"}},
      {"cluster.tpc_hop_cycles", {"cluster.hop_cycles=4", "cluster.tpc_hop_cycles=1000"}},
      {"l2.fills_parts", {"l2.size_bytes=4096", "l2.ways=2"}},
      {"l2.partition_bytes", {"l2.far_latency_cycles=100"}},
      {"tma.issue_interval_cycles", {"tma.issue_interval_cycles=1000"}},
      {"l2.atomic_limit_cycles", {"l2.atomic_interval_cycles=10000"}},
      {"energy.tlb_pj", {"tlb.entries=1"}},
      {"energy.leakage_share", {"gpu.core_clock_mhz=1000"}},
      {"energy.reference_volts", {"gpu.core_clock_mhz=1000"}},
      {"energy.volts_per_ghz", {"gpu.core_clock_mhz=1000"}},
      {"energy.least_volts", {"gpu.core_clock_mhz=100"}},
      {"energy.voltage_clocks_mhz",
       {"energy.voltage_curve=points", "energy.voltage_clocks_mhz=500,1500", "energy.voltage_points_mv=700,1000"}},
      {"energy.voltage_points_mv",
       {"energy.voltage_curve=points", "energy.voltage_clocks_mhz=500,1500", "energy.voltage_points_mv=700,1000"}},
      {"energy.still_lane_share", {"energy.operand_activity=0"}},
      {"energy.still_tensor_share", {"energy.operand_activity=0"}},
      {"energy.still_data_share", {"energy.operand_activity=0"}},
      {"energy.still_dram_share", {"energy.operand_activity=0"}},
      {"energy.power_cap_watts", {"energy.power_cap_watts=33"}},
      {"energy.power_cap_interval_cycles", {"energy.power_cap_watts=33"}},
      {"energy.clock_step_mhz", {"energy.power_cap_watts=33"}},
      {"energy.least_clock_mhz", {"energy.power_cap_watts=31.9"}},
  };
  return all;
}

/// What happens besides the launch of the kernel that uses all units; `clusters`: on an H100, in its place.
enum class scenario : std::uint8_t {
  one_grid,
  two_grids,
  large_l1,
  preempted,
  waiting_lanes,
  external,
  allocations,
  clusters
};

/// The chip of a scenario, which is made small.
inline std::string gpu_of(scenario what) { return what == scenario::clusters ? "h100" : "a100"; }

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
      {"l2.fills_parts", scenario::external},
      {"context.area_mib", scenario::allocations},
      {"energy.cluster_flit_pj", scenario::clusters},
      {"gpu.gpc_count", scenario::clusters},
      {"gpu.cpcs_per_gpc", scenario::clusters},
      {"gpu.sms_per_tpc", scenario::clusters},
      {"ldst.fence_interval_cycles", scenario::clusters},
      {"tensor.byte_sum_fraction_bits", scenario::clusters},
      {"tensor.sum_fraction_bits", scenario::clusters},
      {"tensor.sum_products", scenario::clusters},
  };
  for (const char* of_clusters : {"cluster.", "tma.", "tensor.warpgroup_"})
    if (name.rfind(of_clusters, 0) == 0) return scenario::clusters;
  const auto found = all.find(name);
  return found == all.end() ? scenario::one_grid : found->second;
}

/// Values that run and change nothing here, and why: `parameter=value`, or `parameter` for all of its values. Any other
/// value, except the one that the compared run has, must change something or be refused.
inline const std::map<std::string, std::string>& without_effect() {
  static const std::map<std::string, std::string> all = [] {
    std::map<std::string, std::string> reasons;
    const auto because = [&reasons](const char* reason, std::initializer_list<const char*> values) {
      for (const char* v : values) reasons.emplace(v, reason);
    };
    because("0 lets an endless kernel run for ever, the others for hours; smaller ones: livelock_test.cpp",
            {"gpu.watchdog_cycles"});
    because("added by the summary and by heddle correlate: correlate_test.cpp", {"cwd.launch_overhead_cycles"});
    because("of CUDA programs: cuda_programs_test.cpp",
            {"memory.capacity_mib", "host_link.bandwidth_gbs", "host_link.latency_us"});
    because("the kernel never uses more than the compared run has",
            {"cwd.max_resident_grids=1024", "sm.max_blocks=1024", "sub_partition.instruction_buffer_entries=64",
             "sub_partition.fetch_group_warps=64", "ldst.pending_instructions=65536", "texture.queue_entries=65536",
             "cluster.max_blocks=16", "tensor.warpgroup_queue_entries=1024", "tma.requests_in_flight=65536",
             "l1.mshr_entries=65536", "l1.mshr_merges=65536", "l2.mshr_merges=65536", "tlb.page_bytes=1073741824",
             "constant_cache.size_bytes=1048576", "instruction_cache.size_bytes=16777216",
             "instruction_cache.second_level_bytes=16777216", "shared_memory.unified_bytes=33554432"});
    because("no instruction waits for the unit: its next one comes later in the chain",
            {"fp64.lanes=32", "fp64.compare_lanes=32", "half.lanes=32", "half.compare_lanes=32", "sfu.lanes=32",
             "branch.barrier_lanes=32"});
    because("the result, or the end of the read, is waited for by nothing before the default's time is over",
            {"ldst.load_read_latency_cycles=1", "shared_memory.conflict_cycles=0"});
    because("the code is a stream: no set of lines is used again after an eviction",
            {"instruction_cache.ways=1", "instruction_cache.second_level_ways=1"});
    because("both blocks of an SM have room in any case; a block may opt in to more",
            {"shared_memory.max_per_block_bytes=0", "shared_memory.reserved_per_block_bytes=0",
             "shared_memory.allocation_unit_bytes=1"});
    because("equal blocks on two SMs: the same choices", {"cwd.placement=most_free"});
    because("few warps a scheduler, and memory is not saturated: the same choices", {"sub_partition.scheduler=gto"});
    because("no product sums more than 16", {"tensor.sum_products=32"});
    because("too near the default of 1.02 for one access after another", {"l1.read_cycles=1"});
    because("a burst occupies the data bus for as long as the default", {"dram.t_ccd_cycles=1"});
    because("it sets no values; those of the default preset are the file's", {"dram.preset=none"});
    return reasons;
  }();
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
      {"sub_partition.starvation_cycles", "0 is never, and no warp waits for half the largest"},
      {"dram.row_timeout_cycles", "longer than the kernel"},
      {"dram.t_refi_cycles", "0 is never, and half the largest is longer than the kernel"},
      {"energy.power_cap_interval_cycles", "longer than the kernel"},
  };
  return all;
}

/// Core cycles by which a kernel may be shorter than its times say: waits end at edges of three clocks.
constexpr double rounding = 8;

/// Times that do not make the kernel longer by as much as they are longer themselves, and why.
inline const std::map<std::string, std::string>& waited_for_in_part() {
  static const std::map<std::string, std::string> all = {
      {"context.time_slice_cycles", "the kernel ends within its time slice"},
      {"cwd.launch_overhead_cycles", "changes no result"},
      {"dram.row_timeout_cycles", "rows stay open for longer"},
      {"dram.starvation_cycles", "no request waits for so long"},
      {"sub_partition.starvation_cycles", "no warp waits for so long"},
      {"dram.t_refi_cycles", "refreshes come less often"},
      {"energy.power_cap_interval_cycles", "the power is looked up less often"},
      {"gpu.watchdog_cycles", "the kernel ends before"},
      {"l2.atomic_limit_cycles", "a bound of what an atomic takes"},
      {"tma.mbarrier_limit_cycles", "no wait at an mbarrier is so long"},
  };
  return all;
}

/// Values rejected because of the kernel's needs, with a message about the kernel.
inline const std::set<std::string> limits_of_a_block = {
    "sm.barriers_per_block",   "sm.max_threads_per_block",    "sm.registers_per_block",
    "sm.registers_per_thread", "sm.register_allocation_unit", "sm.warp_allocation_granularity"};

/// The values tried for a parameter.
inline std::vector<std::string> values_of(const parameter& p) {
  if (p.is_choice()) return p.choices;
  const auto text = [](double value) {
    char digits[40];
    std::snprintf(digits, sizeof digits, "%.17g", value);
    return std::string(digits);
  };
  if (p.is_list) {
    const std::string of_chip = text_of(p, load_config(gpu_of(scenario_of(p.name()))));
    return {text(p.range.lowest), text(p.range.highest), of_chip.substr(of_chip.rfind(',') + 1)};
  }
  if (!p.is_number()) return p.is_text ? settings{} : settings{"true", "false"};
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
