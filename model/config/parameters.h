// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "heddle/config/choices.h"

namespace heddle {

/// Every parameter of the model: one struct per unit. Member names are the INI keys, defaults are those of gtx1080.
/// parameter_rows.cpp gives each parameter's meaning, unit and values; configs/*.ini gives each figure with its source.
/// Units are in the names: _cycles are core cycles unless the row says otherwise, _bytes, _mhz.

struct gpu_parameters {
  std::string name = "gtx1080";
  std::string compute_capability = "6.1";
  unsigned sm_count = 20;
  double core_clock_mhz = 1607;
  unsigned watchdog_cycles = 1000000;
};

struct cwd_parameters {
  unsigned launch_latency_cycles = 700;
  double dispatch_interval_cycles = 1;
  unsigned dispatch_latency_cycles = 4;
  choice::placement placement = choice::placement::breadth_first;
  unsigned max_resident_grids = 32;
};

struct sm_parameters {
  unsigned sub_partitions = 4;
  unsigned max_threads = 2048;
  unsigned max_warps = 64;
  unsigned max_blocks = 32;
  unsigned max_threads_per_block = 1024;
  unsigned registers = 65536;
  unsigned registers_per_block = 65536;
  unsigned registers_per_thread = 255;
  unsigned register_allocation_unit = 256;
  choice::register_allocation register_allocation = choice::register_allocation::warp;
  unsigned warp_allocation_granularity = 4;
  unsigned barriers_per_block = 16;
  unsigned barriers = 0;
  unsigned barrier_latency_cycles = 5;
  choice::warp_assignment warp_assignment = choice::warp_assignment::round_robin;
};

struct sub_partition_parameters {
  static constexpr unsigned most_register_banks = 64;  // size of the arrays that count conflicts
  static constexpr unsigned most_write_ports = 16;     // over all register banks

