// SPDX-License-Identifier: MIT
// Outputs and what was expected: tolerances, special values, the list of differences.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "testbench/job/compare.h"

namespace heddle::testbench {
namespace compare_test {

template <class T>
std::vector<std::uint8_t> bytes(std::vector<T> values) {
  std::vector<std::uint8_t> b(values.size() * sizeof(T));
  std::memcpy(b.data(), values.data(), b.size());
  return b;
}

TEST(comparing, tolerances_and_special_values) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  output o;
  o.type = element_type::f32;
  o.rtol = 0.1;
  EXPECT_EQ(
      compare(o, bytes<float>({1.0f, nan, inf, -inf, 0.0f}), bytes<float>({1.05f, -nan, inf, -inf, -0.0f})).differing,
      0u);
  EXPECT_EQ(
      compare(o, bytes<float>({1.0f, nan, inf, 1.0f, 0.0f}), bytes<float>({1.2f, 1.0f, -inf, inf, 1e-30f})).differing,
      5u);
  o.rtol = 0;
  o.atol = 0.25;
  EXPECT_EQ(compare(o, bytes<float>({1.0f, 1.0f}), bytes<float>({1.25f, 1.26f})).differing, 1u);
}

TEST(comparing, integers_are_exact_over_their_whole_range) {
  output o;
  o.type = element_type::u64;
  const std::uint64_t top = ~std::uint64_t{0};
  EXPECT_EQ(compare(o, bytes<std::uint64_t>({top, 0}), bytes<std::uint64_t>({top - 1, 0})).differing, 1u);
  o.type = element_type::s64;
  EXPECT_EQ(compare(o, bytes<std::uint64_t>({top, 5}), bytes<std::uint64_t>({top, 6})).first,
            (std::vector<std::string>{"[1] 5, expected 6"}));
  o.type = element_type::s8;
  o.atol = 1;
  EXPECT_EQ(compare(o, {0xff, 0x7f}, {0x00, 0x80}).differing, 1u);
}

TEST(comparing, halves_have_their_values) {
  EXPECT_EQ(half_value(0x3c00), 1.0);
  EXPECT_EQ(half_value(0xc000), -2.0);
  EXPECT_EQ(half_value(0x0001), 0x1p-24);
  EXPECT_EQ(half_value(0x03ff), 0x1.ff8p-15);
  EXPECT_EQ(half_value(0x7bff), 65504.0);
  EXPECT_EQ(half_value(0xfc00), -std::numeric_limits<double>::infinity());
  output o;
  o.type = element_type::f16;
  EXPECT_EQ(compare(o, bytes<std::uint16_t>({0x7e00, 0x3c00, 0x8000}), bytes<std::uint16_t>({0x7e01, 0x3c01, 0x0000}))
                .differing,
            1u);
}

TEST(comparing, the_first_five_are_listed) {
  output o;
  const comparison c = compare(o, std::vector<std::uint8_t>(9, 1), std::vector<std::uint8_t>(9, 2));
  EXPECT_EQ(c.differing, 9u);
  EXPECT_EQ(c.elements, 9u);
  ASSERT_EQ(c.first.size(), 5u);
  EXPECT_EQ(c.first[4], "[4] 1, expected 2");
}

}  // namespace compare_test
}  // namespace heddle::testbench
