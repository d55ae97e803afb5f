// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

namespace heddle {

/// Element types of matrix instructions.
enum class element { f16, bf16, tf32, f32, f64, s8, u8, s32 };

inline unsigned bytes_of(element t) {
  switch (t) {
    case element::f64: return 8;
    case element::tf32:
    case element::f32:
    case element::s32: return 4;
    case element::f16:
    case element::bf16: return 2;
    default: return 1;
  }
}

inline const char* name_of(element t) {
  static constexpr const char* names[] = {"f16", "bf16", "tf32", "f32", "f64", "s8", "u8", "s32"};
  return names[static_cast<unsigned>(t)];
}

/// Bits of a small integer in a type. f16: magnitude up to 2048.
inline std::uint64_t encode(element t, int v) {
  const float f = static_cast<float>(v);
  const double d = v;
  std::uint32_t word = 0;
  std::uint64_t wide = 0;
  std::memcpy(&word, &f, sizeof word);
  std::memcpy(&wide, &d, sizeof wide);
  switch (t) {
    case element::f64: return wide;
    case element::tf32:
    case element::f32: return word;
    case element::bf16: return word >> 16;
    case element::f16:
      return v == 0 ? 0 : (word >> 16 & 0x8000) | (((word >> 23 & 0xff) - 112) << 10) | (word >> 13 & 0x3ff);
    case element::s8:
    case element::u8: return static_cast<std::uint8_t>(v);
    default: return static_cast<std::uint32_t>(v);
  }
}

inline int decode(element t, std::uint64_t bits) {
  for (int v = -3000; v <= 3000; ++v)
    if (encode(t, v) == bits || (v == 0 && bits == (t == element::f16 ? 0x8000u : 0x80000000u))) return v;
  return 1 << 30;
}

struct matrix {
  unsigned rows, columns;
  std::vector<int> values;
  matrix(unsigned r, unsigned c) : rows(r), columns(c), values(r * c, 0) {}
  int& at(unsigned r, unsigned c) { return values[r * columns + c]; }
  [[nodiscard]] int at(unsigned r, unsigned c) const { return values[r * columns + c]; }
};

/// Small numbers that differ by position, chosen so that sums of products are exact in f16.
inline matrix numbers(unsigned rows, unsigned columns, unsigned seed, int low, int high) {
  matrix m(rows, columns);
  std::uint32_t x = seed * 2654435761u + 12345;
  for (int& v : m.values) {
    x = x * 1664525u + 1013904223u;
    v = low + static_cast<int>((x >> 16) % static_cast<unsigned>(high - low + 1));
  }
  return m;
}

inline matrix product(const matrix& a, const matrix& b, const matrix& c) {
  matrix d = c;
  for (unsigned r = 0; r < a.rows; ++r)
    for (unsigned n = 0; n < b.columns; ++n)
      for (unsigned k = 0; k < a.columns; ++k) d.at(r, n) += a.at(r, k) * b.at(k, n);
  return d;
}

}  // namespace heddle
