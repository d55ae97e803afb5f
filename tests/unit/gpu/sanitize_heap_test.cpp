// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>

#include "heddle/sanitize/shadow/heap_blocks.h"

namespace heddle::sanitize {
namespace {

class sanitize_heap : public testing::Test {
 protected:
  static constexpr std::uint64_t base = 0x1000000000000;
  bool reads(std::uint64_t address, unsigned bytes) { return passes(address, bytes, true, false); }
  bool writes(std::uint64_t address, unsigned bytes) { return passes(address, bytes, false, true); }
  bool passes(std::uint64_t address, unsigned bytes, bool reads, bool writes) {
    std::array<std::uint64_t, isa::warp_size> addresses{};
    addresses[3] = address;
    return heap.passes(addresses.data(), 1u << 3, bytes, reads, writes);
  }
  heap_blocks heap;
};

TEST_F(sanitize_heap, lets_lanes_write_blocks_and_read_what_was_written) {
  heap.add(base, 32, false);
  for (const unsigned bytes : {1u, 2u, 4u, 8u, 16u}) EXPECT_FALSE(reads(base, bytes)) << bytes;
  EXPECT_TRUE(writes(base, 8));
  for (const unsigned bytes : {1u, 2u, 4u, 8u}) EXPECT_TRUE(reads(base, bytes)) << bytes;
  EXPECT_FALSE(reads(base, 16));  // the second half was not written
  EXPECT_FALSE(writes(base + 32, 4));
  EXPECT_FALSE(passes(base + 16, 4, true, true));  // an atomic
  EXPECT_TRUE(writes(base + 16, 16));
  EXPECT_TRUE(passes(base + 16, 4, true, true));
}

TEST_F(sanitize_heap, tells_of_each_lane) {
  std::array<std::uint64_t, isa::warp_size> addresses{};
  for (unsigned l = 0; l < isa::warp_size; ++l)
    heap.add(addresses[l] = base + std::uint64_t{l} * 5000 / 16 * 16, 16, false);
  EXPECT_TRUE(heap.passes(addresses.data(), simt::all_lanes, 4, false, true));
  EXPECT_TRUE(heap.passes(addresses.data(), simt::all_lanes, 4, true, false));
  addresses[17] += 4;
  EXPECT_FALSE(heap.passes(addresses.data(), simt::all_lanes, 4, true, false));
}

// Pages in the middle of a large block share one state until one of their bytes is written.
TEST_F(sanitize_heap, has_large_blocks) {
  constexpr std::uint64_t size = std::uint64_t{1} << 30;
  heap.add(base + 48, size, false);
  EXPECT_TRUE(heap.all_allocated(base + 48, size));
  EXPECT_FALSE(heap.all_allocated(base + 47, 2));
  EXPECT_FALSE(heap.any_written(base + 48, size));
  EXPECT_TRUE(writes(base + size / 2, 4));
  EXPECT_TRUE(reads(base + size / 2, 4));
  EXPECT_FALSE(reads(base + size / 2 + 4096, 4));
  EXPECT_FALSE(writes(base + 48 + size, 4));
  EXPECT_EQ(heap.bytes_at(base + 48), size);
}

TEST_F(sanitize_heap, forgets_blocks_that_are_freed) {
  heap.add(base, 64, true);
  EXPECT_FALSE(heap.tracks());
  EXPECT_TRUE(reads(base + 60, 4));
  heap.remove(base);
  EXPECT_FALSE(reads(base, 4));
  EXPECT_FALSE(writes(base, 4));
  EXPECT_EQ(heap.bytes_at(base), 0u);
  EXPECT_EQ(heap.freed().count(base), 1u);
  heap.add(base, 16, false);
  EXPECT_TRUE(heap.freed().empty());
  EXPECT_FALSE(reads(base, 4));  // given anew
  EXPECT_FALSE(writes(base + 16, 4));
}

TEST_F(sanitize_heap, writes_ranges_within_blocks_alone) {
  heap.add(base, 20, false);
  heap.write(base, 64);
  EXPECT_TRUE(heap.all_written(base, 20));
  EXPECT_FALSE(heap.all_allocated(base, 21));
}

}  // namespace
}  // namespace heddle::sanitize
