// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstring>

#include "heddle/isa/set_bits.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/protocol/gpu_request.h"

namespace heddle {

/// One bit per byte of a 128-byte line.
class byte_mask {
 public:
  /// Bytes [first, first + count) of the line.
  static byte_mask run(unsigned first, unsigned count) {
    byte_mask m;
    for (unsigned h = 0; h < 2; ++h) {
      const unsigned begin = first > h * 64 ? first - h * 64 : 0;
      const unsigned stop = first + count > h * 64 ? first + count - h * 64 : 0;
      if (begin >= 64 || stop == 0) continue;
      const unsigned end = stop < 64 ? stop : 64;
      m.half_[h] = (end == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << end) - 1) & (~std::uint64_t{0} << begin);
    }
    return m;
  }
  /// All bytes of the sectors in a mask with one bit per sector.
  static byte_mask sectors(unsigned mask) {
    byte_mask m;
    for (unsigned s = 0; s < sectors_per_line; ++s)
      if (mask >> s & 1) m.half_[s / 2] |= std::uint64_t{0xffffffff} << (s % 2 * 32);
    return m;
  }

  byte_mask operator|(const byte_mask& o) const { return {half_[0] | o.half_[0], half_[1] | o.half_[1]}; }
  byte_mask operator&(const byte_mask& o) const { return {half_[0] & o.half_[0], half_[1] & o.half_[1]}; }
  byte_mask operator~() const { return {~half_[0], ~half_[1]}; }
  byte_mask& operator|=(const byte_mask& o) { return *this = *this | o; }
  bool operator==(const byte_mask& o) const { return half_[0] == o.half_[0] && half_[1] == o.half_[1]; }
  [[nodiscard]] bool any() const { return (half_[0] | half_[1]) != 0; }
  [[nodiscard]] bool covers(const byte_mask& o) const {
    return ((o.half_[0] & ~half_[0]) | (o.half_[1] & ~half_[1])) == 0;
  }
  [[nodiscard]] bool test(unsigned byte) const { return half_[byte / 64] >> (byte % 64) & 1; }
  void set(unsigned byte) { half_[byte / 64] |= std::uint64_t{1} << (byte % 64); }
  [[nodiscard]] unsigned count() const {
    return static_cast<unsigned>(__builtin_popcountll(half_[0]) + __builtin_popcountll(half_[1]));
  }
  /// The 32 bits of sector s.
  [[nodiscard]] std::uint32_t sector(unsigned s) const {
    return static_cast<std::uint32_t>(half_[s / 2] >> (s % 2 * 32));
  }
  /// Sectors with at least one byte, one bit per sector.
  [[nodiscard]] unsigned touched_sectors() const {
    unsigned mask = 0;
    for (unsigned s = 0; s < sectors_per_line; ++s) mask |= (sector(s) != 0 ? 1u : 0u) << s;
    return mask;
  }
  /// The eight bits of bytes 8k .. 8k+7.
  [[nodiscard]] unsigned octet(unsigned k) const { return static_cast<unsigned>(half_[k / 8] >> (k % 8 * 8)) & 0xff; }
  void or_octet(unsigned k, unsigned bits) { half_[k / 8] |= std::uint64_t{bits} << (k % 8 * 8); }

  void exchange(state_image& image) { image(half_); }

  byte_mask() = default;

 private:
  byte_mask(std::uint64_t low, std::uint64_t high) : half_{low, high} {}
  std::uint64_t half_[2] = {0, 0};
};

/// Copies the bytes of `mask` from one line image to another.
inline void copy_masked(std::uint8_t* to, const std::uint8_t* from, const byte_mask& mask) {
  for (unsigned k = 0; k < line_bytes / 8; ++k) {
    const unsigned bits = mask.octet(k);
    if (bits == 0xff) {
      std::memcpy(to + 8 * k, from + 8 * k, 8);
      continue;
    }
    if (bits == 0x0f || bits == 0xf0) {
      std::memcpy(to + 8 * k + bits / 0xf0 * 4, from + 8 * k + bits / 0xf0 * 4, 4);
      continue;
    }
    for (const unsigned b : set_bits(bits)) to[8 * k + b] = from[8 * k + b];
  }
}

}  // namespace heddle
