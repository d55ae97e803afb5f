// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "heddle/hash/splitmix64.h"
#include "heddle/isa/cache_policy.h"
#include "heddle/memory/common/byte_mask.h"
#include "heddle/memory/common/replacement.h"
#include "heddle/memory/common/untouched_bytes.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

/// Storage of a set-associative cache of 128-byte lines: tags, bytes, a valid and a dirty bit per byte, replacement
/// order.
class line_store {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  struct state {
    byte_mask valid;
    byte_mask dirty;
    std::uint32_t mshr = none;  // MSHR of the line's outstanding miss
    std::uint32_t launch = 0;   // launch that wrote it last
  };

  line_store(unsigned sets, unsigned ways, replacement policy);
  /// Replaces the policy. Call before the first line is installed.
  void use(replacement policy) { policy_ = std::move(policy); }

  [[nodiscard]] unsigned sets() const { return sets_; }
  [[nodiscard]] unsigned ways() const { return ways_; }
  [[nodiscard]] unsigned slots() const { return sets_ * ways_; }

  /// Removes all lines, whatever their bytes; none may have an outstanding miss. Returns how many there were.
  std::uint64_t empty_all();

  /// Slot of the line with number `line` (any one-to-one numbering of lines), or none.
  [[nodiscard]] std::uint32_t find(std::uint64_t line) const {
    const std::uint32_t set = set_of(line);
    const std::uint32_t base = set * ways_;
    const mark_group wanted = mark_group{} + mark_of(line);
    for (std::uint32_t g = 0; g < groups_; ++g) {
      const auto same = marks_[set * groups_ + g] == wanted;
      std::uint64_t any[2];
      std::memcpy(any, &same, sizeof any);
      if ((any[0] | any[1]) == 0) continue;
      for (std::uint32_t w = g * group_ways; w < std::min(ways_, (g + 1) * group_ways); ++w)
        if (tags_[base + w] == line) return base + w;
    }
    return none;
  }
  /// Slot for a new line: an empty one, else the one that the policy selects among those without an outstanding miss,
  /// else none.
  std::uint32_t victim(std::uint64_t line);
  /// Assigns the slot to `line`, with no valid byte.
  void install(std::uint32_t slot, std::uint64_t line);
  /// Records a use of the slot.
  void touch(std::uint32_t slot) {
    if (policy_.renews()) renew(slot);
  }

  /// The slot's line is replaced before or after others from now on.
  void set_eviction(std::uint32_t slot, isa::eviction e);

  [[nodiscard]] bool occupied(std::uint32_t slot) const { return tags_[slot] != empty; }
  [[nodiscard]] std::uint64_t line_of(std::uint32_t slot) const { return tags_[slot]; }
  state& at(std::uint32_t slot) { return states_[slot]; }
  [[nodiscard]] const state& at(std::uint32_t slot) const { return states_[slot]; }
  std::uint8_t* data(std::uint32_t slot) { return bytes_.get() + std::size_t{slot} * line_bytes; }
  [[nodiscard]] const std::uint8_t* data(std::uint32_t slot) const {
    return bytes_.get() + std::size_t{slot} * line_bytes;
  }

  /// While no line has an outstanding miss.
  void exchange(state_image& image);

 private:
  static constexpr std::uint64_t empty = ~std::uint64_t{0};
  [[nodiscard]] std::uint32_t set_of(std::uint64_t line) const {
    return static_cast<std::uint32_t>(set_mask_ != 0 || sets_ == 1 ? line & set_mask_ : line % sets_);
  }

  unsigned sets_;
  unsigned ways_;
  replacement policy_;
  std::uint64_t set_mask_ = 0;  // sets - 1 when that is a mask
  std::vector<std::uint64_t> tags_;
  // A search compares 16-bit hashes of a set's tags, and a replacement reads the order of its ways. For a set of 24
  // ways each takes 48 bytes, where tags or time stamps would take 192.
  static constexpr unsigned group_ways = 8;
  typedef std::uint16_t mark_group __attribute__((vector_size(2 * group_ways)));
  static std::uint16_t mark_of(std::uint64_t line) { return static_cast<std::uint16_t>(golden_hash(line) >> 48); }
  void renew(std::uint32_t slot);
  [[nodiscard]] std::uint32_t victim_by_eviction(std::uint32_t base);
  void set_mark(std::uint32_t slot);
  void exchange_line(state_image& image, std::uint32_t slot);
  unsigned groups_;  // per set
  std::vector<mark_group> marks_;
  std::vector<std::uint16_t> order_;            // by set: its ways, in replacement order
  std::unique_ptr<isa::eviction[]> evictions_;  // by slot: normal, first or last; null: all are normal
  std::vector<state> states_;
  std::unique_ptr<std::uint8_t[], release_pages> bytes_;  // never read before it is written
};

}  // namespace heddle
