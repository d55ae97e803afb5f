// SPDX-License-Identifier: MIT
// Accesses without timing to an L2 slice, and the lines that a block is said to access.
#include <gtest/gtest.h>

#include "heddle/memory/common/touched_lines.h"
#include "l2_slice_bench.h"

namespace heddle::test {
namespace l2_warm_cases {

using namespace l2_slice_bench;

constexpr std::uint64_t way = 2048;  // bytes from line to line of a set

TEST_F(l2_slice_test, finds_what_untimed_accesses_have_brought) {
  bench b;
  b.debug_write(0x1000, {1, 2, 3, 4});
  EXPECT_EQ(b.slice.warm({0x1000, 0b0011, line_use::reads}), 2u);
  EXPECT_EQ(b.slice.warm({0x1000, 0b0111, line_use::reads}), 1u);
  EXPECT_EQ(b.slice.warm({0x1000, 0b1000, line_use::writes}), 0u) << "the line is there";
  EXPECT_EQ(b.slice.warm({0x2080, 0b0001, line_use::writes}), 1u);
  b.debug_write(0x1000, {5, 6, 7, 8});  // later, by the blocks themselves
  b.slice.end_warming();
  std::vector<std::uint8_t> seen;
  b.sm.on_response = [&](line_payload& p) { seen.assign(p.line_data(), p.line_data() + 4); };
  b.sm.read(0x1000, 0b0111, 100);
  b.run(300);
  ASSERT_EQ(b.sm.records.size(), 1u);
  EXPECT_EQ(b.sm.records[0].answered, 100u + hit_latency);
  EXPECT_EQ(seen, (std::vector<std::uint8_t>{5, 6, 7, 8}));
  EXPECT_TRUE(b.memory.asked.empty());
  b.check_done();
}

// What they wrote is dirty, as after stores: replaced lines are written back.
TEST_F(l2_slice_test, writes_back_what_untimed_accesses_have_written) {
  bench b;
  b.slice.warm({0, 0b0001, line_use::writes});
  b.debug_write(0, {9});
  b.slice.end_warming();
  for (unsigned k = 1; k <= 4; ++k) b.sm.read(k * way, 0xf, 1);
  b.run(500);
  EXPECT_EQ(b.memory.writes.size(), 1u);
  b.check_done();
  EXPECT_EQ(b.slice.counters().at(0).evictions, 1u);
}

// Lines that were written by timed accesses reach the memory before they are dropped.
TEST_F(l2_slice_test, keeps_bytes_whose_lines_untimed_accesses_replace) {
  bench b;
  b.sm.write(0, 4, {42}, 1);
  b.run(200);
  for (unsigned k = 1; k <= 4; ++k) b.slice.warm({k * way, 0b1111, line_use::reads});
  b.slice.end_warming();
  EXPECT_EQ(b.debug_read(4, 1), std::vector<std::uint8_t>{42});
  EXPECT_EQ(b.slice.counters().at(0).evictions, 0u);
  b.sm.read(0, 0b0001, 300);
  b.run(900);
  EXPECT_FALSE(b.memory.asked.empty()) << "it is no longer in the L2";
  b.check_done();
}

TEST_F(l2_slice_test, counts_the_lines_that_a_launch_has_touched) {
  bench b;
  b.sm.read(0, 0xf, 1);
  b.sm.read(128, 0xf, 2);
  b.run(200);
  b.slice.count_touched();
  EXPECT_EQ(b.slice.share_touched(), 0);
  b.sm.read(0, 0xf, 300);  // is there
  b.sm.read(0, 0x1, 301);
  b.sm.read(256, 0xf, 302);  // comes in
  b.run(500);
  EXPECT_DOUBLE_EQ(b.slice.share_touched(), 2.0 / 64);
}

TEST(touched_lines, are_sectors_in_the_order_of_their_accesses) {
  touched_lines t;
  std::uint64_t addresses[32];
  for (unsigned l = 0; l < 32; ++l) addresses[l] = 0x1000 + l * 8;
  t.add(addresses, ~0u, 8, line_use::reads);
  t.add(addresses, 1u, 8, line_use::reads);  // the L1 has it
  t.add(addresses, 1u << 4, 8, line_use::changes);
  t.add(0x10f0, 0x20, line_use::writes);
  const std::vector<line_touch> lines = t.take();
  ASSERT_EQ(lines.size(), 5u);
  const auto expect = [&](std::size_t k, std::uint64_t line, unsigned sectors, line_use use) {
    EXPECT_EQ(lines[k].line, line) << k;
    EXPECT_EQ(lines[k].sectors, sectors) << k;
    EXPECT_EQ(lines[k].use, use) << k;
  };
  expect(0, 0x1000, 0b1111, line_use::reads);
  expect(1, 0x1080, 0b1111, line_use::reads);
  expect(2, 0x1000, 0b0010, line_use::changes);
  expect(3, 0x1080, 0b1000, line_use::writes);
  expect(4, 0x1100, 0b0001, line_use::writes);
  t.add(addresses, 1u, 8, line_use::reads);
  EXPECT_EQ(t.take().size(), 1u) << "another block has read nothing yet";
}

}  // namespace l2_warm_cases
}  // namespace heddle::test
