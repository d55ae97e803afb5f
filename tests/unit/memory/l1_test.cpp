// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstring>
#include <random>

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

// Random traffic with known results: each 16-byte cell belongs to one warp, whose instructions take effect in program
// order. Cells of different warps share lines and sectors.
class random_traffic {
 public:
  static constexpr unsigned warps = 8;
  static constexpr unsigned cells = 256;             // per warp
  static constexpr unsigned read_only_bytes = 4096;  // after the cells

  random_traffic(sm_memory_bench& bench, unsigned operations, std::uint64_t seed) : bench_(bench), random_(seed) {
    image_.resize(warps * cells * 16 + read_only_bytes);
    for (std::size_t k = 0; k < image_.size(); ++k)
      image_[k] = bench.memory.byte(base + k) = static_cast<std::uint8_t>(random_());
    cycle_t at = 10;
    for (unsigned n = 0; n < operations; ++n) {
      const unsigned warp = static_cast<unsigned>(random_() % warps);
      at += random_() % 12;
      bench.partitions.issue(make(warp), at);
    }
  }
  void expect_results() {
    for (const auto& e : expected_) EXPECT_EQ(e.transaction->words[e.word][e.lane] & e.mask, e.value);
    for (std::size_t k = 0; k < image_.size(); ++k) ASSERT_EQ(bench_.memory.byte(base + k), image_[k]) << "byte " << k;
  }

 private:
  struct expectation {
    lsu_transaction* transaction;
    unsigned word, lane;
    std::uint32_t mask, value;
  };
  std::uint64_t address(unsigned warp, unsigned bytes, bool read_only, unsigned spread) {
    if (read_only) return warps * cells * 16 + random_() % std::min(read_only_bytes, spread * 16) / bytes * bytes;
    const std::uint64_t cell = random_() % spread * warps + warp;
    return cell * 16 + random_() % 16 / bytes * bytes;
  }
  lsu_transaction& make(unsigned warp) {
    const unsigned choice = static_cast<unsigned>(random_() % 16);
    const lsu_kind kind = choice < 9    ? lsu_kind::load
                          : choice < 14 ? lsu_kind::store
                          : choice < 15 ? lsu_kind::atomic
                                        : lsu_kind::reduction;
    const bool atomic = kind == lsu_kind::atomic || kind == lsu_kind::reduction;
    const unsigned bytes = atomic ? 4 : 1u << random_() % 5;
    lsu_transaction& t = bench_.make(kind, warp % 4, bytes);
    t.warp = warp;
    t.global_mask = random_() % 3 == 0 ? 0xffffffffu : static_cast<std::uint32_t>(random_());
    if (random_() % 4 == 0) t.global_mask &= 0xff;
    if (t.global_mask == 0) t.global_mask = 1;
    t.read_only = kind == lsu_kind::load && random_() % 4 == 0;
    t.bypass_l1 = !t.read_only && random_() % 5 == 0;
    t.local = random_() % 3 == 0;
    const unsigned spread = random_() % 2 == 0 ? 8 : cells;
    for (unsigned lane = 0; lane < 32; ++lane) {
      if (!(t.global_mask >> lane & 1)) continue;
      const std::uint64_t a = address(warp, bytes, t.read_only, spread);
      t.own_addresses[lane] = base + a;
      perform(t, lane, a);
    }
    return t;
  }
  void perform(lsu_transaction& t, unsigned lane, std::uint64_t a) {
    const unsigned bytes = t.bytes_per_lane;
    const unsigned words = (bytes + 3) / 4;
    const std::uint32_t mask = bytes >= 4 ? ~0u : (1u << 8 * bytes) - 1;
    if (t.kind == lsu_kind::load || t.kind == lsu_kind::atomic)
      for (unsigned k = 0; k < words; ++k) {
        std::uint32_t v = 0;
        std::memcpy(&v, &image_[a + 4 * k], std::min(bytes, 4u));
        expected_.push_back({&t, k, lane, ~0u, v});
      }
    if (t.kind == lsu_kind::load) return;
    for (unsigned k = 0; k < words; ++k) t.words[k][lane] = static_cast<std::uint32_t>(random_());
    if (t.kind == lsu_kind::store) {
      for (unsigned k = 0; k < words; ++k) {
        const std::uint32_t v = t.words[k][lane] & mask;
        std::memcpy(&image_[a + 4 * k], &v, std::min(bytes, 4u));
      }
      return;
    }
    std::uint32_t v = 0;
    std::memcpy(&v, &image_[a], 4);
    v += t.words[0][lane];
    std::memcpy(&image_[a], &v, 4);
  }

