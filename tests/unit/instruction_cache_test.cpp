// SPDX-License-Identifier: MIT
// Instruction caches by hand: what comes from which level when, what the prefetcher brings, who gives way.
#include <gtest/gtest.h>

#include "sub_partition/instruction_cache.h"

namespace heddle::test {
namespace {

constexpr instruction_cache::geometry second{4096, 256, 4, 150, 0};

TEST(instruction_cache, each_level_adds_its_latency) {
  instruction_cache behind("behind", second);
  instruction_cache first("first", {1024, 128, 2, 30, 0}, &behind);
  EXPECT_EQ(first.look_up(0, 100), 100u + 30 + 150);
  EXPECT_EQ(first.look_up(64, 110), 280u);            // the same line, on its way
  EXPECT_EQ(first.look_up(0, 400), 400u);
  EXPECT_EQ(first.look_up(128, 500), 530u);           // the other half of the second level's line
  EXPECT_EQ(first.misses, 2u);
  EXPECT_EQ(behind.accesses, 2u);
  EXPECT_EQ(behind.misses, 1u);
}

TEST(instruction_cache, the_least_recently_used_line_gives_way) {
  instruction_cache alone("alone", {1024, 128, 2, 30, 0});   // four sets
  alone.look_up(0, 0);
  alone.look_up(512, 100);
  alone.look_up(0, 200);
  alone.look_up(1024, 300);                           // the same set: instead of 512
  EXPECT_EQ(alone.look_up(0, 400), 400u);
  EXPECT_EQ(alone.look_up(512, 500), 530u);
}

TEST(instruction_cache, a_prefetcher_streams_the_next_lines_a_cycle_apart) {
  instruction_cache first("streamed", {1024, 128, 2, 30, 3});
  EXPECT_EQ(first.look_up(0, 0), 30u);
  EXPECT_EQ(first.prefetches, 3u);
  EXPECT_EQ(first.look_up(128, 5), 31u);
  EXPECT_EQ(first.look_up(256, 40), 40u);
  EXPECT_EQ(first.look_up(384, 41), 41u);
  EXPECT_EQ(first.misses, 1u);
}

}  // namespace
}  // namespace heddle::test
