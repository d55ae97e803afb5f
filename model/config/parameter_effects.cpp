// SPDX-License-Identifier: MIT
#include "heddle/config/parameter_rules.h"

#include <algorithm>

#include "heddle/config/parameter_table.h"

namespace heddle {

namespace {

/// Parameters that have an effect only if another parameter has certain values; those that go with one choice of their
/// own section say so in parameter_list.h.
struct effect_rule {
  const char* names;   // separated by spaces; "dram.*" is a whole section
  const char* needed;  // the other parameter
  bool (*acts)(const gpu_config&);
  const char* condition;  // continues the sentence "it acts only ..."
};

bool pairs(const gpu_config& c) {
  return c.sub_partition.issue_width > 1 && c.sub_partition.dual_issue != choice::dual_issue::none;
}
bool has_tensor_unit(const gpu_config& c) {
  const tensor_parameters& t = c.tensor;
  return t.f16_fma_per_cycle + t.f16_f32_fma_per_cycle + t.bf16_fma_per_cycle + t.tf32_fma_per_cycle +
             t.int8_fma_per_cycle + t.f64_fma_per_cycle >
         0;
}

const effect_rule rules[] = {
    {"l1.size_bytes l1.ways l1.replacement l1.mshr_entries l1.mshr_merges l1.prefetch_lines l1.banks l1.read_cycles l1.store_hit "
     "l1.store_allocates l1.fence_invalidates",
     "l1.cache_global_loads", [](const gpu_config& c) { return c.l1.cache_global_loads; },
     "on read-only, texture and local memory accesses: plain global loads bypass the L1 of this GPU"},
    {"dram.*", "memory.model", [](const gpu_config& c) { return c.memory.model == choice::memory_model::dram; },
     "with memory.model = dram"},
    {"dram.t_ccd_l_cycles dram.t_rrd_l_cycles dram.t_wtr_l_cycles", "dram.bank_groups",
     [](const gpu_config& c) { return c.dram.bank_groups > 1; }, "with dram.bank_groups above 1"},
    {"dram.t_cs_cycles", "dram.ranks", [](const gpu_config& c) { return c.dram.ranks > 1; }, "with dram.ranks above 1"},
    {"dram.t_refi_cycles", "dram.refresh", [](const gpu_config& c) { return c.dram.refresh != choice::refresh::none; },
     "with dram.refresh = all_bank or per_bank"},
    {"dram.refresh dram.t_rfc_cycles dram.t_rfc_pb_cycles", "dram.t_refi_cycles",
     [](const gpu_config& c) { return c.dram.t_refi_cycles != 0; }, "with dram.t_refi_cycles above 0"},
    {"dram.t_rfc_cycles", "dram.refresh",
     [](const gpu_config& c) { return c.dram.refresh == choice::refresh::all_bank; }, "with dram.refresh = all_bank"},
    {"dram.t_rfc_pb_cycles", "dram.refresh",
     [](const gpu_config& c) { return c.dram.refresh == choice::refresh::per_bank; }, "with dram.refresh = per_bank"},
    {"memory.latency_cycles memory.bytes_per_cycle", "memory.model",
     [](const gpu_config& c) { return c.memory.model == choice::memory_model::fixed; }, "with memory.model = fixed"},
    {"memory.max_transfer_bytes memory.byte_enables memory.addresses memory.base_mib", "memory.model",
     [](const gpu_config& c) { return c.memory.model == choice::memory_model::external; },
     "with memory.model = external"},
    {"gpu.cpcs_per_gpc", "interconnect.cpc_response_bytes_per_cycle",
     [](const gpu_config& c) { return c.interconnect.cpc_response_bytes_per_cycle != 0; },
     "with interconnect.cpc_response_bytes_per_cycle above 0"},
    {"l2.flush_at_completion", "memory.model",
     [](const gpu_config& c) { return c.memory.model != choice::memory_model::external; },
     "where the memory is Heddle's own: an external one always gets the dirty lines"},
    {"sub_partition.issue_width", "sub_partition.dual_issue",
     [](const gpu_config& c) { return c.sub_partition.dual_issue != choice::dual_issue::none; },
     "with a pairing rule, sub_partition.dual_issue = any or maxwell"},
    {"sub_partition.dual_issue", "sub_partition.issue_width",
     [](const gpu_config& c) { return c.sub_partition.issue_width > 1; }, "with sub_partition.issue_width = 2"},
    {"fp32.shared_lanes int.shared_lanes", "sub_partition.dual_issue", pairs,
     "where schedulers issue pairs of instructions"},
    {"int.shared_lanes", "fp32.shared_lanes", [](const gpu_config& c) { return c.fp32.shared_lanes > 0; },
     "with fp32.shared_lanes"},
    {"ldst.operand_latency_cycles", "sub_partition.dependence",
     [](const gpu_config& c) { return c.sub_partition.dependence == choice::dependence::software; },
     "with sub_partition.dependence = software"},
    {"ldst.return_words ldst.shared_return_words", "ldst.return_interval_cycles",
     [](const gpu_config& c) { return c.ldst.return_interval_cycles > 0; }, "with ldst.return_interval_cycles above 0"},
    {"sm.warp_allocation_granularity", "sm.register_allocation",
     [](const gpu_config& c) { return c.sm.register_allocation == choice::register_allocation::block; },
     "with sm.register_allocation = block"},
    {"tlb.page_bytes tlb.miss_latency_cycles", "tlb.entries", [](const gpu_config& c) { return c.tlb.entries > 0; },
     "with tlb.entries above 0"},
    {"instruction_cache.second_level_line_bytes instruction_cache.second_level_ways instruction_cache.second_level_misses "
     "instruction_cache.second_level_miss_latency_cycles",
     "instruction_cache.second_level_bytes",
     [](const gpu_config& c) { return c.instruction_cache.second_level_bytes > 0; },
     "with a second level, instruction_cache.second_level_bytes above 0"},
    {"fp64.latency_cycles fp64.fma_latency_cycles fp64.compare_lanes fp64.compare_latency_cycles fp64.shared fp64.issues_alone",
     "fp64.lanes", [](const gpu_config& c) { return c.fp64.lanes > 0; }, "on a chip with fp64, fp64.lanes above 0"},
    {"half.latency_cycles half.compare_lanes half.compare_latency_cycles half.shared", "half.lanes",
     [](const gpu_config& c) { return c.half.lanes > 0; }, "on a chip with half precision, half.lanes above 0"},
    {"tensor.latency_cycles tensor.deep_latency_cycles tensor.f32_latency_cycles tensor.deep_f32_latency_cycles "
     "tensor.m8n8k16_latency_cycles tensor.f64_latency_cycles tensor.sum_products tensor.sum_fraction_bits "
     "tensor.byte_sum_fraction_bits",
     "tensor.f16_fma_per_cycle", has_tensor_unit, "on a chip with a tensor unit"},
    {"tensor.warpgroup_issue_cycles tensor.warpgroup_tail_cycles tensor.warpgroup_queue_entries",
     "tensor.warpgroup_f16_fma_per_cycle",
     [](const gpu_config& c) {
       const tensor_parameters& t = c.tensor;
       return t.warpgroup_f16_fma_per_cycle + t.warpgroup_tf32_fma_per_cycle + t.warpgroup_8bit_fma_per_cycle > 0;
     },
     "on a chip with products of warpgroups, wgmma"},
    {"context.lines_in_flight context.saved_registers context.area_mib context.time_slice_cycles", "context.preemption",
     [](const gpu_config& c) { return c.context.preemption == choice::preemption::instruction; },
     "where blocks can be switched out, context.preemption = instruction"},
    {"tlm.random_delay_seed", "tlm.random_delay_cycles",
     [](const gpu_config& c) { return c.tlm.random_delay_cycles > 0; }, "with tlm.random_delay_cycles above 0"},
};

bool is_about(const effect_rule& rule, const std::string& name) {
  const std::string all = std::string(" ") + rule.names + " ";
  return all.find(" " + name + " ") != std::string::npos ||
         all.find(" " + name.substr(0, name.find('.')) + ".* ") != std::string::npos;
}

/// "a, b or c"
std::string alternatives(const std::vector<std::string>& names) {
  std::string all;
  for (std::size_t i = 0; i < names.size(); ++i)
    all += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  return all;
}

}  // namespace

std::string why_without_effect(const gpu_config& config, const std::string& name) {
  for (const effect_rule& rule : rules)
    if (is_about(rule, name) && !rule.acts(config))
      return std::string("it acts only ") + rule.condition + "; " + rule.needed + " is " +
             text_of(*find_parameter(rule.needed), config);
  const parameter* about = find_parameter(name);
  if (about == nullptr || about->needs.key.empty()) return "";
  const auto& [key, names] = about->needs;
  const std::string chosen = text_of(*find_parameter(key), config);
  if (std::find(names.begin(), names.end(), chosen) != names.end()) return "";
  return "it acts only with " + key + " = " + alternatives(names) + "; " + key + " is " + chosen;
}

}  // namespace heddle
