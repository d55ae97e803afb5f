// SPDX-License-Identifier: MIT
// Every shipped configuration: complete, sourced, with the product's figures, and physically consistent.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <sstream>

#include "heddle/config/config.h"
#include "heddle/config/ini_reader.h"
#include "heddle/config/parameter_table.h"
#include "tests/unit/gpu/occupancy_devices.h"

namespace heddle::test {
namespace shipped_gpus_test {

/// Whether the parameter acts only with a choice that the configuration does not make.
bool is_of_another_choice(const gpu_config& config, const std::string& key) {
  const auto& [choice, names] = find_parameter(key)->needs;
  return !choice.empty() &&
         std::find(names.begin(), names.end(), text_of(*find_parameter(choice), config)) == names.end();
}

/// Each line has a source. A chosen value has a reason; one that the compute capability fixes is never chosen.
void check_sources(const std::string& name, const std::string& text) {
  std::istringstream lines(text);
  std::string section;
  for (std::string line; std::getline(lines, line);) {
    if (line[0] == '[') section = line.substr(1, line.find(']') - 1);
    if (line.find(" = ") == std::string::npos || line[0] == ';' || line == "name = " + name) continue;
    const std::size_t comment = line.find(" ; ");
    ASSERT_NE(std::string::npos, comment) << name << ": no source for " << line;
    const std::string source = line.substr(comment + 3);
    if (source.rfind("chosen", 0) != 0) continue;
    EXPECT_EQ(0U, source.find("chosen: ")) << name << ": no reason for " << line;
    const parameter* p = find_parameter(section + "." + line.substr(0, line.find(" = ")));
    ASSERT_NE(nullptr, p) << line;
    EXPECT_TRUE(p->source != parameter_source::guide && p->source != parameter_source::calculator)
        << name << ": the compute capability fixes " << line;
  }
}

TEST(shipped, every_file_is_complete_in_order_and_sourced) {
  const std::vector<std::string> names = shipped_gpus();
  EXPECT_EQ((std::vector<std::string>{"g80", "gtx480", "gtxtitan", "gtx750ti", "gtx980", "p100", "gtx1080", "titanxp",
                                      "v100", "rtx2060", "rtx2080ti", "a100", "rtx3070", "rtx3080", "rtx4090", "h100",
                                      "b200", "rtx5090"}),
            names);
  std::vector<std::string> all;
  for (const parameter& p : parameters()) all.push_back(p.name());
  for (const std::string& name : names) {
    const gpu_config loaded = load_config(name);
    EXPECT_EQ(name, loaded.gpu.name);
    const std::string text = read_text_file(std::string(HEDDLE_SOURCE_CONFIGS "/") + name + ".ini");
    ini_entry base;
    std::vector<std::string> given;
    for (const ini_entry& e : read_ini(text, name, nullptr, &base)) given.push_back(e.section + "." + e.key);
    if (base.line == 0) {
      // The parameters of a policy that the chip does not have may be left out, and so may settings, which are no
      // property of a chip: the value and the source of their row are enough.
      std::vector<std::string> needed;
      for (const std::string& key : all)
        if (std::find(given.begin(), given.end(), key) != given.end() ||
            !(is_of_another_choice(loaded, key) || find_parameter(key)->source == parameter_source::setting))
          needed.push_back(key);
      EXPECT_EQ(needed, given) << name << ": what has no base says everything";
    } else {
      EXPECT_TRUE(std::find(names.begin(), names.end(), base.value) != names.end())
          << name << ": its base is a shipped GPU";
      std::vector<std::string> in_order;
      for (const std::string& key : all)
        if (std::find(given.begin(), given.end(), key) != given.end()) in_order.push_back(key);
      EXPECT_EQ(in_order, given) << name;
      EXPECT_LT(given.size(), all.size() / 2) << name << ": a base that does not help";
      for (const char* key : {"gpu.name", "gpu.compute_capability", "gpu.sm_count"})
        EXPECT_TRUE(std::find(given.begin(), given.end(), key) != given.end()) << name << " says " << key;
    }
    check_sources(name, text);
  }
}

TEST(shipped, memory_reaches_the_products_bandwidth) {
  const struct {
    const char* name;
    double gigabytes_per_second;
  } products[] = {{"g80", 86.4},      {"gtx480", 177.4}, {"gtxtitan", 288.4}, {"gtx750ti", 86.4}, {"gtx980", 224},
                  {"p100", 732},      {"gtx1080", 320},  {"titanxp", 547.7},  {"v100", 898},      {"rtx2060", 336},
                  {"rtx2080ti", 616}, {"a100", 1555},    {"rtx3070", 448},    {"rtx3080", 760},   {"rtx4090", 1008},
                  {"h100", 3350},     {"b200", 8000},    {"rtx5090", 1792}};
  ASSERT_EQ(shipped_gpus().size(), std::size(products));
  for (const auto& p : products) {
    const gpu_config c = load_config(p.name);
    const double expected = p.gigabytes_per_second;
    EXPECT_NEAR(expected, c.memory.channels * c.dram.bytes_per_cycle * c.dram.clock_mhz / 1000, 1) << p.name;
    EXPECT_NEAR(expected, c.memory.channels * c.memory.bytes_per_cycle * c.gpu.core_clock_mhz / 1000, 2) << p.name;
    EXPECT_GE(c.dram.burst_bytes, c.dram.t_ccd_cycles * c.dram.bytes_per_cycle)
        << p.name << ": tCCD keeps it from that";
    EXPECT_LT(expected, c.memory.channels * c.interconnect.response_bytes_per_cycle * c.interconnect.clock_mhz / 1000)
        << p.name << ": the interconnect keeps it from that";
    const double idle_dram = c.dram.controller_latency_cycles + c.dram.t_rp_cycles + c.dram.t_rcd_cycles +
                             c.dram.t_cl_cycles + static_cast<double>(c.dram.burst_bytes) / c.dram.bytes_per_cycle;
    // Refresh closes banks, which then need no precharge. If there is refresh, the pointer chase meets closed banks.
    const double ratio = c.gpu.core_clock_mhz / c.dram.clock_mhz;
    const double closed = c.dram.t_refi_cycles != 0 ? c.dram.t_rp_cycles * ratio : 0;
    EXPECT_LE(c.memory.latency_cycles, idle_dram * ratio + 2) << p.name;
    EXPECT_GE(c.memory.latency_cycles, idle_dram * ratio - closed - 2) << p.name;
  }
}

/// The limits of an SM follow from its compute capability (the rows are shared with the occupancy tests).
TEST(shipped, limits_are_those_of_the_compute_capability) {
  for (const std::string& name : shipped_gpus()) {
    const gpu_config c = load_config(name);
    const gpu_config limits = config_of(compute_capability_text(c));
    ASSERT_EQ(c.gpu.compute_capability, limits.gpu.compute_capability) << name;
    gpu_config expected = c;
    expected.sm = limits.sm;
    expected.sm.barriers_per_block = 16;
    expected.sm.barrier_latency_cycles = c.sm.barrier_latency_cycles;
    expected.sm.warp_assignment = c.sm.warp_assignment;
    expected.shared_memory.size_bytes = limits.shared_memory.size_bytes;
    expected.shared_memory.max_per_block_bytes = limits.shared_memory.max_per_block_bytes;
    expected.shared_memory.opt_in_per_block_bytes = limits.shared_memory.opt_in_per_block_bytes;
    expected.shared_memory.reserved_per_block_bytes = limits.shared_memory.reserved_per_block_bytes;
    expected.shared_memory.allocation_unit_bytes = limits.shared_memory.allocation_unit_bytes;
    expected.shared_memory.carveouts_kb = limits.shared_memory.carveouts_kb;
    EXPECT_EQ(flatten(expected), flatten(c)) << name;
  }
}

/// Results per cycle and SM: NVIDIA CUDA C++ Programming Guide, table of arithmetic throughput.
TEST(shipped, rates_are_those_of_the_guide) {
  const struct {
    const char* name;
    unsigned sm_count;
    double fp32, integer, fp64, half_x2, sfu;
  } chips[] = {
      {"g80", 16, 8, 8, 0, 0, 2},          {"gtx480", 15, 32, 32, 4, 0, 4},      {"gtxtitan", 14, 192, 160, 64, 0, 32},
      {"gtx750ti", 5, 128, 128, 4, 0, 32}, {"gtx980", 16, 128, 128, 4, 0, 32},   {"p100", 56, 64, 64, 32, 64, 16},
      {"gtx1080", 20, 128, 128, 4, 1, 32}, {"titanxp", 30, 128, 128, 4, 1, 32},  {"v100", 80, 64, 64, 32, 64, 16},
      {"rtx2060", 30, 64, 64, 2, 64, 16},  {"rtx2080ti", 68, 64, 64, 2, 64, 16}, {"a100", 108, 64, 64, 32, 128, 16},
      {"rtx3070", 46, 128, 64, 2, 64, 16}, {"rtx3080", 68, 128, 64, 2, 64, 16},  {"rtx4090", 128, 128, 64, 2, 64, 16},
      {"h100", 132, 128, 64, 64, 128, 16}, {"b200", 148, 128, 64, 64, 64, 16},   {"rtx5090", 170, 128, 128, 2, 64, 16}};
  ASSERT_EQ(shipped_gpus().size(), std::size(chips));
  for (const auto& chip : chips) {
    const gpu_config c = load_config(chip.name);
    const double n = c.sm.sub_partitions;
    EXPECT_EQ(chip.sm_count, c.gpu.sm_count) << chip.name;
    EXPECT_EQ(chip.fp32, n * c.fp32.lanes + c.fp32.shared_lanes) << chip.name;
    EXPECT_EQ(chip.integer, n * c.integer.lanes + c.integer.shared_lanes) << chip.name;
    EXPECT_EQ(chip.fp64, n * c.fp64.lanes) << chip.name;
    EXPECT_EQ(chip.half_x2, n * c.half.lanes) << chip.name;
    EXPECT_EQ(chip.sfu, n * c.sfu.lanes) << chip.name;
  }
}

TEST(shipped, figures_agree_with_each_other) {
  for (const std::string& name : shipped_gpus()) {
    const gpu_config c = load_config(name);
    EXPECT_LE(c.fp32.latency_cycles, c.sfu.latency_cycles) << name;
    EXPECT_LE(c.fp32.latency_cycles, c.shared_memory.latency_cycles) << name;
    EXPECT_LE(c.shared_memory.latency_cycles, c.l1.latency_cycles) << name;
    if (c.l1.cache_global_loads) {
      EXPECT_LT(c.l1.latency_cycles, c.l2.latency_cycles) << name;
    }
    EXPECT_LT(c.constant_cache.latency_cycles, c.constant_cache.miss_latency_cycles) << name;
    EXPECT_LT(c.constant_cache.miss_latency_cycles, c.l2.latency_cycles) << name;
    EXPECT_EQ(c.sm.max_threads, c.sm.max_warps * 32) << name;
    EXPECT_EQ(compute_capability(c) >= 70, c.sub_partition.divergence == choice::divergence::independent) << name;
    EXPECT_EQ(c.sub_partition.issue_width == 2, c.sub_partition.dual_issue != choice::dual_issue::none) << name;
    EXPECT_GE(c.sub_partition.instruction_buffer_entries, c.sub_partition.issue_width) << name;
    EXPECT_LE(c.dram.t_rcd_cycles, c.dram.t_ras_cycles) << name;
    EXPECT_EQ(c.shared_memory.carveouts_kb.size() > 1, c.shared_memory.unified_bytes != 0) << name;
    EXPECT_GE(c.ldst.pending_instructions, c.sm.max_warps) << name;
  }
}

/// Number of warps that keep the fp32 units busy with a chain of dependent instructions: the guide gives 6 (1.x), 22
/// (2.0) and 44 (3.x).
TEST(shipped, old_chips_need_the_warps_that_the_guide_names) {
  const struct {
    const char* name;
    unsigned warps;
  } chips[] = {{"g80", 6}, {"gtx480", 22}, {"gtxtitan", 44}};
  for (const auto& chip : chips) {
    const gpu_config c = load_config(chip.name);
    const double interval = warp_cycles(c.fp32.lanes);
    EXPECT_EQ(chip.warps, c.sm.sub_partitions * c.fp32.latency_cycles / interval) << chip.name;
  }
}

}  // namespace shipped_gpus_test
}  // namespace heddle::test
