// SPDX-License-Identifier: MIT
#include "heddle/occupancy/sm_resources.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "heddle/config/error.h"
#include "tests/unit/gpu/occupancy_devices.h"

namespace heddle::test {
namespace sm_resources_test {

using partitions = std::vector<std::uint8_t>;

TEST(sm_resources, assigns_warps_round_robin_from_where_it_stopped) {
  sm_resources sm(config_of("6.1"));
  EXPECT_EQ((partitions{0, 1, 2}), sm.take(block_demand{96, 16}).partition_of_warp);
  EXPECT_EQ((partitions{3, 0, 1, 2, 3}), sm.take(block_demand{160, 16}).partition_of_warp);
  EXPECT_EQ((partitions{0}), sm.take(block_demand{1, 16}).partition_of_warp);
  EXPECT_EQ(3u, sm.blocks());
  EXPECT_EQ(9u, sm.warps());
  EXPECT_EQ(3u, sm.warps_of(0));
  sm.check_invariants();
}

TEST(sm_resources, assigns_warps_by_id_from_the_first_sub_partition) {
  gpu_config config = config_of("6.1");
  config.sm.warp_assignment = choice::warp_assignment::by_id;
  sm_resources sm(config);
  EXPECT_EQ((partitions{0, 1, 2}), sm.take(block_demand{96, 16}).partition_of_warp);
  EXPECT_EQ((partitions{0, 1, 2}), sm.take(block_demand{96, 16}).partition_of_warp);
}

TEST(sm_resources, skips_full_sub_partitions) {
  gpu_config config = config_of("6.1");
  config.sm.max_warps = 8;
  config.sm.max_threads = 256;
  sm_resources sm(config);
  const block_allocation first = sm.take(block_demand{160, 16});  // 0 1 2 3 0
  const block_allocation second = sm.take(block_demand{64, 16});  // 1 2
  EXPECT_EQ((partitions{1, 2}), second.partition_of_warp);
  EXPECT_EQ((partitions{3}), sm.take(block_demand{32, 16}).partition_of_warp);
  EXPECT_FALSE(sm.fits(block_demand{32, 16}));
  sm.give_back(second);
  EXPECT_EQ((partitions{1, 2}), sm.take(block_demand{64, 16}).partition_of_warp);  // from 0 on, which is full
  sm.give_back(first);
  sm.check_invariants();
}

TEST(sm_resources, registers_are_those_of_the_sub_partition) {
  // 16384 registers each: a warp with 255 registers per thread takes 8192, so each of the four holds two.
  sm_resources sm(config_of("6.1"));
  std::vector<block_allocation> held;
  for (int i = 0; i < 7; ++i) held.push_back(sm.take(block_demand{32, 255}));
  EXPECT_TRUE(sm.fits(block_demand{32, 255}));
  EXPECT_FALSE(sm.fits(block_demand{64, 255}));
  sm.take(block_demand{32, 200});  // takes the last free registers, except 1792
  EXPECT_FALSE(sm.fits(block_demand{32, 64}));
  EXPECT_TRUE(sm.fits(block_demand{32, 56}));
  sm.check_invariants();
}

TEST(sm_resources, a_block_is_restored_to_its_slots) {
  sm_resources sm(config_of("6.1"));
  sm.take(block_demand{32, 16});
  block_allocation switched = sm.take(block_demand{64, 255});
  const partitions where = switched.partition_of_warp;
  sm.give_back(switched);
  const block_allocation other = sm.take(block_demand{256, 248});
  EXPECT_FALSE(sm.fits_again(switched));
  EXPECT_THROW(sm.take_again(switched), internal_error);
  sm.give_back(other);
  ASSERT_TRUE(sm.fits_again(switched));
  sm.take_again(switched);
  EXPECT_EQ(where, switched.partition_of_warp);
  EXPECT_EQ(1u, sm.warps_of(where[0]));
  sm.check_invariants();
  sm.give_back(switched);
  EXPECT_EQ(1u, sm.warps());
}

TEST(sm_resources, a_block_of_an_sm_with_more_sub_partitions_does_not_fit_again) {
  sm_resources sm(config_of("6.1"));  // four sub-partitions
  block_allocation other = sm.take(block_demand{64, 16});
  sm.give_back(other);
  for (const std::uint8_t partition : {std::uint8_t{4}, std::uint8_t{5}, std::uint8_t{255}}) {
    other.partition_of_warp.back() = partition;
    EXPECT_FALSE(sm.fits_again(other)) << unsigned{partition};
    EXPECT_THROW(sm.take_again(other), internal_error);
  }
  other.partition_of_warp.back() = 3;
  EXPECT_TRUE(sm.fits_again(other));
}

TEST(sm_resources, refuses_what_does_not_fit_and_what_it_does_not_hold) {
  sm_resources sm(config_of("6.1"));
  EXPECT_FALSE(sm.fits(block_demand{1024, 128}));
  EXPECT_THROW(sm.take(block_demand{1024, 128}), internal_error);
  const block_allocation held = sm.take(block_demand{32, 16, 100});
  sm.give_back(held);
  EXPECT_THROW(sm.give_back(held), internal_error);
  EXPECT_THROW(sm.give_back(block_allocation()), internal_error);
  EXPECT_THROW(static_cast<void>(sm.fits(block_demand{0})), input_error);
}

TEST(sm_resources, the_carveout_changes_only_while_the_sm_is_empty) {
  sm_resources sm(config_of("7.0"));
  const block_allocation first = sm.take(block_demand{32, 16, 4096, 0});
  EXPECT_EQ(8192u, sm.carveout_bytes());
  EXPECT_TRUE(sm.fits(block_demand{32, 16, 4096}));
  EXPECT_FALSE(sm.fits(block_demand{32, 16, 8192}));
  sm.give_back(first);
  sm.take(block_demand{32, 16, 8192});
  EXPECT_EQ(98304u, sm.carveout_bytes());
  EXPECT_TRUE(sm.fits(block_demand{32, 16, 4096, 0}));
  sm.check_invariants();
}

TEST(sm_resources, blocks_of_different_carveouts_are_restored_in_any_order) {
  sm_resources sm(config_of("7.0"));
  block_allocation large = sm.take(block_demand{32, 16, 40000, 100});
  block_allocation small = sm.take(block_demand{32, 16, 4096, 0});
  for (block_allocation* first : {&small, &large}) {
    sm.give_back(large);
    sm.give_back(small);
    block_allocation* second = first == &small ? &large : &small;
    sm.take_again(*first);
    EXPECT_EQ(98304u, sm.carveout_bytes());
    EXPECT_TRUE(sm.fits_again(*second));
    sm.take_again(*second);
    sm.check_invariants();
  }
}

TEST(sm_resources, a_restored_block_can_be_restored_again_after_a_larger_carveout) {
  sm_resources sm(config_of("7.0"));
  block_allocation small = sm.take(block_demand{32, 16, 4096, 0});
  sm.give_back(small);
  block_allocation large = sm.take(block_demand{32, 16, 40000, 100});
  sm.take_again(small);
  sm.give_back(large);
  sm.give_back(small);
  sm.take_again(small);
  EXPECT_EQ(98304u, sm.carveout_bytes());
  EXPECT_TRUE(sm.fits_again(large));
}

TEST(sm_resources, blocks_of_a_small_carveout_share_it_beside_a_larger_one) {
  sm_resources sm(config_of("7.0"));
  const block_demand small{32, 16, 4096, 0};
  EXPECT_EQ(2u, compute(config_of("7.0"), small).blocks_per_sm);
  sm.take(block_demand{32, 16, 4096, 100});
  sm.take(small);
  sm.take(small);
  EXPECT_FALSE(sm.fits(small));
  EXPECT_TRUE(sm.fits(block_demand{32, 16, 4096, 100}));
}

TEST(sm_resources, barriers_are_counted_where_the_chip_counts_them) {
  sm_resources sm(config_of("9.0"));
  for (int i = 0; i < 4; ++i) sm.take(block_demand{32, 16, 0, -1, 16});
  EXPECT_FALSE(sm.fits(block_demand{32, 16, 0, -1, 1}));
  EXPECT_TRUE(sm.fits(block_demand{32, 16, 0, -1, 0}));
  EXPECT_EQ(64u, sm.barriers());
}

/// As many equal blocks fit as the calculator says, from any state reached with such blocks only.
TEST(sm_resources, holds_as_many_equal_blocks_as_the_calculator_says) {
  std::mt19937 random(7);
  for (const device_row& row : device_rows()) {
    const gpu_config config = config_of(row);
    for (int trial = 0; trial < 300; ++trial) {
      const block_demand demand{1 + static_cast<unsigned>(random() % 600), static_cast<unsigned>(random() % 90),
                                random() % 3 ? random() % 20000 : 0, -1, static_cast<unsigned>(random() % 17)};
      sm_resources sm(config);
      const unsigned expected = compute(config, demand).blocks_per_sm;
      const block_footprint block = sm.footprint(demand);
      std::vector<block_allocation> held;
      for (int step = 0; step < 40; ++step) {
        while (sm.fits(block)) held.push_back(sm.take(block));
        ASSERT_EQ(expected, held.size()) << row.compute_capability << " " << demand.threads << " "
                                         << demand.registers_per_thread << " " << demand.shared_bytes;
        for (std::size_t n = held.empty() ? 0 : random() % held.size(); n > 0; --n) {
          const std::size_t victim = random() % held.size();
          sm.give_back(held[victim]);
          held.erase(held.begin() + static_cast<std::ptrdiff_t>(victim));
        }
      }
      sm.check_invariants();
    }
  }
}

/// Any sequence of different blocks keeps the sums correct; equal objects stay equal; an empty one is all zero.
TEST(sm_resources, random_schedules_keep_the_counts_consistent) {
  for (const device_row& row : device_rows()) {
    gpu_config config = config_of(row);
    std::mt19937 random(11);
    config.sm.warp_assignment = random() % 2 ? choice::warp_assignment::round_robin : choice::warp_assignment::by_id;
    sm_resources cwd(config), sm(config);
    std::vector<block_allocation> held, swapped_out;
    std::size_t taken = 0;
    for (int step = 0; step < 20000; ++step) {
      const block_demand demand{1 + static_cast<unsigned>(random() % 1100), static_cast<unsigned>(random() % 128),
                                random() % 2 ? random() % 30000 : 0, static_cast<int>(random() % 102) - 1,
                                static_cast<unsigned>(random() % 17)};
      ASSERT_EQ(cwd.fits(demand), sm.fits(demand));
      if (cwd.fits(demand)) {
        const block_allocation a = cwd.take(demand);
        ASSERT_EQ(a.partition_of_warp, sm.take(demand).partition_of_warp);
        ASSERT_EQ((demand.threads + 31) / 32, a.partition_of_warp.size());
        held.push_back(a);
        ++taken;
      } else if (!held.empty()) {
        const std::size_t victim = random() % held.size();
        cwd.give_back(held[victim]);
        sm.give_back(held[victim]);
        if (random() % 4 == 0) swapped_out.push_back(held[victim]);
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(victim));
      }
      if (!swapped_out.empty() && cwd.fits_again(swapped_out.back())) {
        block_allocation copy = swapped_out.back();
        cwd.take_again(swapped_out.back());
        sm.take_again(copy);
        held.push_back(swapped_out.back());
        swapped_out.pop_back();
      }
      if (step % 16 == 0) cwd.check_invariants();
    }
    EXPECT_GT(taken, 1000u) << row.compute_capability;
    for (const block_allocation& a : held) cwd.give_back(a);
    EXPECT_EQ(0u, cwd.blocks() + cwd.warps() + cwd.threads() + cwd.registers() + cwd.shared_bytes() + cwd.barriers());
    cwd.check_invariants();
    sm.check_invariants();
  }
}

}  // namespace sm_resources_test
}  // namespace heddle::test
