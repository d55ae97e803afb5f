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
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

/// Storage of a set-associative cache of 128-byte lines: tags, bytes, a valid and a dirty bit per byte, replacement
/// order. A set has storage from its first use on, and slots are numbered in the order in which sets come into use: a
/// large cache costs what is used of it, and what is used lies side by side.
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
  /// How many lines there is room for.
  [[nodiscard]] unsigned capacity() const { return sets_ * ways_; }
  /// Slots of the sets that are in use, and some more: 0 to slots() - 1. Sets come into use by victim().
  [[nodiscard]] std::uint32_t slots() const { return static_cast<std::uint32_t>(tags_.size()); }
  /// Slot of a way, with the ways of all sets numbered set by set, up to capacity(); none if its set is not in use.
  [[nodiscard]] std::uint32_t slot_of_way(std::uint32_t number) const {
    const std::uint32_t used = number_of_set_[number / ways_];
    return used == none ? none : used * ways_ + number % ways_;
  }

  /// Removes all lines, whatever their bytes; none may have an outstanding miss. Returns how many there were.
  std::uint64_t empty_all();

  /// Slot of the line with number `line` (any one-to-one numbering of lines), or none.
  [[nodiscard]] std::uint32_t find(std::uint64_t line) const {
    const std::uint32_t set = number_of_set_[set_of(line)];
    if (set == none) return none;
    const std::uint32_t base = set * ways_;
    const mark_group wanted = mark_group{} + mark_of(line);
    for (std::uint32_t g = 0; g < mark_groups_; ++g) {
      const auto same = marks_[set * mark_groups_ + g] == wanted;
      std::uint64_t any[2];
      std::memcpy(any, &same, sizeof any);
      if ((any[0] | any[1]) == 0) continue;
      for (std::uint32_t w = g * mark_ways; w < std::min(ways_, (g + 1) * mark_ways); ++w)
        if (tags_[base + w] == line) return base + w;
    }
    return none;
  }
  /// Slot for a new line: an empty one, else the one that the policy selects among those without an outstanding miss,
  /// else none. References to states end here: a set that comes into use may move them.
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
  /// Bytes of an occupied slot.
  std::uint8_t* data(std::uint32_t slot) { return groups_[slot / group_lines] + slot % group_lines * line_bytes; }
  [[nodiscard]] const std::uint8_t* data(std::uint32_t slot) const {
    return groups_[slot / group_lines] + slot % group_lines * line_bytes;
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
  std::uint64_t set_mask_ = 0;                // sets - 1 when that is a mask
  std::vector<std::uint32_t> number_of_set_;  // in the order in which sets came into use; none: not in use
  std::uint32_t sets_in_use_ = 0;
  std::vector<std::uint64_t> tags_;
  // A search compares 16-bit hashes of a set's tags, and a replacement reads the order of its ways. For a set of 24
  // ways each takes 48 bytes, where tags or time stamps would take 192.
  static constexpr unsigned mark_ways = 8;
  typedef std::uint16_t mark_group __attribute__((vector_size(2 * mark_ways)));
  static std::uint16_t mark_of(std::uint64_t line) { return static_cast<std::uint16_t>(golden_hash(line) >> 48); }
  void use_set(std::uint32_t set);
  void add_storage(std::uint32_t sets);
  void renew(std::uint32_t slot);
  [[nodiscard]] std::uint32_t victim_by_eviction(std::uint32_t base);
  void set_mark(std::uint32_t slot);
  void exchange_line(state_image& image, std::uint32_t slot);
  unsigned mark_groups_;  // per set
  std::vector<mark_group> marks_;
  std::vector<std::uint16_t> order_;      // by set: its ways, in replacement order
  std::vector<isa::eviction> evictions_;  // by slot: normal, first or last; empty: all are normal
  std::vector<state> states_;
  // Lines have their bytes from their first use on, a group of slots at a time. They are never read before they are
  // written.
  static constexpr unsigned group_lines = 8;
  static constexpr unsigned block_groups = 16;
  std::uint8_t* take_group();
  std::vector<std::uint8_t*> groups_;  // null: no slot of the group was used
  std::vector<std::unique_ptr<std::uint8_t[]>> blocks_;
  std::size_t groups_taken_ = 0;
};

}  // namespace heddle
