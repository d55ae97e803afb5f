// SPDX-License-Identifier: MIT
// Memory of the host that the GPU accesses in place.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "heddle/functional/functional_memory.h"
#include "heddle/memory/common/host_regions.h"
#include "heddle/memory/l2/shared_cell.h"

namespace host_regions_test {

using heddle::functional_memory;
using heddle::host_regions;

constexpr std::uint64_t unit = host_regions::unit, first = 16 * unit, second = 40 * unit;

/// Refuses all accesses.
class no_memory final : public heddle::backing_memory {
 public:
  unsigned access(bool, std::uint64_t, std::uint8_t*, unsigned) override { return 0; }
};

/// Counts accesses, and moves no bytes.
class counted_memory final : public heddle::backing_memory {
 public:
  unsigned access(bool write, std::uint64_t, std::uint8_t*, unsigned bytes) override {
    ++(write ? writes : reads);
    return bytes;
  }
  unsigned reads = 0, writes = 0;
};

/// The regions themselves.
class region_memory final : public heddle::backing_memory {
 public:
  explicit region_memory(const host_regions& r) : regions_(r) {}
  unsigned access(bool write, std::uint64_t address, std::uint8_t* data, unsigned bytes) override {
    regions_.move(write, {{address, data, bytes}});
    return bytes;
  }

 private:
  const host_regions& regions_;
};

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
  counted_memory below;
  functional_memory m(below);
  m.access_in_place(r);
  functional_memory::view v(m);
  EXPECT_EQ(7, *v.readable(first + 9, 1));
  own[9] = 8;
  EXPECT_EQ(8, *v.readable(first + 9, 1));
  *v.writable(first + 10, 1) = 3;
  EXPECT_EQ(3, own[10]);
  EXPECT_EQ(0u, below.reads);
  *v.writable(first - 1, 1) = 1;
  EXPECT_EQ(1u, below.reads);
  std::uint8_t bytes[2] = {};
  EXPECT_EQ(2u, m.exchange(false, first + 9, bytes, 2));
  EXPECT_EQ(8, bytes[0]);
  EXPECT_EQ(3, bytes[1]);
  m.close();
  EXPECT_EQ(1u, below.writes) << "the other page alone";
}

/// Memory of another process from `begin` on, with the runs that were read and written.
struct other_process : heddle::distant_memory {
  explicit other_process(std::uint64_t at) : begin(at), bytes(100, 9) {}
  void read(const std::vector<run>& runs) const override {
    for (const run& r : runs) std::copy_n(bytes.begin() + (r.address - begin), r.bytes, r.here);
    reads.push_back(runs.size());
  }
  void write(const std::vector<run>& runs) const override {
    for (const run& r : runs) std::copy_n(r.here, r.bytes, bytes.begin() + (r.address - begin)), written += r.bytes;
  }
  std::uint64_t begin;
  mutable std::vector<std::uint8_t> bytes;
  mutable std::vector<std::size_t> reads;
  mutable std::size_t written = 0;
};

TEST(host_regions, may_be_any_bytes_of_other_processes) {
  const other_process a(first + 50), b(first + 200);
  host_regions r;
  EXPECT_FALSE(r.any_distant());
  r.add(a.begin, 100, a, false);
  r.add(b.begin, 100, b, true);
  r.add(second + unit - 1, 2, a, false);  // in two units
  EXPECT_TRUE(r.any_distant() && !r.empty());
  for (const std::uint64_t at : {first, first + unit - 1, second, second + 2 * unit - 1}) {
    EXPECT_TRUE(r.is_distant(at)) << at;
    EXPECT_EQ(nullptr, r.find(at));
  }
  for (const std::uint64_t at : {first - 1, first + unit, second - 1, second + 2 * unit, ~std::uint64_t{0}})
    EXPECT_FALSE(r.is_distant(at)) << at;
  EXPECT_TRUE(r.is_shared(first) && r.is_shared(first + unit - 1));
  EXPECT_FALSE(r.is_shared(second) || r.is_shared(first + unit) || r.is_shared(first - 1));
  std::vector<std::uint8_t> image(400, 1);
  r.move(false, {{first, image.data(), 400}});
  for (std::size_t k = 0; k < image.size(); ++k)
    EXPECT_EQ((k >= 50 && k < 150) || (k >= 200 && k < 300) ? 9 : 0, image[k]) << k;
  std::fill(image.begin(), image.end(), std::uint8_t{4});
  r.move(true, {{first + 140, image.data(), 70}, {first + 299, image.data(), 1}});
  EXPECT_TRUE(a.bytes[89] == 9 && a.bytes[90] == 4 && a.written == 10);
  EXPECT_TRUE(b.bytes[9] == 4 && b.bytes[10] == 9 && b.bytes[99] == 4 && b.written == 11);
  r.remove(a.begin);
  r.remove(b.begin);
  EXPECT_FALSE(r.is_distant(first + 60));
}

TEST(host_regions, of_other_processes_are_read_and_written_by_instruction) {
  const other_process there(first + 50);
  host_regions r;
  r.add(there.begin, 100, there, false);
  no_memory none;
  functional_memory m(none);
  m.access_in_place(r);
  functional_memory::view v(m);
  EXPECT_EQ(nullptr, v.at(there.begin));
  const std::uint8_t* cells[32];
  for (unsigned l = 0; l < 32; ++l) cells[l] = v.readable(there.begin + 4 * (l / 2), 4);  // two lanes each
  v.fetch();
  EXPECT_TRUE(cells[31][3] == 9 && there.reads.size() == 1) << "all lanes at once";
  there.bytes[8] = 7;
  std::uint8_t* const to = v.writable(there.begin + 8, 4);
  std::uint8_t* const same = v.writable(there.begin + 12, 4);
  ASSERT_TRUE(v.alone().owns_lock());
  v.fetch();
  EXPECT_EQ(7, to[0]);
  to[1] = 1;
  same[0] = 9;
  there.bytes[12] = 5;  // by the host, meanwhile
  v.settle();
  EXPECT_TRUE(there.bytes[9] == 1 && there.bytes[12] == 5 && there.written == 4);
  EXPECT_FALSE(v.alone().owns_lock());
}

// While no one else writes there. Only what has changed is written back.
TEST(host_regions, of_other_processes_can_be_held) {
  const other_process own(first + 50), shared(second + 50);
  host_regions r;
  r.add(own.begin, 100, own, false);
  r.add(shared.begin, 100, shared, true);
  region_memory below(r);
  functional_memory m(below);
  m.access_in_place(r);
  functional_memory::view v(m);
  {
    const functional_memory::hold held(m, true);
    ASSERT_NE(nullptr, v.at(own.begin));
    EXPECT_EQ(nullptr, v.at(shared.begin));
    *v.writable(own.begin + 8, 1) = 4;
    *v.writable(own.begin + 9, 1) = 9;
    EXPECT_EQ(4, *v.readable(own.begin + 8, 1));
    EXPECT_EQ(1u, own.reads.size());
    own.bytes[9] = 6;  // which a launch does not change
  }
  EXPECT_TRUE(own.bytes[8] == 4 && own.bytes[9] == 6 && own.written == 1);
  EXPECT_EQ(nullptr, v.at(own.begin));
  EXPECT_FALSE(m.open());
  const functional_memory::hold not_held(m, false);
  EXPECT_EQ(nullptr, v.at(own.begin));
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
