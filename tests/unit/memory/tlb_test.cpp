// SPDX-License-Identifier: MIT
#include "heddle/memory/common/tlb.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "heddle/config/error.h"
#include "heddle/memory/l2/line_store.h"

namespace heddle {
namespace tlb_test {

gpu_config with(unsigned entries, unsigned page) {
  gpu_config c;
  c.tlb.entries = entries;
  c.tlb.page_bytes = page;
  c.tlb.miss_latency_cycles = 100;
  return c;
}

TEST(tlb, is_off_without_entries) { EXPECT_FALSE(tlb(with(0, 4096)).enabled()); }

TEST(tlb, a_page_misses_once_and_then_hits) {
  tlb t(with(2, 4096));
  EXPECT_EQ(t.look_up(0x1000, 0, 10), 110u);
  EXPECT_EQ(t.look_up(0x1fff, 0, 50), 110u);  // pending
  EXPECT_EQ(t.look_up(0x1800, 0, 110), 110u);
  EXPECT_EQ(t.look_up(0x2000, 0, 111), 211u);
  const tlb_counters c = t.counters.at(0);
  EXPECT_EQ(c.accesses, 4u);
  EXPECT_EQ(c.misses, 2u);
  EXPECT_EQ(c.pending_hits, 1u);
  EXPECT_EQ(c.hits, 1u);
  t.check_invariants();
}

TEST(tlb, the_least_recently_used_page_is_evicted) {
  tlb t(with(2, 4096));
  t.look_up(0x1000, 0, 0);
  t.look_up(0x2000, 0, 0);
  t.look_up(0x1000, 0, 500);
  t.look_up(0x3000, 0, 500);  // replaces 0x2000
  EXPECT_EQ(t.look_up(0x1000, 0, 1000), 1000u);
  EXPECT_EQ(t.look_up(0x2000, 0, 1000), 1100u);
}

TEST(tlb, a_page_is_a_power_of_two) { EXPECT_THROW(tlb(with(2, 5000)), input_error); }

/// The lines that are evicted from a set of four, filled with 0 to 3, with line 0 used again, when 4 to 7 are
/// allocated.
std::vector<std::uint64_t> leaving(choice::replacement policy) {
  line_store s(1, 4, replacement(policy));
  for (std::uint64_t line = 0; line < 4; ++line) s.install(s.victim(line), line);
  s.touch(s.find(0));
  std::vector<std::uint64_t> left;
  for (std::uint64_t line = 4; line < 8; ++line) {
    const std::uint32_t slot = s.victim(line);
    left.push_back(s.line_of(slot));
    s.install(slot, line);
  }
  return left;
}

TEST(replacement, policies_choose_as_their_names_say) {
  EXPECT_EQ(leaving(choice::replacement::lru), (std::vector<std::uint64_t>{1, 2, 3, 0}));
  EXPECT_EQ(leaving(choice::replacement::fifo), (std::vector<std::uint64_t>{0, 1, 2, 3}));
  EXPECT_EQ(leaving(choice::replacement::random), leaving(choice::replacement::random));
}

TEST(replacement, random_takes_empty_places_first_and_then_any) {
  line_store s(1, 8, replacement(choice::replacement::random));
  for (std::uint64_t line = 0; line < 8; ++line) {
    const std::uint32_t slot = s.victim(line);
    ASSERT_FALSE(s.occupied(slot));
    s.install(slot, line);
  }
  std::set<std::uint32_t> chosen;
  s.at(3).mshr = 0;  // may not be evicted
  for (std::uint64_t line = 8; line < 300; ++line) {
    const std::uint32_t slot = s.victim(line);
    chosen.insert(slot);
    s.install(slot, line);
  }
  EXPECT_EQ(chosen, (std::set<std::uint32_t>{0, 1, 2, 4, 5, 6, 7}));
}

TEST(line_store, sets_have_storage_from_their_first_use_on) {
  constexpr unsigned sets = 40, ways = 12;
  line_store s(sets, ways, replacement(choice::replacement::lru));
  EXPECT_EQ(s.slots(), 0u);
  EXPECT_EQ(s.capacity(), sets * ways);
  // Three lines in each of the sets 39, 26, 13 and 0. They are in the first three ways, wherever their slots are.
  for (unsigned k = 0; k < 12; ++k) {
    const std::uint64_t line = 39 - k % 4 * 13 + std::uint64_t{k / 4} * sets;
    EXPECT_EQ(s.find(line), line_store::none);
    const std::uint32_t slot = s.victim(line);
    ASSERT_FALSE(s.occupied(slot));
    s.install(slot, line);
    std::fill_n(s.data(slot), line_bytes, static_cast<std::uint8_t>(line));
  }
  EXPECT_LT(s.slots(), s.capacity());
  unsigned found = 0;
  for (std::uint32_t way = 0; way < s.capacity(); ++way) {
    const std::uint32_t slot = s.slot_of_way(way);
    if (slot == line_store::none || !s.occupied(slot)) continue;
    const std::uint64_t line = way / ways + std::uint64_t{way % ways} * sets;
    EXPECT_EQ(s.line_of(slot), line);
    EXPECT_EQ(s.find(line), slot);
    EXPECT_EQ(s.data(slot)[line_bytes - 1], static_cast<std::uint8_t>(line));
    ++found;
  }
  EXPECT_EQ(found, 12u);
  EXPECT_EQ(s.empty_all(), 12u);
  EXPECT_EQ(s.find(39), line_store::none);
}

}  // namespace tlb_test
}  // namespace heddle
