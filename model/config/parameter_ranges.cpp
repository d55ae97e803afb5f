// SPDX-License-Identifier: MIT
// The limits are those of the machine model (a warp mask has 64 bits) or wide enough for any chip one may want to draw,
// and narrow enough that no value makes the model allocate without bound.
#include <map>

#include "config/parameter_rules.h"

namespace heddle {
namespace {

constexpr numeric_range latency{1, 100000};
constexpr numeric_range delay{0, 100000};  // where none at all makes sense
constexpr numeric_range lanes{1.0 / 64, 128};
constexpr numeric_range optional_lanes{0, 128};
constexpr numeric_range multiply_adds{0, 65536};
constexpr numeric_range entries{1, 65536};
constexpr numeric_range clock_mhz{1, 100000};
constexpr numeric_range port_bytes{1, 4096};
constexpr numeric_range shared_bytes{0, 16777216};
constexpr numeric_range cache_ways{1, 4096};

const std::map<std::string, numeric_range>& ranges() {
  static const std::map<std::string, numeric_range> table = {
      {"gpu.sm_count", {1, 1024}}, {"gpu.core_clock_mhz", clock_mhz}, {"gpu.watchdog_cycles", {0, 4000000000}},
      {"cwd.launch_latency_cycles", delay}, {"cwd.dispatch_interval_cycles", latency},
      {"cwd.dispatch_latency_cycles", latency}, {"cwd.max_resident_grids", {1, 1024}},
      {"sm.sub_partitions", {1, 16}}, {"sm.max_threads", {32, 8192}}, {"sm.max_warps", {1, 256}},
      {"sm.max_blocks", {1, 1024}}, {"sm.max_threads_per_block", {1, 1024}}, {"sm.registers", {32, 4194304}},
      {"sm.registers_per_block", {32, 4194304}}, {"sm.registers_per_thread", {1, 255}},
      {"sm.register_allocation_unit", {1, 65536}}, {"sm.warp_allocation_granularity", {1, 64}},
      {"sm.barriers_per_block", {1, 16}}, {"sm.barriers", {0, 65536}}, {"sm.barrier_latency_cycles", latency},
      {"sub_partition.issue_width", {1, 2}}, {"sub_partition.instruction_buffer_entries", {1, 64}},
      {"sub_partition.fetch_latency_cycles", latency}, {"sub_partition.guard_latency_cycles", {0, 15}}, {"sub_partition.register_banks", {1, sub_partition_parameters::most_register_banks}},
      {"sub_partition.register_bank_bytes", {4, 8}}, {"sub_partition.register_write_ports", {0, 8}}, {"sub_partition.convergence_patience_turns", {1, 65536}},
      {"sub_partition.fetch_group_warps", {1, 64}}, {"sub_partition.ccws_victim_tags", {1, 1024}},
      {"sub_partition.ccws_base_score", {1, 65536}}, {"sub_partition.ccws_throttle", {0, 65536}},
      {"fp32.lanes", lanes}, {"fp32.latency_cycles", latency}, {"fp32.minmax_lanes", lanes},
      {"fp32.minmax_latency_cycles", latency}, {"fp32.compare_lanes", lanes}, {"fp32.compare_latency_cycles", latency},
      {"fp32.shared_lanes", {0, 128}},
      {"int.lanes", lanes}, {"int.latency_cycles", latency}, {"int.shift_lanes", lanes},
      {"int.shift_latency_cycles", latency}, {"int.multiply_lanes", lanes}, {"int.multiply_latency_cycles", latency},
      {"int.minmax_lanes", lanes}, {"int.minmax_latency_cycles", latency}, {"int.compare_lanes", lanes},
      {"int.compare_latency_cycles", latency}, {"int.special_register_lanes", lanes},
      {"int.special_register_latency_cycles", latency}, {"int.shared_lanes", {0, 128}},
      {"fp64.lanes", optional_lanes}, {"fp64.latency_cycles", latency}, {"fp64.fma_latency_cycles", latency}, {"fp64.compare_lanes", optional_lanes},
      {"fp64.compare_latency_cycles", latency},
      {"half.lanes", optional_lanes}, {"half.latency_cycles", latency}, {"half.compare_lanes", optional_lanes},
      {"half.compare_latency_cycles", latency},
      {"sfu.lanes", lanes}, {"sfu.latency_cycles", latency}, {"sfu.bit_count_lanes", lanes},
      {"sfu.bit_count_latency_cycles", latency}, {"sfu.bit_scan_lanes", lanes}, {"sfu.bit_scan_latency_cycles", latency},
      {"sfu.conversion_lanes", lanes},
      {"sfu.conversion_latency_cycles", latency},
      {"tensor.f16_fma_per_cycle", multiply_adds}, {"tensor.f16_f32_fma_per_cycle", multiply_adds},
      {"tensor.bf16_fma_per_cycle", multiply_adds}, {"tensor.tf32_fma_per_cycle", multiply_adds},
      {"tensor.int8_fma_per_cycle", multiply_adds}, {"tensor.f64_fma_per_cycle", multiply_adds},
      {"tensor.latency_cycles", latency}, {"tensor.deep_latency_cycles", latency}, {"tensor.f32_latency_cycles", latency},
      {"tensor.deep_f32_latency_cycles", latency}, {"tensor.m8n8k16_latency_cycles", latency}, {"tensor.f64_latency_cycles", latency},
      {"branch.latency_cycles", latency}, {"branch.barrier_lanes", lanes},
      {"ldst.lanes", lanes}, {"ldst.shuffle_lanes", lanes}, {"ldst.shuffle_latency_cycles", latency}, {"ldst.queue_entries", entries},
      {"ldst.issue_interval_cycles", {1, 1024}}, {"ldst.accept_interval_cycles", {1, 1024}},
      {"ldst.pending_instructions", entries}, {"ldst.address_latency_cycles", latency},
      {"ldst.load_read_latency_cycles", latency}, {"ldst.store_read_latency_cycles", latency},
      {"ldst.shared_load_read_latency_cycles", latency}, {"ldst.shared_store_read_latency_cycles", latency},
      {"ldst.constant_read_latency_cycles", latency}, {"ldst.operand_latency_cycles", {0, 1024}}, {"constant_cache.index_cycles", {0, 1024}},
      {"ldst.store_read_cycles_per_word", delay}, {"ldst.return_interval_cycles", {0, 1024}}, {"ldst.return_words", {1, 4}},
      {"ldst.shared_return_words", {1, 4}},
      {"ldst.reexecution_entries", {0, 4096}}, {"l1.prefetch_lines", {0, 3}},
      {"texture.lanes", lanes}, {"texture.queue_entries", entries}, {"texture.filter_latency_cycles", latency},
      {"l1.size_bytes", {128, 16777216}}, {"l1.ways", cache_ways}, {"l1.line_bytes", {128, 128}},
      {"l1.sector_bytes", {32, 128}}, {"l1.latency_cycles", latency}, {"l1.banks", {1, 4}}, {"l1.read_cycles", {1, 1000}}, {"l1.mshr_entries", entries},
      {"l1.mshr_merges", entries}, {"l1.miss_queue_entries", entries},
      {"shared_memory.size_bytes", shared_bytes}, {"shared_memory.max_per_block_bytes", shared_bytes},
      {"shared_memory.opt_in_per_block_bytes", shared_bytes},
      {"shared_memory.reserved_per_block_bytes", shared_bytes}, {"shared_memory.allocation_unit_bytes", {1, 65536}},
      {"shared_memory.unified_bytes", {0, 33554432}}, {"shared_memory.banks", {1, shared_memory_parameters::most_banks}},
      {"shared_memory.bank_bytes", {4, 8}}, {"shared_memory.latency_cycles", latency},
      {"shared_memory.pass_cycles", {1, 1000}}, {"shared_memory.conflict_cycles", delay},
      {"shared_memory.atomic_interval_cycles", delay},
      {"constant_cache.size_bytes", {64, 1048576}}, {"constant_cache.line_bytes", {16, 4096}},
      {"constant_cache.ways", cache_ways}, {"constant_cache.latency_cycles", latency},
      {"constant_cache.miss_latency_cycles", latency},
      {"instruction_cache.size_bytes", {64, 16777216}}, {"instruction_cache.line_bytes", {16, 4096}},
      {"instruction_cache.ways", cache_ways}, {"instruction_cache.instruction_bytes", {8, 16}},
      {"instruction_cache.miss_latency_cycles", latency}, {"instruction_cache.prefetch_lines", {0, 64}},
      {"instruction_cache.second_level_bytes", {0, 16777216}}, {"instruction_cache.second_level_line_bytes", {16, 4096}},
      {"instruction_cache.second_level_ways", cache_ways}, {"instruction_cache.second_level_miss_latency_cycles", latency},
      {"interconnect.clock_mhz", clock_mhz}, {"interconnect.latency_cycles", latency},
      {"interconnect.request_bytes_per_cycle", port_bytes}, {"interconnect.response_bytes_per_cycle", port_bytes},
      {"interconnect.header_bytes", {0, 4096}}, {"interconnect.input_queue_entries", entries},
      {"interconnect.output_queue_entries", entries},
      {"l2.size_bytes", {128, 1073741824}}, {"l2.ways", cache_ways}, {"l2.line_bytes", {128, 128}},
      {"tlb.entries", {0, 65536}}, {"tlb.page_bytes", {128, 1073741824}}, {"tlb.miss_latency_cycles", latency},
      {"l2.sector_bytes", {32, 32}}, {"l2.latency_cycles", latency}, {"l2.lookup_interval_cycles", latency},
      {"l2.mshr_entries", entries}, {"l2.mshr_merges", entries}, {"l2.queue_entries", entries},
      {"l2.atomic_interval_cycles", delay}, {"l2.atomic_contention_cycles", delay},
      {"l2.atomic_limit_cycles", delay}, {"l2.interleave_bytes", {128, 1048576}},
      {"memory.channels", {1, 256}}, {"memory.latency_cycles", latency}, {"memory.bytes_per_cycle", {1.0 / 64, 65536}},
      {"memory.max_transfer_bytes", {1, 128}}, {"memory.base_mib", {0, 4294967295.0}},
      {"dram.clock_mhz", clock_mhz}, {"dram.bytes_per_cycle", port_bytes}, {"dram.burst_bytes", {1, 4096}},
      {"dram.banks", {1, 1024}}, {"dram.row_bytes", {128, 1048576}}, {"dram.queue_entries", {1, 4096}},
      {"dram.controller_latency_cycles", delay}, {"dram.t_rcd_cycles", latency}, {"dram.t_rp_cycles", latency},
      {"dram.t_cl_cycles", latency}, {"dram.t_wl_cycles", delay}, {"dram.t_ras_cycles", delay},
      {"dram.t_ccd_cycles", latency}, {"dram.t_rrd_cycles", delay}, {"dram.t_wr_cycles", delay},
      {"dram.t_rtp_cycles", delay}, {"dram.t_wtr_cycles", delay}, {"dram.t_refi_cycles", {0, 100000000}},
      {"dram.t_rfc_cycles", {0, 10000000}},
      {"context.time_slice_cycles", {0, 4000000000}}, {"context.lines_in_flight", {1, 4096}}, {"context.area_mib", {512, 1073741824}},
      {"tlm.random_delay_cycles", delay}, {"tlm.random_delay_seed", {0, 4294967295.0}},
  };
  return table;
}

const std::map<std::string, std::vector<std::string>>& choices() {
  static const std::map<std::string, std::vector<std::string>> table = {
      {"cwd.placement", {"breadth_first", "depth_first", "most_free"}},
      {"sm.register_allocation", {"warp", "block"}},
      {"sm.warp_dealing", {"round_robin", "by_id"}},
      {"sub_partition.scheduler",
       {"lrr", "gto", "oldest", "cggty", "two_level", "prefetch_aware", "memory_aware", "ccws"}},
      {"sub_partition.dual_issue", {"none", "any", "maxwell"}},
      {"sub_partition.operand_read", {"collector", "window"}},
      {"sub_partition.dependence", {"scoreboard", "software"}},
      {"sub_partition.divergence", {"stack", "independent"}},
      {"int.multiplier", {"imad", "xmad"}},
      {"ldst.coalescing", {"warp", "half_warp"}},
      {"ldst.replay", {"unit", "issue"}},
      {"l1.store_hit", {"update", "invalidate"}},
      {"l1.replacement", {"lru", "fifo", "random"}},
      {"l2.replacement", {"lru", "fifo", "random"}},
      {"l2.hash", {"none", "xor"}},
      {"context.preemption", {"block", "instruction"}},
      {"context.saved_registers", {"used", "live"}},
      {"context.priority_preemption", {"none", "drain", "switch", "flush", "auto"}},
      {"memory.model", {"dram", "fixed", "external"}},
      {"memory.addresses", {"device", "channel"}},
      {"dram.preset", {"none", "gddr5", "gddr5x", "gddr6", "gddr6x", "hbm2", "hbm2e", "hbm3"}},
  };
  return table;
}

}  // namespace

const numeric_range* range_of(const std::string& name) {
  const auto found = ranges().find(name);
  return found == ranges().end() ? nullptr : &found->second;
}

const std::vector<std::string>* choices_of(const std::string& name) {
  const auto found = choices().find(name);
  return found == choices().end() ? nullptr : &found->second;
}

}  // namespace heddle
