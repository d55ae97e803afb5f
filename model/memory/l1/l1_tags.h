// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "heddle/hash/splitmix64.h"
#include "heddle/memory/common/replacement.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/protocol/gpu_request.h"

namespace heddle {

/// Storage of a sectored, set-associative cache: tags, valid bits per sector, bytes. Lines are numbered in the order of
/// their first use and have storage from then on, so that a cache costs what is used of it.
class l1_tags {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct line_state {
    std::uint64_t number;  // the line's address by its size, or empty
    std::uint32_t mshr;    // the MSHR whose fill the line waits for; it may not be replaced meanwhile
    std::uint32_t set;
    // Neighbours in the set's replacement order (none: the line is the first, the last).
    std::uint32_t before;
    std::uint32_t behind;
    std::uint32_t next_alike;  // the next line in the same bucket, or none
    std::uint8_t valid;        // bit s: sector s is valid
    std::uint8_t stored;       // bit s: bytes of sector s were stored since the line was taken; only stores find them
  };
  static_assert(sizeof(line_state) == 32, "two in a line of the host");

  /// Makes at least one set and uses all of `size_bytes`, if necessary with more ways than given. With size 0 no line
  /// can be held.
  l1_tags(unsigned size_bytes, unsigned ways, replacement policy);
  /// As constructed anew with another size. No line may have a pending fill.
  void resize(unsigned size_bytes, unsigned ways, replacement policy);

  /// Index of the line at `address`, or none. Does not update the replacement order.
  [[nodiscard]] std::uint32_t find(std::uint64_t address) const {
    const std::uint64_t number = address / line_bytes;
    std::uint32_t index = buckets_[bucket_of(number)];
    while (index != none && lines_[index].number != number) index = lines_[index].next_alike;
    return index;
  }
  /// Allocates the line at `address`, which must not be present: replaces the line of its set that the policy selects
  /// among those without a pending fill. Returns none if every line of the set has one. `evicted`: the replaced line
  /// held valid sectors. The new line has none. References to lines and bytes end here: they may move.
  std::uint32_t allocate(std::uint64_t address, bool& evicted);
  void touch(std::uint32_t index) {
    if (policy_.renews()) renew(index);
  }
  /// Invalidates all bytes; lines with a pending fill, which there may only be with `pending`, stay allocated.
  void invalidate(bool pending);

  line_state& operator[](std::uint32_t index) { return lines_[index]; }
  std::uint8_t* data(std::uint32_t index) { return bytes_.data() + std::size_t{index} * line_bytes; }
  [[nodiscard]] unsigned sets() const { return sets_; }
  [[nodiscard]] unsigned ways() const { return ways_; }
  /// While no line has a pending fill. It is read into a storage of the same size.
  void exchange(state_image& image);

 private:
  static constexpr std::uint64_t empty = ~std::uint64_t{0};
  struct set_state {
    std::uint32_t used = 0;      // lines
    std::uint32_t first = none;  // of these, the one to be replaced first
    std::uint32_t last = none;   // the one to be replaced last
  };

  [[nodiscard]] std::uint32_t set_of(std::uint64_t number) const {
    return static_cast<std::uint32_t>(set_mask_ != 0 || sets_ <= 1 ? number & set_mask_ : number % sets_);
  }
  [[nodiscard]] std::size_t bucket_of(std::uint64_t number) const { return golden_hash(number) >> bucket_shift_; }
  // Makes the line the last of its set in the replacement order.
  void renew(std::uint32_t index) {
    if (lines_[index].behind != none) move_to_end(index);
  }
  void move_to_end(std::uint32_t index);
  void shape(unsigned size_bytes, unsigned ways);
  void empty_all();
  std::uint32_t add_line(std::uint32_t set);
  std::uint32_t victim_in(std::uint32_t set);
  void enter(std::uint32_t index, std::uint64_t number);
  void leave(std::uint32_t index);
  void invalidate_set(std::uint32_t set);
  void add_buckets();

  unsigned sets_ = 0;
  unsigned ways_ = 0;
  replacement policy_;
  std::uint64_t set_mask_ = 0;  // 0 if the number of sets is not a power of two
  std::vector<set_state> set_states_;
  std::vector<line_state> lines_;
  std::vector<std::uint8_t> bytes_;  // never read before they are written
  // Lines are found by a hash table, for there may be hundreds of ways. It has no fewer buckets than there are lines.
  std::vector<std::uint32_t> buckets_ = {none, none};
  unsigned bucket_shift_ = 63;                // what is left of a hash is below the number of buckets, a power of two
  std::vector<std::uint32_t> lines_of_sets_;  // by set and way, for policies without an order; else empty
};

}  // namespace heddle
