// SPDX-License-Identifier: MIT
// Elements of matrices with small whole numbers, whose sums every type of accumulator holds exactly.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace heddle::test::matrices {

using bytes = std::vector<std::uint8_t>;

template <class T>
std::vector<T> as(const std::string& content) {
  std::vector<T> all(content.size() / sizeof(T));
  std::memcpy(all.data(), content.data(), all.size() * sizeof(T));
  return all;
}

/// A type and the numbers tried.
struct element_type {
  const char* name;
  unsigned bytes;
  int least, most;

  [[nodiscard]] std::uint32_t encode(int v) const {
    const std::string n = name;
    const float f = static_cast<float>(v);
    std::uint32_t bits;
    std::memcpy(&bits, &f, 4);
    if (n == "tf32") return bits;
    if (n == "bf16") return bits >> 16;
    if (n == "s4" || n == "u4") return static_cast<std::uint32_t>(v) & 15;
    if (n == "s8" || n == "u8" || n == "b1") return static_cast<std::uint32_t>(v) & 0xff;
    if (v == 0) return 0;
    // Sign, exponent and mantissa of a small number in a format with less of both.
    const std::uint32_t sign = bits >> 31, exponent = (bits >> 23 & 0xff) - 127, mantissa = bits & 0x7fffff;
    if (n == "f16") return sign << 15 | (exponent + 15) << 10 | mantissa >> 13;
    if (n == "e4m3") return sign << 7 | (exponent + 7) << 3 | mantissa >> 20;
    return sign << 7 | (exponent + 15) << 2 | mantissa >> 21;  // e5m2
  }
};

constexpr element_type f16{"f16", 2, -3, 3}, bf16{"bf16", 2, -3, 3}, tf32{"tf32", 4, -3, 3}, e4m3{"e4m3", 1, -3, 3},
    e5m2{"e5m2", 1, -3, 3}, s8{"s8", 1, -128, 127}, u8{"u8", 1, 0, 255}, b1{"b1", 1, 0, 255}, s4{"s4", 1, -8, 7},
    u4{"u4", 1, 0, 15};

inline std::uint32_t random_of(std::uint32_t& seed) { return (seed = seed * 1664525u + 1013904223u) >> 8; }

/// `lines` rows of `depth` elements, and their bits.
inline std::vector<int> elements(const element_type& t, unsigned lines, unsigned depth, std::uint32_t seed,
                                 bytes& bits) {
  std::vector<int> all;
  for (unsigned i = 0; i < lines * depth; ++i) {
    const int v = t.least + static_cast<int>(random_of(seed) % static_cast<unsigned>(t.most - t.least + 1));
    const std::uint32_t e = t.encode(v);
    all.push_back(v);
    for (unsigned k = 0; k < t.bytes; ++k) bits.push_back(static_cast<std::uint8_t>(e >> (8 * k)));
  }
  return all;
}

}  // namespace heddle::test::matrices
