// SPDX-License-Identifier: MIT
#include "heddle/memory/l1/coalescer.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "heddle/config/error.h"
#include "heddle/isa/set_bits.h"
#include "heddle/memory/common/address_ranges.h"
#include "heddle/memory/common/per_launch.h"

namespace coalescer_test {

using namespace heddle;

void expect_same_as_brute_force(const std::uint64_t (&addresses)[32], std::uint32_t mask, unsigned bytes) {
  struct parts {
    std::uint32_t lanes = 0, words = 0;
    unsigned sectors = 0;
  };
  std::map<std::uint64_t, parts> lines;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!(mask >> lane & 1)) continue;
    for (unsigned b = 0; b < bytes; ++b) {
      const std::uint64_t a = addresses[lane] + b;
      auto& l = lines[a / 128 * 128];
      l.lanes |= 1u << lane;
      l.words |= 1u << (a % 128 / 4);
      l.sectors |= 1u << (a % 128 / 32);
    }
  }
  coalesced_access got;
  coalesce(addresses, mask, bytes, got);
  ASSERT_EQ(got.count, lines.size());
  unsigned previous = 0;
  for (unsigned k = 0; k < got.count; ++k) {
    const auto& expected = lines.at(got.parts[k].line);
    EXPECT_EQ(got.parts[k].lanes, expected.lanes);
    EXPECT_EQ(got.parts[k].words, expected.words);
    EXPECT_EQ(unsigned{got.parts[k].sectors()}, expected.sectors);
    const unsigned first = static_cast<unsigned>(__builtin_ctz(got.parts[k].lanes));
    EXPECT_TRUE(k == 0 || first > previous) << "lines come in the order of their lowest lanes";
    previous = first;
  }
}

unsigned brute_force_passes(const std::uint64_t (&addresses)[32], std::uint32_t mask, unsigned bytes, unsigned banks,
                            unsigned bank_bytes, bool exclusive) {
  // By bank and word: lanes by cell of the word. Reads share a word, atomics only if their cells differ.
  std::map<std::uint64_t, std::map<std::uint64_t, std::map<std::uint64_t, std::size_t>>> words;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!(mask >> lane & 1)) continue;
    std::set<std::uint64_t> mine;
    for (unsigned b = 0; b < bytes; ++b) mine.insert((addresses[lane] + b) / bank_bytes);
    for (std::uint64_t w : mine) ++words[w % banks][w][addresses[lane] % bank_bytes / 4];
  }
  std::size_t worst = 0;
  for (const auto& [bank, of_bank] : words) {
    std::size_t passes = 0;
    for (const auto& [word, cells] : of_bank) {
      std::size_t most = 1;
      for (const auto& [cell, lanes] : cells) most = std::max(most, lanes);
      passes += exclusive ? most : 1;
    }
    worst = std::max(worst, passes);
  }
  return static_cast<unsigned>(worst);
}

// Rules of compute capability 1.0: the examples of NVIDIA's programming guide.
TEST(coalesce_half_warps, one_access_for_a_half_that_is_in_order_and_aligned) {
  std::uint64_t a[32];
  coalesced_access got;
  for (unsigned bytes : {4u, 8u, 16u}) {
    for (unsigned lane = 0; lane < 32; ++lane) a[lane] = 0x1000 + lane * bytes;
    coalesce_half_warps(a, 0xffffffffu, bytes, got);
    // 64, 128 or 256 bytes per half-warp: accesses of 64 or 128 bytes.
    ASSERT_EQ(got.count, bytes == 16 ? 4u : 2u);
    EXPECT_EQ(got.parts[0].lanes, bytes == 16 ? 0xffu : 0xffffu);
    EXPECT_EQ(got.parts[0].sectors(), bytes == 4 ? 0x3 : 0xf);
    EXPECT_EQ(got.parts[got.count - 1].lanes, bytes == 16 ? 0xff000000u : 0xffff0000u);
  }
  coalesce_half_warps(a, 0x80000100u, 16, got);  // lanes may be inactive
  EXPECT_EQ(got.count, 2u);
  coalesce_half_warps(a, 0, 4, got);
  EXPECT_EQ(got.count, 0u);
}

