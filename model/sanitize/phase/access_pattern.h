// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "heddle/isa/set_bits.h"
#include "heddle/simt/warp/warp_state.h"

namespace heddle::sanitize {

struct access_pattern;

/// How the bytes that the lanes of an access name lie in memory. Most accesses are of one of the first two kinds, and
/// are checked at once for all lanes.
struct access_shape {
  static constexpr unsigned parts = 4;  // that minima are found of independently
  enum class kind : std::uint8_t {
    same,  // all lanes name the same bytes
    row,   // all 32 lanes, each the bytes that follow those of the lane before
    other
  };
  kind how = kind::other;
  std::uint64_t begin = 0, end = 0;         // contain all bytes; half-open
  std::uint64_t ored = 0;                   // all addresses, or'ed: their low bits tell of alignment
  const access_pattern* pattern = nullptr;  // null: not known

  /// `mask`: not 0.
  static access_shape of(const std::uint64_t* addresses, simt::lane_mask mask, unsigned bytes) {
    access_shape s;
    const std::uint64_t first = addresses[__builtin_ctz(mask)];
    std::uint64_t from_first = 0, from_row = 0;
    if (mask == simt::all_lanes)
      for (unsigned l = 0; l < isa::warp_size; ++l) {
        s.ored |= addresses[l];
        from_first |= addresses[l] ^ first;
        from_row |= addresses[l] ^ (first + std::uint64_t{l} * bytes);
      }
    else
      for (const unsigned l : set_bits(mask)) {
        s.ored |= addresses[l];
        from_first |= addresses[l] ^ first;
        from_row = 1;
      }
    s.begin = first;
    s.end = first + bytes;
    if (from_first == 0) {
      s.how = kind::same;
    } else if (from_row == 0) {
      s.how = kind::row;
      s.end = first + std::uint64_t{isa::warp_size} * bytes;
    } else {
      std::uint64_t last = first;
      if (mask == simt::all_lanes) {
        std::uint64_t low[parts], high[parts];
        for (unsigned k = 0; k < parts; ++k) low[k] = high[k] = addresses[k];
        for (unsigned l = parts; l < isa::warp_size; l += parts)
          for (unsigned k = 0; k < parts; ++k) {
            low[k] = std::min(low[k], addresses[l + k]);
            high[k] = std::max(high[k], addresses[l + k]);
          }
        s.begin = *std::min_element(low, low + parts);
        last = *std::max_element(high, high + parts);
      } else {
        for (const unsigned l : set_bits(mask)) {
          s.begin = std::min(s.begin, addresses[l]);
          last = std::max(last, addresses[l]);
        }
      }
      s.end = last + bytes;
    }
    return s;
  }
};

/// How the bytes that the lanes of an access name lie in memory, as seen from the first lane's. Loops access memory in
/// the same pattern again and again, so that what follows from it is found once.
struct access_pattern {
  /// Words that lie side by side, each read by one lane, or each by several.
  struct run {
    std::int32_t word;           // from the first lane's
    std::uint16_t count, first;  // in `owners`
    bool several;
    std::uint8_t together;  // several lie within so many lanes side by side, an aligned power of two
  };
  static constexpr std::size_t most_runs = 12;

  access_pattern(const std::uint64_t* addresses, simt::lane_mask mask, unsigned bytes);
  /// Of an access in this pattern, whose first lane names this address.
  [[nodiscard]] access_shape at(std::uint64_t first) const {
    return {how, first + static_cast<std::uint64_t>(low), first + static_cast<std::uint64_t>(high) + bytes,
            first | ored, this};
  }
  [[nodiscard]] bool is(const std::uint64_t* addresses, simt::lane_mask of, unsigned size) const;

  simt::lane_mask mask;
  unsigned bytes;
  access_shape::kind how;
  std::array<std::int64_t, isa::warp_size> relative{};  // addresses of lanes
  std::int64_t low = 0, high = 0;                       // of `relative`
  std::uint64_t ored = 0;                               // all of `relative`, or'ed
  std::vector<run> runs;              // for words, or several of them; none: there are more than is worth it
  std::vector<std::uint16_t> owners;  // lanes, by word
  access_pattern* next = this;        // those of an instruction, one after another, and again the first

 private:
  void find_runs();
};

/// The patterns of a launch's instructions.
class access_patterns {
 public:
  void clear() {
    slots_.fill({});
    instructions_.fill({});
    all_.clear();
  }
  /// The pattern of an access by an instruction; null: it has too many, and none is kept. `mask`: not 0.
  const access_pattern* find(std::uint32_t instruction, const std::uint64_t* addresses, simt::lane_mask mask,
                             unsigned bytes);

 private:
  static constexpr std::size_t most_slots = 1024, most_patterns = 32, most_misses = 64;
  struct slot {
    access_pattern* pattern = nullptr;       // the last one
    std::uint32_t patterns = 0, misses = 0;  // made; in a row since
  };
  /// Of an instruction with any mask. To look for patterns of one that accesses memory at random would cost the host's
  /// caches more than it saves.
  struct instruction_counts {
    std::uint32_t found = 0, missed = 0;  // comparisons
    [[nodiscard]] bool is_irregular() const { return missed >= least_missed && missed / misses_for_one >= found; }
  };
  static constexpr std::size_t most_instructions = 256;
  static constexpr std::uint32_t least_missed = 1024, misses_for_one = 4;
  std::array<slot, most_slots> slots_{};  // by instruction and mask
  std::array<instruction_counts, most_instructions> instructions_{};
  std::deque<access_pattern> all_;
};

}  // namespace heddle::sanitize