  choice::scheduler scheduler = choice::scheduler::gto;
  unsigned issue_width = 2;
  choice::dual_issue dual_issue = choice::dual_issue::maxwell;
  unsigned instruction_buffer_entries = 4;
  unsigned fetch_latency_cycles = 2;
  unsigned register_banks = 4;
  unsigned register_bank_bytes = 4;
  unsigned register_write_ports = 0;
  choice::operand_read operand_read = choice::operand_read::window;
  bool reuse_cache = true;
  choice::dependence dependence = choice::dependence::software;
  unsigned guard_latency_cycles = 0;
  unsigned fetch_group_warps = 8;
  unsigned ccws_victim_tags = 16;
  unsigned ccws_base_score = 100;
  unsigned ccws_throttle = 8;
  choice::divergence divergence = choice::divergence::stack;
  unsigned convergence_patience_iterations = 32;
  bool states_by_warp = false;
};

struct fp32_parameters {
  double lanes = 32;
  unsigned latency_cycles = 6;
  double minmax_lanes = 16;
  unsigned minmax_latency_cycles = 6;
  double compare_lanes = 16;
  unsigned compare_latency_cycles = 12;
  unsigned shared_lanes = 0;
};

struct int_parameters {
  double lanes = 32;
  unsigned latency_cycles = 6;
  double shift_lanes = 16;
  unsigned shift_latency_cycles = 6;
  choice::multiplier multiplier = choice::multiplier::xmad;
  double multiply_lanes = 32;
  unsigned multiply_latency_cycles = 6;
  double minmax_lanes = 16;
  unsigned minmax_latency_cycles = 6;
  double compare_lanes = 16;
  unsigned compare_latency_cycles = 12;
  double special_register_lanes = 16;
  unsigned special_register_latency_cycles = 25;
  bool on_fp32_lanes = false;
  unsigned shared_lanes = 0;
};

struct fp64_parameters {
  double lanes = 1;
  unsigned latency_cycles = 45;
  unsigned fma_latency_cycles = 45;
  double compare_lanes = 1;
  unsigned compare_latency_cycles = 51;
  bool shared = true;
  bool issues_alone = false;
};

struct half_parameters {
  double lanes = 0.25;
  unsigned latency_cycles = 6;
  double compare_lanes = 0.25;
  unsigned compare_latency_cycles = 12;
  bool shared = true;
};

struct sfu_parameters {
  double lanes = 8;
  unsigned latency_cycles = 14;
  double bit_count_lanes = 8;
  unsigned bit_count_latency_cycles = 14;
  double bit_scan_lanes = 8;
  unsigned bit_scan_latency_cycles = 14;
  double conversion_lanes = 8;
  unsigned conversion_latency_cycles = 14;
};

struct tensor_parameters {
  double f16_fma_per_cycle = 0;
  double f16_f32_fma_per_cycle = 0;
  double bf16_fma_per_cycle = 0;
  double tf32_fma_per_cycle = 0;
  double int8_fma_per_cycle = 0;
  double f64_fma_per_cycle = 0;
  unsigned latency_cycles = 18;
  unsigned deep_latency_cycles = 25;
  unsigned f32_latency_cycles = 18;
  unsigned deep_f32_latency_cycles = 25;
  unsigned m8n8k16_latency_cycles = 16;
  unsigned f64_latency_cycles = 26;
};

struct branch_parameters {
  unsigned latency_cycles = 6;
  double barrier_lanes = 16;
};

struct ldst_parameters {
  double lanes = 8;
  double shuffle_lanes = 8;
  unsigned shuffle_latency_cycles = 24;
  unsigned queue_entries = 4;
  unsigned issue_interval_cycles = 4;
  unsigned accept_interval_cycles = 1;
  unsigned pending_instructions = 128;
  unsigned address_latency_cycles = 4;
  unsigned load_read_latency_cycles = 20;
  unsigned store_read_latency_cycles = 20;
  unsigned shared_load_read_latency_cycles = 20;
  unsigned shared_store_read_latency_cycles = 20;
  unsigned constant_read_latency_cycles = 20;
  unsigned operand_latency_cycles = 0;
  unsigned store_read_cycles_per_word = 0;
  unsigned return_interval_cycles = 0;
  unsigned return_words = 1;
  unsigned shared_return_words = 1;
  unsigned reexecution_entries = 0;
  choice::coalescing coalescing = choice::coalescing::warp;
  choice::replay replay = choice::replay::unit;
};

struct texture_parameters {
  double lanes = 2;
  unsigned queue_entries = 8;
  unsigned filter_latency_cycles = 4;
};

struct l1_parameters {
  unsigned size_bytes = 24576;
  unsigned ways = 48;
  unsigned line_bytes = 128;
  unsigned sector_bytes = 32;
  unsigned latency_cycles = 82;
  unsigned banks = 2;
  double read_cycles = 1;
  bool cache_global_loads = false;
  bool cache_local = true;
  unsigned mshr_entries = 256;
  unsigned mshr_merges = 8;
  unsigned miss_queue_entries = 16;
  unsigned prefetch_lines = 0;
  bool fence_invalidates = false;
  choice::store_hit store_hit = choice::store_hit::invalidate;
  choice::replacement replacement = choice::replacement::lru;
};

struct shared_memory_parameters {
  static constexpr unsigned most_banks = 64;  // size of the arrays that count conflicts

