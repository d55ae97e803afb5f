// SPDX-License-Identifier: MIT
// Sectors that were stored in part, where the L2 completes them before it writes them back.
#include "l2_slice_bench.h"

namespace heddle::test {
namespace l2_parts_test {

using namespace l2_slice_bench;

class l2_parts_test : public simulation {};

TEST_F(l2_parts_test, are_read_before_they_are_written_back) {
  gpu_config c = small_config();
  c.l2.size_bytes = 2 * 128;  // one set of two ways
  c.l2.ways = 2;
  c.l2.fills_parts = true;
  bench b(c);
  b.sm.write(0, 0, std::vector<std::uint8_t>(128, 1), 1);      // a whole line
  b.sm.write(0x100, 32, std::vector<std::uint8_t>(36, 2), 2);  // a sector, and four bytes of the next
  for (unsigned i = 0; i < 2; ++i) b.sm.read(0x1000 + i * 128, 0xf, 100 + i);
  b.run(500);
  const std::vector<std::pair<std::uint64_t, unsigned>> writes = {{0, 128}, {0x120, 32}, {0x140, 4}};
  EXPECT_EQ(b.memory.writes, writes);
  const l2_counters& k = *b.slice.counters().find(0);
  EXPECT_EQ(k.fetches, 2u + 1) << "two lines, and the sector that was stored in part";
  EXPECT_EQ(k.fetch_bytes, 2u * 128 + 32);
  EXPECT_EQ(k.read_misses, 8u) << "no request asks for that sector";
  b.check_done();
}

TEST_F(l2_parts_test, that_are_whole_by_now_are_not_read) {
  gpu_config c = small_config();
  c.l2.size_bytes = 128;
  c.l2.ways = 1;
  c.l2.fills_parts = true;
  bench b(c);
  for (unsigned k = 0; k < 4; ++k) b.sm.write(0, 8 * k, std::vector<std::uint8_t>(8, 1), 1 + k);
  b.sm.read(0x1000, 0xf, 100);
  b.run(500);
  EXPECT_EQ(b.slice.counters().find(0)->fetches, 1u);
  b.check_done();
}

}  // namespace l2_parts_test
}  // namespace heddle::test
