// SPDX-License-Identifier: MIT
#include "heddle/isa/set_bits.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "heddle/hash/splitmix64.h"

namespace set_bits_test {

using heddle::set_bits;

template <class Mask>
std::vector<unsigned> positions(Mask mask) {
  std::vector<unsigned> all;
  for (const unsigned bit : set_bits(mask)) all.push_back(bit);
  return all;
}

template <class Mask>
void expect_same_as_a_test_of_each_bit() {
  constexpr unsigned width = 8 * sizeof(Mask);
  heddle::splitmix64 random(width);
  for (unsigned n = 0; n < 1000; ++n) {
    const auto mask = static_cast<Mask>(random.next() & (n % 2 == 0 ? random.next() : ~std::uint64_t{0}));
    std::vector<unsigned> expected;
    for (unsigned bit = 0; bit < width; ++bit)
      if (mask >> bit & 1) expected.push_back(bit);
    ASSERT_EQ(positions(mask), expected) << "mask " << std::uint64_t{mask} << " of " << width << " bits";
  }
}

TEST(set_bits, are_found_in_masks_of_all_widths_from_the_lowest_upwards) {
  expect_same_as_a_test_of_each_bit<std::uint8_t>();
  expect_same_as_a_test_of_each_bit<std::uint16_t>();
  expect_same_as_a_test_of_each_bit<std::uint32_t>();
  expect_same_as_a_test_of_each_bit<std::uint64_t>();
}

TEST(set_bits, of_zero_are_none_and_the_highest_bit_is_found) {
  EXPECT_TRUE(positions(0u).empty());
  EXPECT_EQ(positions(std::uint8_t{0x80}), std::vector<unsigned>{7});
  EXPECT_EQ(positions(std::uint32_t{1} << 31), std::vector<unsigned>{31});
  EXPECT_EQ(positions(std::uint64_t{1} << 63), std::vector<unsigned>{63});
}

TEST(set_bits, are_taken_out_of_a_mask_one_by_one) {
  std::uint64_t mask = std::uint64_t{1} << 63 | 0b1010;
  EXPECT_EQ(heddle::first_bit(mask), 1u);
  EXPECT_EQ(heddle::without_first(mask), std::uint64_t{1} << 63 | 0b1000);
  EXPECT_EQ(heddle::take_first(mask), 1u);
  EXPECT_EQ(heddle::take_first(mask), 3u);
  EXPECT_EQ(heddle::take_first(mask), 63u);
  EXPECT_EQ(mask, 0u);
}

TEST(set_bits, are_those_of_the_mask_when_the_loop_began) {
  std::uint32_t mask = 0b1011;
  std::vector<unsigned> all;
  for (const unsigned bit : set_bits(mask)) {
    all.push_back(bit);
    mask = 0xff00;
  }
  EXPECT_EQ(all, (std::vector<unsigned>{0, 1, 3}));
}

}  // namespace set_bits_test
