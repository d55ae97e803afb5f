// SPDX-License-Identifier: MIT
#include "testbench/workloads/reference.h"

namespace heddle::workloads {

namespace {

/// Bits of a multiple of 1/16 between -2 and 2 as a half: such products, and their sums here, are exact in single
/// precision.
std::uint16_t half_of(int sixteenths) {
  if (sixteenths == 0) return 0;
  unsigned m = static_cast<unsigned>(sixteenths < 0 ? -sixteenths : sixteenths);
  unsigned exponent = 25 - 4;  // of a mantissa with its leading one in bit 10
  while (m < 1024) {
    m <<= 1;
    --exponent;
  }
  return static_cast<std::uint16_t>((sixteenths < 0 ? 0x8000u : 0u) | exponent << 10 | (m & 1023));
}

}  // namespace

void make_wmma_gemm(const folder& out) {
  constexpr std::size_t n = 128;
  random_numbers random(17);
  std::vector<int> a(n * n), b(n * n);
  std::vector<std::uint16_t> a_bits, b_bits;
  for (int& v : a) a_bits.push_back(half_of(v = static_cast<int>(random.below(65)) - 32));
  for (int& v : b) b_bits.push_back(half_of(v = static_cast<int>(random.below(65)) - 32));
  std::vector<float> c, reference;
  for (std::size_t row = 0; row < n; ++row) {
    for (std::size_t column = 0; column < n; ++column) {
      c.push_back(static_cast<float>(random.below(257)) - 128);
      int sum = 0;
      for (std::size_t k = 0; k < n; ++k) sum += a[row * n + k] * b[column * n + k];
      reference.push_back(c.back() + static_cast<float>(sum) / 256);
    }
  }
  out.write("a.bin", a_bits);
  out.write("b.bin", b_bits);
  out.write("c.bin", c);
  out.write("c.ref.bin", reference);
}

}  // namespace heddle::workloads