TEST(coalesce_half_warps, one_access_for_each_lane_otherwise) {
  std::uint64_t a[32];
  coalesced_access got;
  for (unsigned lane = 0; lane < 32; ++lane) a[lane] = 0x1004 + lane * 4;  // not aligned
  coalesce_half_warps(a, 0xffffffffu, 4, got);
  EXPECT_EQ(got.count, 32u);
  for (unsigned lane = 0; lane < 32; ++lane) a[lane] = 0x1000 + lane * 4;
  std::swap(a[3], a[4]);  // not in order: this half is not coalesced, the other is
  coalesce_half_warps(a, 0xffffffffu, 4, got);
  ASSERT_EQ(got.count, 17u);
  EXPECT_EQ(got.parts[3].lanes, 1u << 3);
  EXPECT_EQ(got.parts[16].lanes, 0xffff0000u);
  for (unsigned lane = 0; lane < 32; ++lane) a[lane] = 0x1000 + lane;
  coalesce_half_warps(a, 0xffffffffu, 1, got);  // byte accesses are never coalesced
  EXPECT_EQ(got.count, 32u);
  for (unsigned lane = 0; lane < 32; ++lane) a[lane] = 0x1000;
  coalesce_half_warps(a, 0xffffffffu, 4, got);
  EXPECT_EQ(got.count, 32u);
}

TEST(coalescer, agrees_with_brute_force) {
  std::mt19937_64 random(1);
  for (unsigned round = 0; round < 4000; ++round) {
    const unsigned bytes = 1u << random() % 5;
    const std::uint64_t span = std::uint64_t{1} << (4 + random() % 16);
    const std::uint32_t mask = round % 3 == 0 ? 0xffffffffu : static_cast<std::uint32_t>(random());
    const std::uint64_t base = random() % 0x100000000ull * 16;
    std::uint64_t addresses[32];
    for (unsigned lane = 0; lane < 32; ++lane)
      addresses[lane] =
          base + (round % 2 ? random() % span : std::uint64_t{lane} * (1 + round % 7) * bytes) / bytes * bytes;
    expect_same_as_brute_force(addresses, mask, bytes);
  }
}

TEST(coalescer, lanes_at_equal_distances) {
  for (std::uint64_t stride = 0; stride < 70; ++stride)
    for (std::uint64_t base = 0; base < 128; ++base) {
      std::uint64_t addresses[32];
      for (unsigned lane = 0; lane < 32; ++lane) addresses[lane] = 0x40000000 + base + lane * stride;
      expect_same_as_brute_force(addresses, 0xffffffffu, 1);
      addresses[base % 32] += 1;  // all but one
      expect_same_as_brute_force(addresses, 0xffffffffu, 1);
    }
}

TEST(coalescer, textbook_patterns) {
  std::uint64_t addresses[32];
  coalesced_access got;
  for (unsigned lane = 0; lane < 32; ++lane) addresses[lane] = 0x1000 + 4 * lane;
  coalesce(addresses, 0xffffffffu, 4, got);
  ASSERT_EQ(got.count, 1u);
  EXPECT_EQ(unsigned{got.parts[0].sectors()}, 0xfu);
  EXPECT_EQ(got.parts[0].words, 0xffffffffu);
  for (unsigned lane = 0; lane < 32; ++lane) addresses[lane] = 0x1000 + 16 * lane;
  coalesce(addresses, 0xffffffffu, 4, got);
  EXPECT_EQ(got.count, 4u);
  EXPECT_EQ(got.parts[0].words, 0x11111111u);
  for (unsigned lane = 0; lane < 32; ++lane) addresses[lane] = 0x1000 + 128 * lane;
  coalesce(addresses, 0xffffffffu, 4, got);
  EXPECT_EQ(got.count, 32u);
  EXPECT_EQ(got.missing_words(), 0u);
  for (std::uint64_t& a : addresses) a = 0x1004;  // one word for all
  coalesce(addresses, 0xffffffffu, 4, got);
  EXPECT_EQ(got.parts[0].words, 2u);
  EXPECT_EQ(got.missing_words(), 7u);
  coalesce(addresses, 0, 4, got);
  EXPECT_EQ(got.count, 0u);
}

TEST(bank_conflicts, agrees_with_brute_force) {
  std::mt19937_64 random(2);
  const unsigned shapes[][2] = {{32, 4}, {16, 4}, {32, 8}, {1, 4}, {24, 4}, {64, 16}};
  for (const auto& shape : shapes) {
    const bank_conflicts unit(shape[0], shape[1]);
    for (unsigned round = 0; round < 1500; ++round) {
      const unsigned bytes = 1u << random() % 5;
      const std::uint64_t span = std::uint64_t{1} << (4 + random() % 12);
      const std::uint32_t mask = round % 3 == 0 ? 0xffffffffu : static_cast<std::uint32_t>(random());
      const bool exclusive = random() % 4 == 0;
      std::uint64_t addresses[32];
      for (auto& a : addresses) a = random() % span / bytes * bytes;
      const unsigned passes = unit.passes(addresses, mask, bytes, exclusive);
      EXPECT_EQ(passes, brute_force_passes(addresses, mask, bytes, shape[0], shape[1], exclusive));
      std::uint64_t differing = 0;
      for (const unsigned lane : set_bits(mask)) differing |= addresses[lane] ^ addresses[__builtin_ctz(mask)];
      EXPECT_EQ(unit.passes(addresses, mask, bytes, exclusive, differing), passes);
    }
  }
}

