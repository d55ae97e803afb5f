// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstring>
#include <random>

#include "tests/conformance/families.h"

namespace heddle::conformance {

namespace {

using numbers = std::vector<std::uint64_t>;

const numbers& edges(unsigned bits) {
  static const numbers of_16 = {0,      1,      2,      3,      7,      0x7f,   0x80,   0xff,   0x100,  0x3ff,
                                0x400,  0x3555, 0x3c00, 0x3c01, 0xbc00, 0x7bff, 0x7c00, 0x7c01, 0x7e00, 0x7fff,
                                0x8000, 0x8001, 0x83ff, 0xfbff, 0xfc00, 0xfe00, 0xffff, 0x3800, 0x7f80, 0x3f80};
  static const numbers of_32 = {0,          1,          2,          3,          7,          31,         32,
                                33,         63,         64,         255,        256,        0x7fff,     0x8000,
                                0xffff,     0x10000,    0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0x00000005,
                                0x007fffff, 0x00800000, 0x807fffff, 0x3f800000, 0xbf800000, 0x3f000000, 0x40490fdb,
                                0x4b7fffff, 0x4effffff, 0x4f000000, 0x4f800000, 0x5f000000, 0x7f7fffff, 0xff7fffff,
                                0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xfffffff0};
  static const numbers of_64 = {0,
                                1,
                                2,
                                3,
                                31,
                                32,
                                63,
                                64,
                                65,
                                255,
                                256,
                                0x7fffffff,
                                0x80000000,
                                0xffffffff,
                                0x100000000,
                                0x7fffffffffffffff,
                                0x8000000000000000,
                                0x8000000000000001,
                                0xffffffffffffffff,
                                0xffffffff00000000,
                                0xffffffff80000000,
                                0x3ff0000000000000,
                                0xbff0000000000000,
                                0x3fe0000000000000,
                                0x400921fb54442d18,
                                0x000fffffffffffff,
                                0x0010000000000000,
                                0x7fefffffffffffff,
                                0xffefffffffffffff,
                                0x7ff0000000000000,
                                0xfff0000000000000,
                                0x7ff8000000000000,
                                0x47efffffe0000000,
                                0x36a0000000000000,
                                0x41dfffffffc00000,
                                0x43e0000000000000,
                                0x3e70000000000001,
                                0x40effc0000000000};
  return bits <= 16 ? of_16 : bits == 32 ? of_32 : of_64;
}

std::uint64_t any(std::mt19937_64& random, unsigned bits) {
  const numbers& e = edges(bits);
  std::uint64_t v = random();
  switch (random() % 6) {
    case 0: return e[random() % e.size()];
    case 1: return v >> (random() % 64);
    case 2: return ~(v >> (random() % 64));
    case 3:  // floating-point numbers of moderate size
      if (bits == 64) return (v & 0x800fffffffffffffu) | (0x3c0 + random() % 0x80) << 52;
      if (bits == 32) return (v & 0x807fffffu) | (0x70 + random() % 0x20) << 23;
      return (v & 0x83ffu) | (8 + random() % 16) << 10;
    case 4: return e[random() % e.size()] + random() % 5 - 2;
    default: return v;
  }
}

std::uint64_t between(std::mt19937_64& random, double least, double most) {
  const double u = static_cast<double>(random() >> 11) * 0x1p-53;
  auto f = static_cast<float>(least * std::pow(most / least, u));
  if (random() & 1) f = -f;
  std::uint32_t bits;
  std::memcpy(&bits, &f, sizeof bits);
  return bits;
}

}  // namespace

std::vector<std::uint64_t> rows_of(const conformance_case& c, unsigned rows) {
  std::mt19937_64 random(rows + c.operands * 7919 + c.operand_bits);
  std::vector<std::uint64_t> v(std::size_t{rows} * 4);
  const numbers& e = edges(c.operand_bits);
  const bool square_root = c.name.find("sqrt") == 0 || c.name.find("rsqrt") == 0 || c.name.find("lg2") == 0;
  for (unsigned r = 0; r < rows; ++r) {
    std::uint64_t* row = &v[std::size_t{r} * 4];
    for (unsigned k = 0; k < 4; ++k) row[k] = any(random, c.operand_bits);
    if (c.operands == 1 && r < e.size()) row[0] = e[r];
    if (c.operands == 2 && r < e.size() * e.size()) row[0] = e[r / e.size()], row[1] = e[r % e.size()];
    if (!c.range.empty()) {
      for (unsigned k = 0; k < c.operands; ++k) row[k] = between(random, c.range[0], c.range[1]);
      if (square_root) row[0] &= 0x7fffffff;
    }
    if (!c.divides) continue;
    const std::uint64_t mask = c.operand_bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << c.operand_bits) - 1;
    if ((row[1] & mask) == 0) row[1] = 1;
  }
  return v;
}

}  // namespace heddle::conformance
