// SPDX-License-Identifier: MIT
// Instruction caches with times computed by hand: which level serves a request, what the prefetcher loads, which line
// is replaced.
#include <gtest/gtest.h>

#include "heddle/config/config.h"
#include "heddle/sub_partition/fetch/fetch.h"
#include "heddle/sub_partition/fetch/instruction_cache.h"

namespace heddle::test {
namespace instruction_cache_test {

constexpr instruction_cache::geometry second{4096, 256, 4, 150, 0};

TEST(instruction_cache, each_level_adds_its_latency) {
  instruction_cache behind({"behind"}, second);
  instruction_cache first({"first"}, {1024, 128, 2, 30, 0}, &behind);
  EXPECT_EQ(first.look_up(0, 100, 0), 100u + 30 + 150);
  EXPECT_EQ(first.look_up(64, 110, 0), 280u);  // the same line, pending
  EXPECT_EQ(first.look_up(0, 400, 0), 400u);
  EXPECT_EQ(first.look_up(128, 500, 0), 530u);  // the other half of the second level's line
  EXPECT_EQ(first.misses, 2u);
  EXPECT_EQ(behind.accesses, 2u);
  EXPECT_EQ(behind.misses, 1u);
}

TEST(instruction_cache, the_least_recently_used_line_is_replaced) {
  instruction_cache alone({"alone"}, {1024, 128, 2, 30, 0});  // four sets
  alone.look_up(0, 0, 0);
  alone.look_up(512, 100, 0);
  alone.look_up(0, 200, 0);
  alone.look_up(1024, 300, 0);  // the same set: replaces 512
  EXPECT_EQ(alone.look_up(0, 400, 0), 400u);
  EXPECT_EQ(alone.look_up(512, 500, 0), 530u);
}

TEST(instruction_cache, a_prefetcher_streams_the_next_lines_a_cycle_apart) {
  instruction_cache first({"streamed"}, {1024, 128, 2, 30, 3});
  EXPECT_EQ(first.look_up(0, 0, 0), 30u);
  EXPECT_EQ(first.prefetches, 3u);
  EXPECT_EQ(first.look_up(128, 5, 0), 31u);
  EXPECT_EQ(first.look_up(256, 40, 0), 40u);
  EXPECT_EQ(first.look_up(384, 41, 0), 41u);
  EXPECT_EQ(first.misses, 1u);
}

// Lines of 128 bytes with a miss latency of 30 cycles, instructions of 8 bytes; an instruction is in its buffer 5
// cycles after its request.
struct fetched {
  explicit fetched(unsigned entries)
      : config([&] {
          gpu_config c = load_config("gtx1080", {});
          c.sub_partition.fetch_latency_cycles = 5;
          c.sub_partition.issue_width = 1;
          c.sub_partition.instruction_buffer_entries = entries;
          c.instruction_cache.instruction_bytes = 8;
          c.instruction_cache.line_bytes = 128;
          return c;
        }()),
        cache({"cache"}, {1024, 128, 2, 30, 0}),
        unit({"fetch"}, config, cache, 2) {}
  gpu_config config;
  instruction_cache cache;
  fetch unit;
};

TEST(instruction_cache, a_change_of_direction_waits_for_the_line_and_then_for_the_fetch) {
  fetched f(8);
  f.unit.clear(1, 0);
  EXPECT_EQ(f.unit.redirect(1, 0, 3, 100), 100u + 30 + 5);
  EXPECT_EQ(f.unit.next(1, 0, 4, 120), 135u);
  EXPECT_EQ(f.unit.next(1, 0, 15, 140), 140u);
  EXPECT_EQ(f.unit.next(1, 0, 16, 200), 230u) << "the next line";
  EXPECT_EQ(f.unit.next(1, 0, 17, 210), 230u);
  EXPECT_EQ(f.unit.redirect(1, 0, 0, 300), 305u) << "a line that is here";
  EXPECT_EQ(f.unit.redirects, 2u);
}

// Two entries: the third instruction uses the first one's entry, five cycles later.
TEST(instruction_cache, an_entry_of_the_buffer_is_filled_again_after_the_fetch_latency) {
  fetched f(2);
  EXPECT_EQ(f.unit.redirect(0, 0, 0, 100), 135u);
  EXPECT_EQ(f.unit.next(0, 0, 0, 135), 135u);
  f.unit.issued(0, 135);
  EXPECT_EQ(f.unit.next(0, 0, 1, 136), 136u);
  f.unit.issued(0, 136);
  EXPECT_EQ(f.unit.next(0, 0, 2, 137), 140u);
  f.unit.issued(0, 140);
  EXPECT_EQ(f.unit.next(0, 0, 3, 141), 141u);
  f.unit.issued(0, 141);
  EXPECT_EQ(f.unit.next(0, 0, 4, 142), 145u);
  EXPECT_EQ(f.unit.redirect(0, 0, 0, 200), 205u) << "all entries are empty again";
  EXPECT_EQ(f.unit.next(0, 0, 1, 206), 206u);
}

}  // namespace instruction_cache_test
}  // namespace heddle::test
