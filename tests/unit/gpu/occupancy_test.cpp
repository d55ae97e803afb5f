// SPDX-License-Identifier: MIT
#include "heddle/occupancy/occupancy.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "heddle/config/config.h"
#include "occupancy_devices.h"

namespace heddle::test {
namespace occupancy_test {

using names = std::vector<std::string>;

unsigned blocks_of(const std::string& compute_capability, const block_demand& demand) {
  return compute(config_of(compute_capability), demand).blocks_per_sm;
}

TEST(occupancy, worked_example_of_maxwell) {
  const gpu_config config = config_of("5.0");
  const occupancy_result small = compute(config, {128, 48, 5000});
  EXPECT_EQ(10u, small.blocks_per_sm);
  EXPECT_EQ(40u, small.active_warps);
  EXPECT_DOUBLE_EQ(0.625, small.theoretical_occupancy);
  EXPECT_EQ(names{"registers"}, small.limiters);
  EXPECT_EQ(1536u, small.block.registers_per_warp);
  EXPECT_EQ(6144u, small.block.registers_per_block);
  EXPECT_EQ(5120u, small.block.shared_bytes);
  EXPECT_EQ(16u, small.block.limits.warps);
  EXPECT_EQ(32u, small.block.limits.blocks);
  EXPECT_EQ(10u, small.block.limits.registers);
  EXPECT_EQ(12u, small.block.limits.shared_memory);
  EXPECT_EQ(resource_limits::unlimited, small.block.limits.barriers);

  const occupancy_result large = compute(config, {128, 48, 10000});
  EXPECT_EQ(6u, large.blocks_per_sm);
  EXPECT_DOUBLE_EQ(0.375, large.theoretical_occupancy);
  EXPECT_EQ(names{"shared_memory"}, large.limiters);
}

TEST(occupancy, same_blocks_on_other_chips) {
  const struct {
    const char* compute_capability;
    unsigned with_5000, with_10000;
  } anchors[] = {{"7.0", 10, 9}, {"7.5", 8, 6}, {"8.0", 10, 10}, {"8.6", 10, 9}, {"9.0", 10, 10}, {"12.0", 10, 9}};
  for (const auto& a : anchors) {
    EXPECT_EQ(a.with_5000, blocks_of(a.compute_capability, {128, 48, 5000})) << a.compute_capability;
    EXPECT_EQ(a.with_10000, blocks_of(a.compute_capability, {128, 48, 10000})) << a.compute_capability;
  }
}

TEST(occupancy, legacy_chips_allocate_by_block) {
  EXPECT_EQ(3u, blocks_of("1.0", {256, 10, 2048}));
  EXPECT_EQ(2u, blocks_of("1.0", {192, 16, 4096}));
  EXPECT_EQ(3u, blocks_of("1.0", {128, 20, 0}));
  EXPECT_EQ(1u, blocks_of("1.0", {512, 16, 0}));
  EXPECT_EQ(4u, blocks_of("1.3", {256, 16, 4096}));
  EXPECT_EQ(2u, blocks_of("1.3", {192, 32, 4096}));
  EXPECT_EQ(2u, blocks_of("1.3", {512, 16, 0}));
  EXPECT_EQ(6u, blocks_of("2.0", {256, 20, 4096}));
  EXPECT_EQ(5u, blocks_of("2.0", {192, 32, 8192}));
  EXPECT_EQ(2u, blocks_of("2.0", {512, 21, 0}));
  EXPECT_EQ(1u, blocks_of("2.0", {1024, 32, 0}));
  EXPECT_EQ(4u, blocks_of("2.0", {128, 63, 0}));
}

TEST(occupancy, hypothetical_devices) {
  gpu_config config = config_of("1.0");
  config.sm.registers = config.sm.registers_per_block = 8000;
  config.sm.register_allocation_unit = 1;
  config.sm.warp_allocation_granularity = 1;
  config.shared_memory.allocation_unit_bytes = 1;
  EXPECT_EQ(3u, compute(config, {256, 10}).blocks_per_sm);
  EXPECT_EQ(2u, compute(config, {256, 11}).blocks_per_sm);
  EXPECT_EQ(8u, compute(config, {32, 1, 2048}).blocks_per_sm);
  EXPECT_EQ(4u, compute(config, {32, 1, 4096}).blocks_per_sm);
  EXPECT_EQ(3u, compute(config, {32, 1, 5120}).blocks_per_sm);
  config.sm.register_allocation = choice::register_allocation::warp;
  EXPECT_EQ(3u, compute(config, {256, 10}).blocks_per_sm);
  EXPECT_EQ(2u, compute(config, {256, 11}).blocks_per_sm);
}

TEST(occupancy, a_block_that_never_fits_names_what_is_lacking) {
  const gpu_config config = config_of("6.1");
  const auto limiters = [&](const block_demand& demand) {
    const occupancy_result r = compute(config, demand);
    EXPECT_EQ(0u, r.blocks_per_sm);
    EXPECT_EQ(0u, r.active_warps);
    EXPECT_EQ(0.0, r.theoretical_occupancy);
    return r.limiters;
  };
  EXPECT_EQ(names{"warps"}, limiters({1025, 16}));
  EXPECT_EQ(names{"registers"}, limiters({32, 256}));
  EXPECT_EQ(names{"registers"}, limiters({1024, 65}));
  EXPECT_EQ(names{"shared_memory"}, limiters({32, 16, 49153}));
  EXPECT_EQ(names{"barriers"}, limiters({32, 16, 0, -1, 17}));
  EXPECT_EQ((names{"warps", "registers", "shared_memory"}),
            limiters({4294967295u, 4294967295u, 18446744073709551615u}));
}

TEST(occupancy, a_block_must_also_fit_when_its_warps_are_assigned_to_sub_partitions) {
  // 22 warps of 2816 registers would fit the two halves of GP100, but not the quarters that its rule assumes.
  EXPECT_EQ(0u, blocks_of("6.0", {704, 88}));
  EXPECT_EQ(0u, blocks_of("6.1", {704, 88}));
  EXPECT_EQ(1u, blocks_of("6.0", {640, 88}));
  // GK210 has twice the registers that one block may have: the fullest quarter of its 21 warps counts four times.
  gpu_config config = config_of("3.5");
  config.sm.registers = 131072;
  EXPECT_EQ(0u, compute(config, {672, 96}).blocks_per_sm);
  EXPECT_EQ(2u, compute(config, {640, 96}).blocks_per_sm);
}

TEST(occupancy, every_limit_equal_to_the_least_is_named) {
  const occupancy_result r = compute(config_of("6.1"), {64, 32, 3072});
  EXPECT_EQ(32u, r.blocks_per_sm);
  EXPECT_EQ((names{"warps", "blocks", "registers", "shared_memory"}), r.limiters);
  EXPECT_DOUBLE_EQ(1.0, r.theoretical_occupancy);
}

// Nsight Compute on a V100: 0 for kernels without shared memory, 32 KiB for Rodinia's hotspot (256 threads, 3 KiB per
// block, 8 blocks per SM).
TEST(occupancy, without_a_preference_l1_gets_what_the_blocks_leave) {
  gpu_config config = config_of("7.0");
  config.shared_memory.unified_bytes = 131072;
  config.l1.size_bytes = 32768;
  const occupancy_result none = compute(config, {256, 32, 0}), hotspot = compute(config, {256, 32, 3072});
  EXPECT_EQ(none.block.carveout_bytes, 0u);
  EXPECT_EQ(none.block.l1_bytes, 131072u);
  EXPECT_EQ(hotspot.blocks_per_sm, 8u);
  EXPECT_EQ(hotspot.block.carveout_bytes, 32768u);
  EXPECT_EQ(hotspot.block.l1_bytes, 98304u);
  EXPECT_EQ(hotspot.block.limits.shared_memory, 32u);  // of the largest carve-out, as in NVIDIA's calculator
  EXPECT_EQ(compute(config, {64, 32, 24576}).block.carveout_bytes, 98304u);
}

TEST(occupancy, the_carveout_holds_the_block_and_leaves_the_rest_to_l1) {
  gpu_config config = config_of("7.0");
  config.shared_memory.unified_bytes = 131072;
  config.l1.size_bytes = 32768;
  const auto block = [&](unsigned shared, int percent) { return compute(config, {128, 32, shared, percent}).block; };
  EXPECT_EQ(98304u, block(0, 100).carveout_bytes);
  EXPECT_EQ(32768u, block(0, 100).l1_bytes);
  EXPECT_EQ(0u, block(0, 0).carveout_bytes);
  EXPECT_EQ(131072u, block(0, 0).l1_bytes);
  EXPECT_EQ(65536u, block(0, 50).carveout_bytes);    // 48 KiB, rounded up to a supported size
  EXPECT_EQ(16384u, block(8193, 0).carveout_bytes);  // the block needs more than the preferred size
  EXPECT_EQ(1u, block(8193, 0).limits.shared_memory);
  EXPECT_EQ(98304u, block(98304, 10).carveout_bytes);
  EXPECT_EQ(98304u, compute(config_of("6.1"), {128, 32, 0, 0}).block.carveout_bytes);
  EXPECT_EQ(24576u, compute(config_of("6.1"), {128, 32, 0, 0}).block.l1_bytes);
}

TEST(occupancy, refuses_impossible_questions) {
  const gpu_config config = config_of("7.0");
  EXPECT_THROW(compute(config, {0, 32}), input_error);
  EXPECT_THROW(compute(config, {32, 32, 0, -2}), input_error);
  EXPECT_THROW(compute(config, {32, 32, 0, 101}), input_error);
  gpu_config broken = config;
  broken.shared_memory.carveouts_kb = {64, 64};
  EXPECT_THROW(compute(broken, {32, 32}), input_error);
  broken.shared_memory.carveouts_kb = {};
  EXPECT_THROW(compute(broken, {32, 32}), input_error);
}

TEST(occupancy, expected_rows) {
  std::ifstream in(HEDDLE_TEST_DATA "/occupancy_rows.csv");
  ASSERT_TRUE(in) << "no table of expected rows";
  std::size_t rows = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    ++rows;
    std::vector<std::string> cells;
    std::istringstream text(line);
    for (std::string cell; std::getline(text, cell, ',');) cells.push_back(cell);
    ASSERT_EQ(12u, cells.size()) << line;
    const auto number = [&](std::size_t i) { return static_cast<unsigned>(std::stoul(cells[i])); };
    const auto limit = [&](std::size_t i) { return cells[i] == "-" ? resource_limits::unlimited : number(i); };
    const occupancy_result r =
        compute(config_of(cells[0]), {number(1), number(2), number(3), std::stoi(cells[4]), number(5)});
    EXPECT_EQ(number(6), r.blocks_per_sm) << line;
    EXPECT_EQ(limit(7), r.block.limits.warps) << line;
    EXPECT_EQ(limit(8), r.block.limits.blocks) << line;
    EXPECT_EQ(limit(9), r.block.limits.registers) << line;
    EXPECT_EQ(limit(10), r.block.limits.shared_memory) << line;
    std::string limiters;
    for (const std::string& name : r.limiters) limiters += (limiters.empty() ? "" : " ") + name;
    EXPECT_EQ(cells[11], limiters) << line;
  }
  EXPECT_GE(rows, 400u);
}

TEST(occupancy, shipped_chips_have_the_limits_of_their_compute_capability) {
  for (const std::string& name : shipped_gpus()) {
    const gpu_config shipped = load_config(name);
    const gpu_config row = config_of(compute_capability_text(shipped));
    if (row.gpu.compute_capability != shipped.gpu.compute_capability) continue;
    for (unsigned threads : {32u, 96u, 128u, 250u, 1024u})
      for (unsigned registers : {16u, 33u, 63u, 128u, 255u})
        for (unsigned shared : {0u, 5000u, 20000u, 60000u}) {
          const occupancy_result a = compute(shipped, {threads, registers, shared});
          const occupancy_result b = compute(row, {threads, registers, shared});
          EXPECT_EQ(b.blocks_per_sm, a.blocks_per_sm) << name << " " << threads << " " << registers << " " << shared;
          EXPECT_EQ(b.limiters, a.limiters) << name << " " << threads << " " << registers << " " << shared;
        }
  }
}

}  // namespace occupancy_test
}  // namespace heddle::test
