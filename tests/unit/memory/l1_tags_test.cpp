// SPDX-License-Identifier: MIT
#include "heddle/memory/l1/l1_tags.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace l1_tags_test {

using namespace heddle;

// Accesses random lines of both caches, as loads do, and expects the same of both.
void expect_same(l1_tags& a, l1_tags& b, std::uint64_t seed) {
  ASSERT_EQ(a.sets(), b.sets());
  ASSERT_EQ(a.ways(), b.ways());
  std::mt19937_64 random(seed);
  for (unsigned k = 0; k < 5000; ++k) {
    const std::uint64_t address = random() % 300 * line_bytes;
    const unsigned found = a.find(address);
    ASSERT_EQ(found, b.find(address));
    if (found != l1_tags::none) {
      a.touch(found);
      b.touch(found);
      continue;
    }
    bool evicted[2];
    const unsigned index = a.allocate(address, evicted[0]);
    ASSERT_EQ(index, b.allocate(address, evicted[1]));
    ASSERT_EQ(evicted[0], evicted[1]);
    if (index == l1_tags::none) continue;
    ASSERT_EQ(a[index].valid, 0);
    a[index].valid = b[index].valid = static_cast<std::uint8_t>(random() % 16);
  }
}

constexpr choice::replacement policies[] = {choice::replacement::lru, choice::replacement::fifo,
                                            choice::replacement::random};

TEST(l1_tags_test, a_resized_cache_is_a_new_one) {
  for (const choice::replacement policy : policies) {
    l1_tags tags(16384, 4, replacement(policy));
    // Smaller, larger than ever, a number of sets that is no power of two, no lines at all.
    for (const unsigned bytes : {8192u, 32768u, 24576u, 0u, 16384u}) {
      tags.resize(bytes, 4, replacement(policy));
      l1_tags fresh(bytes, 4, replacement(policy));
      expect_same(tags, fresh, bytes);
    }
  }
}

TEST(l1_tags_test, an_invalidated_cache_is_a_new_one) {
  for (const choice::replacement policy : {choice::replacement::lru, choice::replacement::fifo})
    for (const bool pending : {false, true}) {
      l1_tags tags(16384, 4, replacement(policy));
      for (std::uint64_t round = 0; round < 3; ++round) {
        l1_tags fresh(16384, 4, replacement(policy));
        expect_same(tags, fresh, round);
        tags.invalidate(pending);
      }
    }
}

TEST(l1_tags_test, evict_the_least_recently_used_or_the_oldest_line_of_a_set) {
  for (const choice::replacement policy : {choice::replacement::lru, choice::replacement::fifo})
    for (const unsigned ways : {1u, 2u, 5u}) {
      SCOPED_TRACE(std::to_string(ways) + (policy == choice::replacement::lru ? " lru" : " fifo"));
      l1_tags tags(ways * line_bytes, ways, replacement(policy));  // one set
      std::vector<std::uint64_t> order;                            // the next victim first
      std::mt19937_64 random(ways);
      for (unsigned k = 0; k < 2000; ++k) {
        const std::uint64_t address = random() % (ways + 2) * line_bytes;
        const auto known = std::find(order.begin(), order.end(), address);
        const unsigned index = tags.find(address);
        ASSERT_EQ(known != order.end(), index != l1_tags::none);
        if (index != l1_tags::none) {
          tags.touch(index);
          if (policy == choice::replacement::lru) std::rotate(known, known + 1, order.end());
          continue;
        }
        bool evicted = false;
        tags[tags.allocate(address, evicted)].valid = 15;
        ASSERT_EQ(evicted, order.size() == ways);
        if (evicted) order.erase(order.begin());
        order.push_back(address);
      }
    }
}

TEST(l1_tags_test, lines_with_pending_fills_stay_through_an_invalidation) {
  l1_tags tags(2 * line_bytes, 2, replacement(choice::replacement::lru));
  bool evicted = false;
  const unsigned waits = tags.allocate(0, evicted);
  tags[waits].mshr = 0;
  tags[tags.allocate(line_bytes, evicted)].valid = 15;
  tags.invalidate(true);
  EXPECT_EQ(tags.find(0), waits);
  EXPECT_EQ(tags.find(line_bytes), l1_tags::none);
  EXPECT_NE(tags.allocate(2 * line_bytes, evicted), waits);
  EXPECT_FALSE(evicted);
}

TEST(l1_tags_test, find_what_was_allocated_and_not_evicted) {
  // Few sets of many ways, a number of sets that is no power of two, one way.
  for (const auto& [bytes, ways] : {std::pair{65536u, 128u}, std::pair{12288u, 32u}, std::pair{8192u, 1u}}) {
    SCOPED_TRACE(std::to_string(ways) + " ways");
    l1_tags tags(bytes, ways, replacement(choice::replacement::lru));
    std::map<std::uint64_t, unsigned> lines;  // by address: where it is
    std::mt19937_64 random(ways);
    for (unsigned k = 0; k < 6000; ++k) {
      const std::uint64_t address = random() % 2000 * line_bytes;
      const auto known = lines.find(address);
      ASSERT_EQ(known == lines.end() ? l1_tags::none : known->second, tags.find(address));
      if (known != lines.end()) {
        tags.touch(known->second);
        continue;
      }
      bool evicted = false;
      const unsigned index = tags.allocate(address, evicted);
      const auto old = std::find_if(lines.begin(), lines.end(), [&](const auto& l) { return l.second == index; });
      ASSERT_EQ(old != lines.end(), evicted);
      if (old != lines.end()) lines.erase(old);
      lines[address] = index;
      tags[index].valid = 1;
      ASSERT_LE(lines.size(), bytes / line_bytes);
      if (k % 2000 != 1999) continue;
      tags.invalidate(false);
      lines.clear();
    }
  }
}

}  // namespace l1_tags_test
