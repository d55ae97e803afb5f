// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace heddle::simt {

/// A function of two bits, bitwise: bit 2a+b of `lut` is the result. Few operations when `lut` is a constant,
/// hence always inlined.
[[gnu::always_inline]] static inline std::uint32_t lut2(unsigned lut, std::uint32_t a, std::uint32_t b) {
  switch (lut) {
    case 0x0: return 0;
    case 0x1: return ~(a | b);
    case 0x2: return ~a & b;
    case 0x3: return ~a;
    case 0x4: return a & ~b;
    case 0x5: return ~b;
    case 0x6: return a ^ b;
    case 0x7: return ~(a & b);
    case 0x8: return a & b;
    case 0x9: return ~(a ^ b);
    case 0xa: return b;
    case 0xb: return ~a | b;
    case 0xc: return a;
    case 0xd: return a | ~b;
    case 0xe: return a | b;
    default: return 0xffffffffu;
  }
}

/// A function of three bits, bitwise: bit 4a+2b+c of `lut` is the result (PTX lop3: 0xf0, 0xcc, 0xaa are a, b, c).
[[gnu::always_inline]] static inline std::uint32_t lut3(unsigned lut, std::uint32_t a, std::uint32_t b,
                                                        std::uint32_t c) {
  const std::uint32_t when_a = lut2(lut >> 4 & 15, b, c);
  const std::uint32_t when_not_a = lut2(lut & 15, b, c);
  if ((lut >> 4 & 15) == (lut & 15)) return when_a;
  return (a & when_a) | (~a & when_not_a);
}

}  // namespace heddle::simt
