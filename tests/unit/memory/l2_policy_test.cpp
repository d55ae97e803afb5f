// SPDX-License-Identifier: MIT
// Cache policies: which lines of a slice are replaced first, and last.
#include <gtest/gtest.h>

#include <vector>

#include "heddle/isa/cache_policy.h"
#include "l2_slice_bench.h"

namespace heddle::test {
namespace l2_policy_test {

using namespace l2_slice_bench;
using isa::eviction;
namespace policy = isa::cache_policy;

std::uint32_t all(eviction e) { return policy::of_fraction(e, eviction::unchanged, 16); }

class l2_policy : public l2_slice_test {
 protected:
  struct access {
    std::uint64_t line;
    std::uint32_t policy = 0;
  };

  /// Reads the lines one after another. Returns the addresses that the memory was asked for.
  std::vector<std::uint64_t> fetched(const std::vector<access>& accesses,
                                     choice::replacement replacement = choice::replacement::lru, unsigned ways = 4) {
    TearDown();
    SetUp();  // of a simulation of its own
    gpu_config c = small_config();
    c.l2.size_bytes = ways * 128;  // one set
    c.l2.ways = ways;
    c.l2.replacement = replacement;
    bench b(c);
    cycle_t at = 1;
    for (const access& a : accesses) {
      line_payload& p = b.sm.fresh(0);
      p.make_read(a.line * 128, 0xf);
      p.request.policy = a.policy;
      b.sm.send(p, at);
      at += 200;
    }
    b.run(at + 200);
    b.check_done();
    std::vector<std::uint64_t> lines;
    for (const auto& [address, bytes] : b.memory.reads) lines.push_back(address / 128);
    return lines;
  }
};

using lines = std::vector<std::uint64_t>;

TEST_F(l2_policy, lines_to_be_evicted_first_go_before_older_ones) {
  EXPECT_EQ(fetched({{0}, {1}, {2, all(eviction::first)}, {3}, {4}, {0}, {1}, {3}, {2}}), (lines{0, 1, 2, 3, 4, 2}));
  EXPECT_EQ(fetched({{0}, {1}, {2}, {3}, {4}, {0}}), (lines{0, 1, 2, 3, 4, 0})) << "without a policy";
}

TEST_F(l2_policy, a_stream_that_is_evicted_first_leaves_the_other_lines) {
  std::vector<access> some{{0}, {1}, {2}};
  for (std::uint64_t k = 10; k < 30; ++k) some.push_back({k, all(eviction::first)});
  for (const std::uint64_t k : {0, 1, 2}) some.push_back({k});
  EXPECT_EQ(fetched(some).size(), 23u);
}

TEST_F(l2_policy, lines_to_be_evicted_last_stay_until_there_are_no_others) {
  std::vector<access> some{{0, all(eviction::last)}, {1, all(eviction::last)}};
  for (std::uint64_t k = 10; k < 30; ++k) some.push_back({k});
  some.insert(some.end(), {{0}, {1}});
  EXPECT_EQ(fetched(some).size(), 22u);
  for (std::uint64_t k = 40; k < 44; ++k) some.push_back({k, all(eviction::last)});
  some.insert(some.end(), {{0}, {1}});
  EXPECT_EQ(fetched(some).size(), 28u) << "the oldest of them";
}

TEST_F(l2_policy, an_access_with_the_normal_priority_ends_the_others) {
  EXPECT_EQ(fetched({{0, all(eviction::last)}, {0, all(eviction::normal)}, {1}, {2}, {3}, {4}, {0}}),
            (lines{0, 1, 2, 3, 4, 0}));
  EXPECT_EQ(fetched({{0, all(eviction::last)}, {0, all(eviction::unchanged)}, {0}, {1}, {2}, {3}, {4}, {0}}),
            (lines{0, 1, 2, 3, 4}));
}

TEST_F(l2_policy, other_orders_choose_within_the_same_priority) {
  for (const auto order : {choice::replacement::fifo, choice::replacement::random}) {
    std::vector<access> some{{0, all(eviction::last)}, {1}, {2}, {3, all(eviction::first)}, {4}, {1}, {2}, {0}};
    EXPECT_EQ(fetched(some, order), (lines{0, 1, 2, 3, 4}));
  }
}

// Lines with the primary priority stay, the others are evicted first.
TEST_F(l2_policy, a_fraction_of_the_lines_has_the_primary_priority) {
  for (const unsigned sixteenths : {1u, 4u, 8u, 15u}) {
    const std::uint32_t part = policy::of_fraction(eviction::last, eviction::first, sixteenths);
    constexpr unsigned count = 256;
    std::vector<access> some;
    for (std::uint64_t k = 0; k < count; ++k) some.push_back({k, part});
    for (std::uint64_t k = 1000; k < 1000 + count; ++k) some.push_back({k, all(eviction::first)});
    for (std::uint64_t k = 0; k < count; ++k) some.push_back({k, all(eviction::unchanged)});
    const std::size_t missed = fetched(some, choice::replacement::lru, count).size() - 2 * count;
    EXPECT_NEAR(static_cast<double>(count - missed) / count, sixteenths / 16.0, 0.08);
  }
}

TEST_F(l2_policy, the_blocks_of_a_range_have_the_primary_priority) {
  // Blocks of 8 KiB, of 64 lines: two of them from number 3 on.
  const std::uint32_t part = policy::evictions(policy::range, eviction::last, eviction::first) |
                             1u << policy::amount_at | 3u << policy::start_at | 2u << policy::count_at;
  std::vector<access> some;
  for (const std::uint64_t k : {191, 192, 319, 320}) some.push_back({k, part});
  for (const std::uint64_t k : {1000, 1001, 1002}) some.push_back({k});
  for (const std::uint64_t k : {192, 319, 191, 320}) some.push_back({k});
  EXPECT_EQ(fetched(some), (lines{191, 192, 319, 320, 1000, 1001, 1002, 191, 320}));
}

}  // namespace l2_policy_test
}  // namespace heddle::test
