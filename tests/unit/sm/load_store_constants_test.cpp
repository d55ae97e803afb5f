// SPDX-License-Identifier: MIT
#include "heddle/sm/load_store_unit.h"

#include <gtest/gtest.h>

#include "heddle/config/error.h"
#include "sm_memory_bench.h"
#include "tests/unit/common/fresh_simulation.h"

namespace load_store_constants_test {

using namespace heddle;
using load_store_unit_test = fresh_simulation;

TEST_F(load_store_unit_test, constant_loads_hit_miss_and_are_serialised) {
  sm_memory_bench b;
  const auto load = [&](std::uint64_t offset, std::uint64_t stride, cycle_t at) -> lsu_transaction& {
    lsu_transaction& t = b.strided(lsu_kind::constant_load, offset, stride);
    std::swap(t.constant_mask, t.global_mask);
    b.partitions.issue(t, at);
    return t;
  };
  lsu_transaction& miss = load(64, 0, 10);
  lsu_transaction& late = load(68, 0, 30);
  lsu_transaction& hit = load(64, 0, 200);
  lsu_transaction& spread = load(64, 2, 400);
  b.run();
  EXPECT_EQ(b.latency(miss), 87u);
  EXPECT_EQ(b.latency(late), 67u) << "the line comes when it comes";
  EXPECT_EQ(b.latency(hit), 25u);
  EXPECT_EQ(b.latency(spread), 25u + 31);
  const constant_cache_counters& c = *b.constants.counters.find(0);
  EXPECT_EQ(c.requests, 4u);
  EXPECT_EQ(c.misses, 1u);
  EXPECT_EQ(c.pending_hits, 1u);
  EXPECT_EQ(c.hits, 33u);
}

// Constants at 32 addresses occupy only the constant cache, for 32 cycles.
TEST_F(load_store_unit_test, shared_memory_does_not_wait_for_constants) {
  sm_memory_bench b;
  lsu_transaction& warm = b.strided(lsu_kind::constant_load, 64, 0);
  lsu_transaction& spread = b.strided(lsu_kind::constant_load, 64, 2);
  lsu_transaction& next = b.strided(lsu_kind::constant_load, 64, 0, 3);
  for (lsu_transaction* t : {&warm, &spread, &next}) std::swap(t->constant_mask, t->global_mask);
  b.partitions.issue(warm, 10);
  b.partitions.issue(spread, 200);
  std::vector<lsu_transaction*> shared;
  for (unsigned p = 1; p < 3; ++p) shared.push_back(&b.on_shared(lsu_kind::load, 4, p));
  shared.push_back(&b.on_shared(lsu_kind::load, 4, 1));
  for (lsu_transaction* t : shared) b.partitions.issue(*t, 201);
  b.partitions.issue(next, 202);
  b.run();
  EXPECT_EQ(b.latency(spread), 25u + 31);
  EXPECT_EQ(b.partitions.answers[shared[0]].cycle, 201u + 23);
  EXPECT_EQ(b.partitions.answers[shared[1]].cycle, 201u + 24);
  EXPECT_EQ(b.partitions.answers[shared[2]].cycle, 201u + 27);
  EXPECT_GT(b.latency(next), 50u);
}

// Two sets of two lines: every second line is in the same set.
TEST_F(load_store_unit_test, constant_lines_compete_within_their_set) {
  gpu_config config;
  config.constant_cache.size_bytes = 4 * 64;
  config.constant_cache.ways = 2;
  constant_cache cache("constants", config);
  unsigned cycle = 0;
  for (const std::uint64_t offset : {0, 128, 256, 64}) cache.look_up(0, 0, offset, cycle += 200);
  EXPECT_EQ(cache.counters[0].misses, 4u);
  EXPECT_EQ(cache.look_up(0, 0, 64, cycle += 200), 25u - 4);
  EXPECT_EQ(cache.look_up(0, 0, 128, cycle += 200), 25u - 4);
  EXPECT_EQ(cache.look_up(0, 0, 0, cycle += 200), 87u - 4) << "it made room for the third line of its set";
}

// One set of two lines.
TEST_F(load_store_unit_test, the_least_recently_used_constant_line_is_evicted) {
  gpu_config config;
  config.constant_cache.size_bytes = 2 * 64;
  config.constant_cache.ways = 2;
  constant_cache cache("constants", config);
  unsigned cycle = 0;
  std::vector<std::uint64_t> missed;
  for (const std::uint64_t offset : {0, 64, 4, 128, 8, 68}) {
    const auto before = cache.counters[0].misses;
    cache.look_up(0, 0, offset, cycle += 200);
    if (cache.counters[0].misses != before) missed.push_back(offset);
  }
  EXPECT_EQ(missed, (std::vector<std::uint64_t>{0, 64, 128, 68}));
}

}  // namespace load_store_constants_test
