// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "heddle/config/error.h"
#include "heddle/memory/l1/l1_cache.h"
#include "tests/unit/common/fresh_simulation.h"
#include "tests/unit/sm/sm_memory_bench.h"

namespace l1_traffic_test {

using namespace heddle;
using style = fake_memory::style;
constexpr std::uint64_t base = sm_memory_bench::base;

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

}  // namespace l1_traffic_test
