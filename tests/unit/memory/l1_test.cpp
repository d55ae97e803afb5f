// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "heddle/config/error.h"
#include "heddle/memory/l1/l1_cache.h"
#include "tests/unit/common/fresh_simulation.h"
#include "tests/unit/sm/sm_memory_bench.h"

namespace l1_test {

using namespace heddle;
using l1_test = fresh_simulation;
using style = fake_memory::style;
constexpr std::uint64_t base = sm_memory_bench::base;

gpu_config caching_everything() {
  gpu_config config;
  config.l1.cache_global_loads = true;
  config.l1.store_hit = choice::store_hit::update;
  return config;
}

TEST_F(l1_test, loads_of_a_line_in_flight_merge) {
  gpu_config config = caching_everything();
  config.l1.mshr_merges = 2;
  config.l1.banks = 4;
  sm_memory_bench b(config);
  std::vector<lsu_transaction*> all;
  for (unsigned k = 0; k < 4; ++k) {
    all.push_back(&b.strided(lsu_kind::load, base, 4, k));
    b.partitions.issue(*all.back(), 10 + k);
  }
  b.run();
  EXPECT_EQ(b.memory.reads, 1u);
  for (unsigned k = 0; k < 3; ++k) EXPECT_EQ(b.partitions.answers[all[k]].cycle, 115u);
  EXPECT_EQ(b.partitions.answers[all[3]].cycle, 115u + 78)
      << "no place to merge; looked up again when the line is there";
  const l1_counters& c = *b.l1.counters.find(0);
  EXPECT_EQ(c.misses, 4u);
  EXPECT_EQ(c.pending_hits, 8u);
  EXPECT_EQ(c.hits, 4u);
  EXPECT_GE(c.nacks, 1u);
}

TEST_F(l1_test, a_store_overtakes_no_fill_and_no_fill_overwrites_a_store) {
  sm_memory_bench b(caching_everything());
  b.memory.put<std::uint32_t>(base, 1);
  lsu_transaction& before = b.strided(lsu_kind::load, base, 0);
  lsu_transaction& store = b.strided(lsu_kind::store, base, 0);
  lsu_transaction& between = b.strided(lsu_kind::load, base, 0);
  lsu_transaction& after = b.strided(lsu_kind::load, base, 0);
  for (auto& w : store.words[0]) w = 2;
  b.partitions.issue(before, 10);
  b.partitions.issue(store, 11);
  b.partitions.issue(between, 12);
  b.partitions.issue(after, 600);
  b.run();
  EXPECT_EQ(before.words[0][0], 1u);
  EXPECT_EQ(between.words[0][0], 2u);
  EXPECT_EQ(after.words[0][0], 2u);
  EXPECT_EQ(b.memory.get<std::uint32_t>(base), 2u);
  EXPECT_EQ(b.memory.reads, 3u) << "the stale sector is not kept";
}

TEST_F(l1_test, hit_sectors_are_read_at_the_look_up) {
  sm_memory_bench b(caching_everything());
  b.memory.put<std::uint32_t>(base, 1);
  lsu_transaction& warm = b.strided(lsu_kind::load, base, 0);
  lsu_transaction& both = b.strided(lsu_kind::load, base, 4);  // sector 0 is present, the others are not
  lsu_transaction& store = b.strided(lsu_kind::store, base, 0);
  for (auto& w : store.words[0]) w = 2;
  b.partitions.issue(warm, 10);
  b.partitions.issue(both, 300);
  b.partitions.issue(store, 301);
  b.run();
  EXPECT_EQ(both.words[0][0], 1u) << "the later store of the same warp must not be seen";
  EXPECT_EQ(b.latency(both), 105u);
  EXPECT_EQ(b.memory.read_bytes, 128u);
  EXPECT_EQ(b.l1.counters.find(0)->hits, 2u) << "one of the load, one of the store";
  EXPECT_EQ(b.l1.counters.find(0)->evictions, 0u) << "the line was there";
}

TEST_F(l1_test, a_store_may_drop_the_sector) {
  gpu_config config = caching_everything();
  config.l1.store_hit = choice::store_hit::invalidate;
  sm_memory_bench b(config);
  lsu_transaction& warm = b.strided(lsu_kind::load, base, 4);
  lsu_transaction& store = b.strided(lsu_kind::store, base, 1);  // sector 0
  for (auto& w : store.words[0]) w = 7;
  store.bytes_per_lane = 1;
  lsu_transaction& after = b.strided(lsu_kind::load, base, 4);
  b.partitions.issue(warm, 10);
  b.partitions.issue(store, 300);
  b.partitions.issue(after, 301);
  b.run();
  EXPECT_EQ(after.words[0][0], 0x07070707u);
  const l1_counters& c = *b.l1.counters.find(0);
  EXPECT_EQ(c.write_hits, 0u);
  EXPECT_EQ(c.hits, 3u) << "the other sectors stay";
  EXPECT_EQ(b.memory.read_bytes, 160u);
}

TEST_F(l1_test, whole_lines_are_filled_where_the_chip_does_so_but_not_fetched_past_the_cache) {
  gpu_config config = caching_everything();
  config.l1.sector_bytes = 128;
  sm_memory_bench b(config);
  b.partitions.issue(b.strided(lsu_kind::load, base, 0), 10);
  lsu_transaction& around = b.strided(lsu_kind::load, base + 128, 0);
  around.bypass_l1 = true;
  b.partitions.issue(around, 300);
  b.run();
  EXPECT_EQ(b.memory.read_bytes, 128u + 32u);
}

TEST_F(l1_test, a_missing_translation_delays_its_access_and_no_other) {
  gpu_config config;
  config.tlb.entries = 1;
  config.tlb.page_bytes = 4096;
  config.tlb.miss_latency_cycles = 500;
  sm_memory_bench b(config);
  lsu_transaction& first = b.strided(lsu_kind::load, base, 4);  // loads the translation of the page
  lsu_transaction& again = b.strided(lsu_kind::load, base, 4);
  lsu_transaction& other = b.strided(lsu_kind::load, base + 4096, 4);  // another page
  other.warp = 5;
  b.partitions.issue(first, 10);
  b.partitions.issue(again, 1000);
  b.partitions.issue(other, 2000);
  b.run();
  EXPECT_EQ(b.latency(first), b.latency(again) + 500);
  EXPECT_EQ(b.latency(other), b.latency(first));
  const tlb_counters& c = *b.lsu.tlb.counters.find(0);
  EXPECT_EQ(c.accesses, 3u);
  EXPECT_EQ(c.misses, 2u);
}

TEST_F(l1_test, an_atomic_drops_the_sector) {
  sm_memory_bench b(caching_everything());
  b.memory.put<std::uint32_t>(base, 5);
  lsu_transaction& warm = b.strided(lsu_kind::load, base, 4);
  lsu_transaction& atomic = b.strided(lsu_kind::reduction, base, 0);
  for (auto& w : atomic.words[0]) w = 1;
  lsu_transaction& after = b.strided(lsu_kind::load, base, 4);
  b.partitions.issue(warm, 10);
  b.partitions.issue(atomic, 300);
  b.partitions.issue(after, 301);
  b.run();
  EXPECT_EQ(after.words[0][0], 37u);
  EXPECT_EQ(b.l1.counters.find(0)->hits, 3u);
}

TEST_F(l1_test, stores_that_take_a_line_are_found_by_stores_and_not_by_loads) {
  gpu_config config = caching_everything();
  config.l1.store_allocates = true;
  sm_memory_bench b(config);
  lsu_transaction* stores[3];
  for (unsigned k = 0; k < 3; ++k) {
    stores[k] = &b.strided(lsu_kind::store, base + 4 * k, 0);  // one word of sector 0
    for (auto& w : stores[k]->words[0]) w = 7 + k;
    b.partitions.issue(*stores[k], 10 + 10 * k);
  }
  lsu_transaction& load = b.strided(lsu_kind::load, base, 4);
  lsu_transaction& again = b.strided(lsu_kind::load, base, 4);
  b.partitions.issue(load, 600);
  b.partitions.issue(again, 1200);
  b.run();
  const l1_counters& c = *b.l1.counters.find(0);
  EXPECT_EQ(c.write_hits, 2u) << "all stores but the first";
  EXPECT_EQ(c.misses, 1u + 4) << "of the first store and of the four sectors of the first load";
  EXPECT_EQ(c.hits, 2u + 4);
  EXPECT_EQ(again.words[0][2], 9u);
}

TEST_F(l1_test, the_least_recently_used_line_is_replaced) {
  gpu_config config = caching_everything();
  config.l1.size_bytes = 256;
  config.l1.ways = 2;
  config.l1.banks = 4;
  sm_memory_bench b(config);
  const auto load = [&](unsigned line, cycle_t at) -> lsu_transaction& {
    lsu_transaction& t = b.strided(lsu_kind::load, base + 128 * line, 4);
    b.partitions.issue(t, at);
    return t;
  };
  load(0, 10);
  load(1, 200);
  lsu_transaction& keeps_zero = load(0, 400);
  load(2, 600);
  lsu_transaction& zero = load(0, 800);
  lsu_transaction& one = load(1, 1000);
  b.run();
  EXPECT_EQ(b.latency(keeps_zero), 82u);
  EXPECT_EQ(b.latency(zero), 82u);
  EXPECT_EQ(b.latency(one), 105u);
  EXPECT_EQ(b.l1.counters.find(0)->evictions, 2u);
}

TEST_F(l1_test, invalidate_drops_lines_and_fills_in_flight) {
  sm_memory_bench b(caching_everything());
  b.memory.put<std::uint32_t>(base, 1);
  lsu_transaction& here = b.strided(lsu_kind::load, base, 4);
  lsu_transaction& coming = b.strided(lsu_kind::load, base + 128, 4);
  b.partitions.issue(here, 10);
  b.partitions.issue(coming, 200);
  sc_core::sc_start(250, sc_core::SC_NS);
  b.l1.invalidate();
  b.memory.put<std::uint32_t>(base, 2);
  b.memory.put<std::uint32_t>(base + 128, 3);
  lsu_transaction& again = b.strided(lsu_kind::load, base, 4);
  lsu_transaction& merged_not = b.strided(lsu_kind::load, base + 128, 4);
  lsu_transaction& later = b.strided(lsu_kind::load, base + 128, 4);
  b.partitions.issue(merged_not, 260);
  b.partitions.issue(again, 400);
  b.partitions.issue(later, 600);
  b.run();
  EXPECT_EQ(coming.words[0][0], 0u);
  EXPECT_EQ(again.words[0][0], 2u);
  EXPECT_EQ(merged_not.words[0][0], 3u);
  EXPECT_EQ(later.words[0][0], 3u);
  EXPECT_EQ(b.memory.reads, 5u);
}

TEST_F(l1_test, size_can_change_while_idle) {
  gpu_config config = caching_everything();
  config.l1.size_bytes = 128;
  config.l1.ways = 1;
  sm_memory_bench b(config);
  for (unsigned k = 0; k < 3; ++k) b.partitions.issue(b.strided(lsu_kind::load, base + 128 * (k % 2), 4), 10 + 200 * k);
  sc_core::sc_start(650, sc_core::SC_NS);
  EXPECT_EQ(b.l1.counters.find(0)->hits, 0u);
  b.l1.resize(256);
  for (unsigned k = 0; k < 3; ++k)
    b.partitions.issue(b.strided(lsu_kind::load, base + 128 * (k % 2), 4), 700 + 200 * k);
  sc_core::sc_start(20, sc_core::SC_NS);
  sc_core::sc_start(100, sc_core::SC_NS);
  EXPECT_THROW(b.l1.resize(128), internal_error) << "a request is in flight";
  b.run();
  EXPECT_EQ(b.l1.counters.find(0)->hits, 4u);
}

TEST_F(l1_test, lines_outstanding_are_bounded_by_the_mshrs) {
  for (const bool cached : {false, true}) {
    restart();
    gpu_config config;
    config.l1.cache_global_loads = cached;
    config.l1.mshr_entries = 4;
    sm_memory_bench b(config);
    lsu_transaction& t = b.strided(lsu_kind::load, base, 128);
    b.partitions.issue(t, 10);
    b.run();
    // Eight groups of four lines; each group waits for the responses to the previous one.
    EXPECT_EQ(b.memory.begin_times.size(), 32u);
    EXPECT_GE(b.latency(t), 8u * 101);
    EXPECT_LE(b.latency(t), 8u * 105);
    EXPECT_FALSE(b.partitions.throttle.empty());
  }
}

TEST_F(l1_test, one_request_leaves_per_cycle_and_waits_for_end_req) {
  sm_memory_bench b;
  b.partitions.issue(b.strided(lsu_kind::store, base, 128), 10);
  b.run();
  ASSERT_EQ(b.memory.begin_times.size(), 32u);
  for (unsigned k = 0; k < 32; ++k) EXPECT_EQ(b.memory.begin_times[k], sc_core::sc_time(14 + k, sc_core::SC_NS));
  restart();
  sm_memory_bench slow;
  slow.memory.answer = style::end_req_by_call;
  slow.memory.end_req_delay = 0;  // one cycle
  slow.partitions.issue(slow.strided(lsu_kind::store, base, 128), 10);
  slow.run();
  ASSERT_EQ(slow.memory.begin_times.size(), 32u);
  // END_REQ at edge t + 1 is seen at t + 2.
  for (unsigned k = 0; k < 32; ++k) EXPECT_EQ(slow.memory.begin_times[k], sc_core::sc_time(14 + 2 * k, sc_core::SC_NS));
}

TEST_F(l1_test, an_annotated_delay_is_waited_for) {
  sm_memory_bench b;
  b.memory.answer = style::completed;
  b.memory.latency = 50;
  lsu_transaction& t = b.strided(lsu_kind::load, base, 4);
  b.partitions.issue(t, 10);
  b.run();
  EXPECT_EQ(b.latency(t), 4u + 50 + 1);
}

TEST_F(l1_test, a_status_that_was_never_set_is_reported_once) {
  static unsigned warnings;
  warnings = 0;
  sc_core::sc_report_handler::set_handler([](const sc_core::sc_report& r, const sc_core::sc_actions&) {
    if (r.get_severity() == sc_core::SC_WARNING) ++warnings;
    else sc_core::sc_report_handler::default_handler(r, sc_core::SC_THROW);
  });
  sm_memory_bench b;
  b.memory.status = tlm::TLM_INCOMPLETE_RESPONSE;
  b.memory.put<std::uint32_t>(base, 9);
  lsu_transaction& t = b.strided(lsu_kind::load, base, 128);
  b.partitions.issue(t, 10);
  b.run();
  sc_core::sc_report_handler::set_handler(sc_core::sc_report_handler::default_handler);
  EXPECT_EQ(warnings, 1u);
  EXPECT_FALSE(b.partitions.answers[&t].fault);
  EXPECT_EQ(t.words[0][0], 9u);
}

TEST_F(l1_test, refuses_geometry_that_it_cannot_model) {
  gpu_config config;
  config.l1.line_bytes = 64;
  EXPECT_THROW(sm_memory_bench b(config), input_error);
  restart();
  config.l1.line_bytes = 128;
  config.l1.sector_bytes = 16;
  EXPECT_THROW(sm_memory_bench b(config), input_error);
  restart();
  config.l1.sector_bytes = 32;
  config.l1.banks = 3;
  EXPECT_THROW(sm_memory_bench b(config), input_error);
}

}  // namespace l1_test