TEST(bank_conflicts, textbook_patterns) {
  const bank_conflicts unit(32, 4);
  std::uint64_t addresses[32];
  const auto passes_of_stride = [&](unsigned words) {
    for (unsigned lane = 0; lane < 32; ++lane) addresses[lane] = 4ull * words * lane;
    return unit.passes(addresses, 0xffffffffu, 4, false);
  };
  EXPECT_EQ(passes_of_stride(0), 1u) << "broadcast";
  EXPECT_EQ(passes_of_stride(1), 1u);
  EXPECT_EQ(passes_of_stride(2), 2u);
  EXPECT_EQ(passes_of_stride(3), 1u);
  EXPECT_EQ(passes_of_stride(32), 32u);
  EXPECT_EQ(passes_of_stride(33), 1u);
  for (auto& a : addresses) a = 64;
  EXPECT_EQ(unit.passes(addresses, 0xffffffffu, 4, true), 32u) << "atomics on one word are serialised";
  for (unsigned lane = 0; lane < 32; ++lane) addresses[lane] = 4ull * lane;
  EXPECT_EQ(bank_conflicts(32, 8).passes(addresses, 0xffffffffu, 4, true), 1u) << "two words of one wide bank";
  EXPECT_EQ(unit.passes(addresses, 0, 4, false), 0u);
  for (unsigned lane = 0; lane < 32; ++lane) addresses[lane] = 16ull * lane;
  EXPECT_EQ(unit.passes(addresses, 0xffffffffu, 16, false), 4u) << "a quarter of the warp at a time";
}

TEST(bank_conflicts, refuses_impossible_banks) {
  EXPECT_THROW(bank_conflicts(0, 4), input_error);
  EXPECT_THROW(bank_conflicts(65, 4), input_error);
  EXPECT_THROW(bank_conflicts(32, 3), input_error);
}

TEST(address_ranges, finds_what_lies_inside_one_interval) {
  address_ranges ranges;
  address_ranges::hint hint;
  EXPECT_FALSE(ranges.find(0, 1, hint));
  ranges.add(0x1000, 0x100);
  ranges.add(0x3000, 0x10);
  ranges.add(0x1100, 0x100);
  EXPECT_TRUE(ranges.find(0x1000, 4, hint));
  EXPECT_TRUE(ranges.find(0x10fc, 4, hint));
  EXPECT_FALSE(ranges.find(0x10fe, 4, hint)) << "crosses into the neighbour";
  EXPECT_FALSE(ranges.find(0xfff, 1, hint));
  EXPECT_TRUE(ranges.find(0x3000, 16, hint));
  EXPECT_FALSE(ranges.find(0x3000, 17, hint));
  EXPECT_FALSE(ranges.find(~0ull, 4, hint)) << "wraps around";
  EXPECT_FALSE(ranges.find(0x3000, 0, hint));
  ASSERT_TRUE(ranges.find(0x1180, 1, hint));
  ranges.remove(0x1100);
  EXPECT_FALSE(ranges.find(0x1180, 1, hint)) << "a stale hint must not be used";
  EXPECT_THROW(ranges.remove(0x1100), internal_error);
  EXPECT_THROW(ranges.add(0x10ff, 2), internal_error);
  EXPECT_THROW(ranges.add(0xff0, 0x11), internal_error);
  EXPECT_THROW(ranges.add(0x5000, 0), internal_error);
  EXPECT_THROW(ranges.add(~0ull - 1, 10), internal_error);
  EXPECT_EQ(ranges.size(), 2u);
}

TEST(per_launch, grows_and_keeps_references) {
  struct counters {
    int n = 0;
  };
  per_launch<counters> all;
  counters& third = all[3];
  third.n = 7;
  all[1000].n = 1;
  third.n += 1;
  EXPECT_EQ(all[3].n, 8);
  EXPECT_EQ(all.find(2), nullptr);
  EXPECT_EQ(all.find(5000), nullptr);
  EXPECT_EQ(all.end(), 1001u);
}

}  // namespace coalescer_test
