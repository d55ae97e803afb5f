// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "heddle/config/parameters.h"
#include "heddle/tlm/protocol/l1_protocol.h"

namespace heddle {

/// The part of a warp's access that falls into one 128-byte line.
struct line_part {
  std::uint64_t line;   // address of the line's first byte
  std::uint32_t lanes;  // lanes whose address lies in the line
  std::uint32_t words;  // bit w: the 4-byte word w is accessed

  /// Bit s: sector s is accessed.
  [[nodiscard]] std::uint8_t sectors() const {
    std::uint32_t any = words | words >> 4;
    any |= any >> 2;
    any = (any | any >> 1) & 0x01010101;
    return static_cast<std::uint8_t>(any * 0x01020408 >> 24);
  }
};

/// A warp's access as a list of lines, in the order of each line's lowest lane.
struct coalesced_access {
  unsigned count = 0;
  std::array<line_part, 32> parts;

  /// Words by which the access falls short of a sector.
  [[nodiscard]] unsigned missing_words() const {
    unsigned words = 0;
    for (unsigned k = 0; k < count; ++k) {
      words += static_cast<unsigned>(__builtin_popcount(parts[k].words));
      if (words >= words_per_sector) return 0;
    }
    return words_per_sector - words;
  }
};

/// Splits the naturally aligned accesses of the lanes in `mask` (`bytes` each: 1, 2, 4, 8 or 16) into lines and 32-byte
/// sectors. Source: CUDA programming guide, global memory of compute capability 6.x: one transaction per 32-byte
/// sector.
void coalesce(const std::uint64_t addresses[32], std::uint32_t mask, unsigned bytes, coalesced_access& out);

/// Coalesces by the rules of compute capability 1.0 and 1.1, each half warp by itself, for lanes of `bytes` bytes. If
/// the k-th active lane of a half accesses the k-th word (4, 8 or 16 bytes) of an aligned segment of 16 words, the half
/// makes one access per line. Otherwise every lane makes its own access to the sector or sectors that it touches.
/// Source: CUDA C programming guide, global memory of compute capability 1.x.
void coalesce_half_warps(const std::uint64_t addresses[32], std::uint32_t mask, unsigned bytes, coalesced_access& out);

/// The bits in which the addresses of the lanes in `mask` (not empty) differ.
std::uint64_t differing_bits(const std::uint64_t addresses[32], std::uint32_t mask);

/// Counts the passes over the shared-memory banks that one warp instruction needs.
class bank_conflicts {
 public:
  static constexpr unsigned most = most_shared_memory_banks;
  /// Throws input_error unless there are 1 to `most` banks of 4, 8 or 16 bytes.
  bank_conflicts(unsigned banks, unsigned bank_bytes);

  /// Passes for the lanes in `mask`, each of which accesses `bytes` bytes at a naturally aligned address. The result is
  /// the largest number of different words that any bank must deliver (lanes with the same word share a pass), or 0
  /// without lanes. With `exclusive` (atomics), lanes with the same cell (4 bytes, or the 8 or 16 of a wider atomic)
  /// are also serialized. `differing`: the bits in which the addresses differ (differing_bits), or all ones if not
  /// known.
  unsigned passes(const std::uint64_t addresses[32], std::uint32_t mask, unsigned bytes, bool exclusive,
                  std::uint64_t differing = ~std::uint64_t{0}) const;

 private:
  [[nodiscard]] unsigned slow_passes(const std::uint64_t addresses[32], std::uint32_t mask, unsigned bytes,
                                     bool exclusive) const;
  [[nodiscard]] unsigned bank_of(std::uint64_t word) const {
    return static_cast<unsigned>(bank_mask_ != 0 ? word & bank_mask_ : word % banks_);
  }
  unsigned banks_;
  unsigned bank_mask_;  // 0 if the number of banks is not a power of two
  unsigned word_shift_;
  unsigned word_mask_;
};

}  // namespace heddle
