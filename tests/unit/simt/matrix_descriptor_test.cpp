// SPDX-License-Identifier: MIT
// Addresses of the 16-byte rows of matrices in shared memory, computed by hand from the PTX ISA's canonical layouts.
#include "heddle/simt/tensor/descriptor.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace {

using heddle::simt::matrix_descriptor;

matrix_descriptor of(unsigned start, unsigned leading, unsigned stride, unsigned swizzle, unsigned base = 0) {
  return matrix_descriptor(start >> 4 | std::uint64_t{leading >> 4} << 16 | std::uint64_t{stride >> 4} << 32 |
                           std::uint64_t{base} << 49 | std::uint64_t{swizzle} << 62);
}

TEST(matrix_descriptor, without_swizzle_has_eight_rows_of_sixteen_bytes_together) {
  const matrix_descriptor d = of(4096, 256, 128, 0);
  EXPECT_EQ(d.along_k(0, 0), 4096u);
  EXPECT_EQ(d.along_k(7, 0), 4096u + 7 * 16);
  EXPECT_EQ(d.along_k(9, 1), 4096u + 128 + 16 + 256);
  EXPECT_EQ(d.across_k(9, 2), 4096u + 256 + 16 + 2 * 128) << "k by the leading offset, columns by the stride";
}

TEST(matrix_descriptor, swizzle_of_128_bytes_exchanges_rows_within_eight_lines) {
  const matrix_descriptor d = of(0, 4096, 1024, 1);
  EXPECT_EQ(d.along_k(0, 1), 16u);
  EXPECT_EQ(d.along_k(1, 0), 128u + 16);
  EXPECT_EQ(d.along_k(7, 7), 7 * 128u + 0);
  EXPECT_EQ(d.along_k(9, 1), 1024u + 128 + 0);
  EXPECT_EQ(of(32, 4096, 1024, 1).along_k(1, 0), 128u + 48) << "32 bytes along k further on";
  EXPECT_EQ(d.across_k(9, 9), 4096u + 1024 + 128 + 0);
}

TEST(matrix_descriptor, narrower_swizzles_exchange_fewer_rows) {
  const matrix_descriptor half = of(0, 4096, 512, 2), quarter = of(0, 4096, 256, 3);
  EXPECT_EQ(half.along_k(1, 0), 64u);
  EXPECT_EQ(half.along_k(2, 0), 128u + 16);
  EXPECT_EQ(half.along_k(3, 1), 192u);
  EXPECT_EQ(half.along_k(8, 3), 512u + 48);
  EXPECT_EQ(quarter.along_k(3, 1), 112u);
  EXPECT_EQ(quarter.along_k(4, 0), 128u + 16);
  EXPECT_EQ(quarter.across_k(4, 3), 4096u + 128 + 0);
}

TEST(matrix_descriptor, pattern_may_begin_at_any_128_bytes) {
  EXPECT_EQ(of(128, 0, 1024, 1, 1).along_k(0, 3), 128u + 48);
  EXPECT_EQ(of(128, 0, 1024, 1, 1).along_k(1, 3), 256u + 32);
}

}  // namespace
