// SPDX-License-Identifier: MIT
// Memory of the host that the GPU accesses in place.
#include <gtest/gtest.h>

#include <vector>

#include "heddle/functional/functional_memory.h"
#include "heddle/memory/common/host_regions.h"
#include "heddle/memory/l2/shared_cell.h"

namespace host_regions_test {

using heddle::functional_memory;
using heddle::host_regions;

constexpr std::uint64_t unit = host_regions::unit, first = 16 * unit, second = 40 * unit;

TEST(host_regions, are_found_by_their_addresses) {
  std::vector<std::uint8_t> a(2 * unit), b(unit);
  host_regions r;
  EXPECT_TRUE(r.empty());
  EXPECT_EQ(nullptr, r.find(0));
  r.add(second, unit, b.data());
  r.add(first, 2 * unit, a.data());
  EXPECT_EQ(a.data(), r.find(first));
  EXPECT_EQ(a.data() + unit + 5, r.find(first + unit + 5));
  EXPECT_EQ(b.data() + unit - 1, r.find(second + unit - 1));
  for (const std::uint64_t other :
       {std::uint64_t{0}, first - 1, first + 2 * unit, second - 1, second + unit, ~std::uint64_t{0}})
    EXPECT_EQ(nullptr, r.find(other)) << other;
  r.remove(first);
  EXPECT_EQ(nullptr, r.find(first));
  EXPECT_EQ(b.data(), r.find(second));
  r.remove(second);
  EXPECT_TRUE(r.empty());
}

TEST(host_regions, are_not_copied_by_functional_execution) {
  std::vector<std::uint8_t> own(unit, 7);
  host_regions r;
  r.add(first, unit, own.data());
  unsigned reads = 0, writes = 0;
  functional_memory m([&](bool write, std::uint64_t, std::uint8_t*, unsigned bytes) {
    ++(write ? writes : reads);
    return bytes;
  });
  m.access_in_place(r);
  functional_memory::view v(m);
  EXPECT_EQ(7, *v.readable(first + 9));
  own[9] = 8;
  EXPECT_EQ(8, *v.readable(first + 9));
  *v.writable(first + 10) = 3;
  EXPECT_EQ(3, own[10]);
  EXPECT_EQ(0u, reads);
  *v.writable(first - 1) = 1;
  EXPECT_EQ(1u, reads);
  std::uint8_t bytes[2] = {};
  EXPECT_EQ(2u, m.exchange(false, first + 9, bytes, 2));
  EXPECT_EQ(8, bytes[0]);
  EXPECT_EQ(3, bytes[1]);
  m.close();
  EXPECT_EQ(1u, writes) << "the other page alone";
}

TEST(host_regions, have_cells_that_change_whole) {
  alignas(8) std::uint8_t cell[16] = {1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff};
  const auto more = [](std::uint64_t old) { return old + 1; };
  for (const bool shared : {false, true}) {
    EXPECT_EQ(shared ? 2u : 1u, heddle::change_cell(cell, 4, shared, more));
    EXPECT_EQ(0xff, cell[4]);
  }
  EXPECT_EQ(0xffffffff00000003u, heddle::change_cell(cell, 8, true, more));
  EXPECT_EQ(4u, heddle::change_cell(cell, 2, true, more));
  EXPECT_EQ(0u, heddle::change_cell(cell + 9, 4, true, more)) << "not aligned";
  EXPECT_EQ(1, cell[9]);
}

}  // namespace host_regions_test