  sm_memory_bench& bench_;
  std::mt19937_64 random_;
  std::vector<std::uint8_t> image_;
  std::vector<expectation> expected_;
};

struct traffic_case {
  const char* name;
  style answer;
  unsigned size_bytes, ways, mshrs, merges, queue, sector;
  bool cached;
};

class l1_traffic_test : public fresh_simulation, public ::testing::WithParamInterface<traffic_case> {};

TEST_P(l1_traffic_test, every_byte_is_right) {
  const traffic_case& c = GetParam();
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    restart();
    gpu_config config;
    config.l1.cache_global_loads = c.cached;
    config.l1.size_bytes = c.size_bytes;
    config.l1.ways = c.ways;
    config.l1.mshr_entries = c.mshrs;
    config.l1.mshr_merges = c.merges;
    config.l1.miss_queue_entries = c.queue;
    config.l1.sector_bytes = c.sector;
    config.l1.store_hit = seed == 2 ? choice::store_hit::invalidate : choice::store_hit::update;
    config.l1.replacement = seed == 3 ? choice::replacement::random : choice::replacement::lru;
    config.tlb.entries = seed == 1 ? 0 : 3;
    config.tlb.page_bytes = 512;
    config.tlb.miss_latency_cycles = 70;
    sm_memory_bench b(config);
    b.memory.answer = c.answer;
    b.memory.jitter = 200;
    b.memory.end_req_delay = 20;
    b.memory.response_delay = seed == 1 ? 0 : 30;
    random_traffic traffic(b, 400, seed);
    b.run();
    traffic.expect_results();
    const l1_counters& n = *b.l1.counters.find(0);
    EXPECT_EQ(n.read_requests, b.memory.reads);
    EXPECT_EQ(n.write_requests, b.memory.writes);
    EXPECT_EQ(n.atomics, b.memory.atomics);
    EXPECT_EQ(n.fills * 32, b.memory.read_bytes);
    const lsu_counters& m = *b.lsu.counters.find(0);
    EXPECT_EQ(m.global_load.transactions + m.local_load.transactions, n.reads);
    EXPECT_EQ(m.global_store.transactions + m.local_store.transactions, n.writes);
  }
}

INSTANTIATE_TEST_SUITE_P(
    all, l1_traffic_test,
    ::testing::Values(traffic_case{"end_req_by_return", style::end_req_by_return, 4096, 4, 16, 8, 8, 32, true},
                      traffic_case{"end_req_by_call", style::end_req_by_call, 4096, 4, 16, 8, 8, 32, true},
                      traffic_case{"end_req_implied", style::end_req_implied, 4096, 4, 16, 8, 8, 32, true},
                      traffic_case{"response_by_return", style::response_by_return, 4096, 4, 16, 8, 8, 32, true},
                      traffic_case{"completed", style::completed, 4096, 4, 16, 8, 8, 32, true},
                      traffic_case{"any", style::any, 4096, 4, 16, 8, 8, 32, true},
                      traffic_case{"one_of_each", style::any, 128, 1, 1, 0, 1, 32, true},
                      traffic_case{"nothing_fits", style::any, 0, 1, 4, 1, 2, 32, true},
                      traffic_case{"odd_sets", style::any, 768, 2, 3, 1, 3, 32, true},
                      traffic_case{"whole_lines", style::any, 2048, 2, 8, 2, 4, 128, true},
                      traffic_case{"half_lines", style::any, 2048, 2, 8, 2, 4, 64, true},
                      traffic_case{"everything_fits", style::any, 65536, 8, 64, 8, 16, 32, true},
                      traffic_case{"as_on_pascal", style::any, 24576, 48, 256, 8, 16, 32, false}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(l1_test, loads_of_a_line_on_its_way_merge) {
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
  EXPECT_GE(c.refusals, 1u);
}

TEST_F(l1_test, a_store_overtakes_no_fill_and_no_fill_undoes_a_store) {
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

TEST_F(l1_test, invalidate_forgets_lines_and_fills_on_their_way) {
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
  EXPECT_THROW(b.l1.resize(128), internal_error) << "a request is on its way";
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
