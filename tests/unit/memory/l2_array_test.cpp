// SPDX-License-Identifier: MIT
// The array of a slice, into which stores and fetches are written one sector after another.
#include "l2_slice_bench.h"

namespace heddle::test {
namespace l2_array_test {

using namespace l2_slice_bench;

class l2_array_test : public simulation {};

// With write_interval_cycles = 2 a store of four sectors occupies the array for 8 cycles. 16 sectors are buffered.
TEST_F(l2_array_test, stores_wait_for_the_array) {
  gpu_config c = small_config();
  c.l2.write_interval_cycles = 2;
  bench b(c);
  for (unsigned k = 0; k < 12; ++k) b.sm.write(k * 128, 0, std::vector<std::uint8_t>(128, 1), 1);
  b.sm.write(0, 4, {1, 2}, 300);
  b.sm.write(0, 8, {1, 2}, 300);
  b.run(1000);
  ASSERT_EQ(b.sm.records.size(), 14u);
  const cycle_t first = b.sm.records[0].answered;
  for (unsigned k = 0; k < 5; ++k) EXPECT_EQ(b.sm.records[k].answered, first + k) << "there is room in the buffer";
  for (unsigned k = 5; k < 12; ++k) EXPECT_EQ(b.sm.records[k].answered, first + 8 * (k - 4)) << k;
  EXPECT_EQ(b.sm.records[13].answered, b.sm.records[12].answered + 1) << "the array is idle again";
  b.check_done();
}

// Six lines from memory, each sector of which takes 8 cycles in the array: 192 cycles, 128 of them in the buffer. A
// store waits for the other 64, a hit does not.
TEST_F(l2_array_test, stores_wait_for_fetches_and_hits_do_not) {
  gpu_config c = small_config();
  c.l2.write_interval_cycles = 8;
  bench b(c);
  b.memory.latency = 50;
  b.sm.read(0x2000, 0xf, 1);
  for (unsigned k = 0; k < 6; ++k) b.sm.read(k * 128, 0xf, 200);
  const cycle_t then = 200 + hit_latency + 50 + 10;
  b.sm.read(0x2000, 0xf, then);
  b.sm.write(0x3000, 0, std::vector<std::uint8_t>(32, 1), then);
  b.run(1000);
  ASSERT_EQ(b.sm.records.size(), 9u);
  EXPECT_LT(b.sm.records[6].answered, then) << "all six have come";
  EXPECT_EQ(b.sm.records[7].answered, then + hit_latency);
  EXPECT_GE(b.sm.records[8].answered, b.sm.records[1].answered + 64);
  EXPECT_GT(b.sm.records[8].answered, then + hit_latency + 20);
  b.check_done();
}

}  // namespace l2_array_test
}  // namespace heddle::test