  unsigned size_bytes = 98304;
  unsigned max_per_block_bytes = 49152;
  unsigned opt_in_per_block_bytes = 49152;
  unsigned reserved_per_block_bytes = 0;
  unsigned allocation_unit_bytes = 256;
  std::string carveouts_kb = "96";
  unsigned unified_bytes = 0;
  unsigned banks = 32;
  unsigned bank_bytes = 4;
  unsigned latency_cycles = 23;
  double pass_cycles = 1.1;
  unsigned conflict_cycles = 2;
  unsigned atomic_interval_cycles = 2;
};

struct constant_cache_parameters {
  unsigned size_bytes = 2048;
  unsigned line_bytes = 64;
  unsigned ways = 4;
  unsigned latency_cycles = 25;
  unsigned index_cycles = 0;
  unsigned miss_latency_cycles = 87;
};

struct instruction_cache_parameters {
  unsigned size_bytes = 8192;
  unsigned line_bytes = 128;
  unsigned ways = 4;
  unsigned instruction_bytes = 8;
  unsigned miss_latency_cycles = 32;
  unsigned prefetch_lines = 1;
  bool per_sub_partition = false;
  unsigned second_level_bytes = 32768;
  unsigned second_level_line_bytes = 256;
  unsigned second_level_ways = 8;
  unsigned second_level_miss_latency_cycles = 138;
};

struct interconnect_parameters {
  double clock_mhz = 1607;
  unsigned latency_cycles = 20;
  unsigned request_bytes_per_cycle = 32;
  unsigned response_bytes_per_cycle = 64;
  unsigned header_bytes = 8;
  unsigned input_queue_entries = 8;
  unsigned output_queue_entries = 8;
};

struct l2_parameters {
  unsigned size_bytes = 2097152;
  unsigned ways = 16;
  unsigned line_bytes = 128;
  unsigned sector_bytes = 32;
  unsigned latency_cycles = 216;
  unsigned lookup_interval_cycles = 1;
  unsigned mshr_entries = 64;
  unsigned mshr_merges = 16;
  unsigned queue_entries = 16;
  double atomic_interval_cycles = 20;
  unsigned atomic_contention_cycles = 0;
  unsigned atomic_limit_cycles = 21;
  choice::hash hash = choice::hash::xor_;
  unsigned interleave_bytes = 256;
  bool flush_at_completion = false;
  choice::replacement replacement = choice::replacement::lru;
};

struct tlb_parameters {
  unsigned entries = 0;
  unsigned page_bytes = 2097152;
  unsigned miss_latency_cycles = 11;
};

struct memory_parameters {
  choice::memory_model model = choice::memory_model::dram;
  unsigned channels = 8;
  unsigned latency_cycles = 246;
  double bytes_per_cycle = 24.9;
  unsigned max_transfer_bytes = 128;
  bool byte_enables = true;
  choice::addresses addresses = choice::addresses::device;
  unsigned base_mib = 256;
  unsigned capacity_mib = 8192;
};

struct dram_parameters {
  choice::dram_preset preset = choice::dram_preset::gddr5x;
  choice::dram_standard standard = choice::dram_standard::generic;
  double clock_mhz = 1251;
  unsigned bytes_per_cycle = 32;
  unsigned burst_bytes = 32;
  unsigned ranks = 1;
  unsigned bank_groups = 1;
  unsigned banks = 16;
  unsigned row_bytes = 2048;
  unsigned queue_entries = 64;
  unsigned controller_latency_cycles = 143;
  choice::dram_scheduler scheduler = choice::dram_scheduler::fr_fcfs;
  unsigned starvation_cycles = 512;
  choice::row_policy row_policy = choice::row_policy::open;
  unsigned row_timeout_cycles = 200;
  choice::refresh refresh = choice::refresh::all_bank;
  unsigned t_rcd_cycles = 16;
  unsigned t_rp_cycles = 16;
  unsigned t_cl_cycles = 16;
  unsigned t_wl_cycles = 6;
  unsigned t_ras_cycles = 37;
  unsigned t_rc_cycles = 0;
  unsigned t_ccd_cycles = 1;
  unsigned t_ccd_l_cycles = 0;
  unsigned t_rrd_cycles = 8;
  unsigned t_rrd_l_cycles = 0;
  unsigned t_faw_cycles = 0;
  unsigned t_wr_cycles = 16;
  unsigned t_rtp_cycles = 3;
  unsigned t_wtr_cycles = 7;
  unsigned t_wtr_l_cycles = 0;
  unsigned t_rtw_cycles = 1;
  unsigned t_cs_cycles = 0;
  unsigned t_refi_cycles = 0;
  unsigned t_rfc_cycles = 0;
  unsigned t_rfc_pb_cycles = 0;
};

struct context_parameters {
  choice::preemption preemption = choice::preemption::instruction;
  choice::priority_preemption priority_preemption = choice::priority_preemption::none;
  unsigned time_slice_cycles = 0;
  unsigned lines_in_flight = 128;
  choice::saved_registers saved_registers = choice::saved_registers::used;
  unsigned area_mib = 1048576;
};

struct host_link_parameters {
  double bandwidth_gbs = 12;
  double latency_us = 1.3;
};

struct tlm_parameters {
  bool check = false;
  unsigned random_delay_cycles = 0;
  unsigned random_delay_seed = 1;
};

/// The whole effective configuration of one GPU.
struct gpu_config {
  gpu_parameters gpu;
  cwd_parameters cwd;
  sm_parameters sm;
  sub_partition_parameters sub_partition;
  fp32_parameters fp32;
  int_parameters integer;
  fp64_parameters fp64;
  half_parameters half;
  sfu_parameters sfu;
  tensor_parameters tensor;
  branch_parameters branch;
  ldst_parameters ldst;
  texture_parameters texture;
  l1_parameters l1;
  shared_memory_parameters shared_memory;
  constant_cache_parameters constant_cache;
  instruction_cache_parameters instruction_cache;
  tlb_parameters tlb;
  interconnect_parameters interconnect;
  l2_parameters l2;
  memory_parameters memory;
  dram_parameters dram;
  context_parameters context;
  host_link_parameters host_link;
  tlm_parameters tlm;
};

}  // namespace heddle
