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

/// Storage of a sectored, set-associative cache: tags, valid bits per sector, bytes.
class l1_tags {
 public:
  static constexpr unsigned none = ~0u;
  struct line_state {
    std::uint8_t valid;   // bit s: sector s is valid
    std::uint8_t stored;  // bit s: bytes of sector s were stored since the line was taken; only stores find them
    unsigned mshr;        // the MSHR whose fill the line waits for; it may not be replaced meanwhile
    // Neighbours in the set's replacement order (none: the line is the first, the last).
    std::uint32_t before;
    std::uint32_t behind;
  };

  /// Makes at least one set and uses all of `size_bytes`, if necessary with more ways than given. With size 0 no line
  /// can be held.
  l1_tags(unsigned size_bytes, unsigned ways, replacement policy);
  /// As constructed anew with another size. No line may have a pending fill.
  void resize(unsigned size_bytes, unsigned ways, replacement policy);

  /// Index of the line at `address`, or none. Does not update the replacement order.
  [[nodiscard]] unsigned find(std::uint64_t address) const;
  /// Allocates the line at `address`, which must not be present: replaces the line of its set that the policy selects
  /// among those without a pending fill. Returns none if every line of the set has one. `evicted`: the replaced line
  /// held valid sectors. The new line has none.
  unsigned allocate(std::uint64_t address, bool& evicted);
  void touch(unsigned index) {
    if (policy_.renews()) renew(index);
  }
  /// Invalidates all bytes; lines with a pending fill, which there may only be with `pending`, stay allocated.
  void invalidate(bool pending);

  line_state& operator[](unsigned index) { return lines_[index]; }
  std::uint8_t* data(unsigned index) { return data_.get() + std::size_t{index} * line_bytes; }
  [[nodiscard]] unsigned sets() const { return sets_; }
  [[nodiscard]] unsigned ways() const { return ways_; }
  /// While no line has a pending fill. It is read into a storage of the same size.
  void exchange(state_image& image);

 private:
  // Makes the line the last of its set in the replacement order.
  void renew(unsigned index) {
    if (lines_[index].behind != none) move_to_end(index);
  }
  void move_to_end(unsigned index);
  void shape(unsigned size_bytes, unsigned ways);
  void order(unsigned set, const std::vector<std::uint32_t>& indices);
  void empty_all();
  void make_empty(unsigned set);
  void invalidate_set(unsigned set);
  void exchange_set(state_image& image, unsigned set);
  [[nodiscard]] unsigned set_of(std::uint64_t number) const {
    return static_cast<unsigned>(set_mask_ != 0 || sets_ <= 1 ? number & set_mask_ : number % sets_);
  }
  static constexpr std::uint64_t empty = ~std::uint64_t{0};

  unsigned sets_ = 0;
  unsigned ways_ = 0;
  replacement policy_;
  std::uint64_t set_mask_ = 0;  // 0 if the number of sets is not a power of two
  // Storage is not initialized: an access to a set that is not of the present era empties the set first. So a cache is
  // emptied or resized without a visit to all of its lines.
  std::vector<std::uint32_t> generation_of_set_;
  std::uint32_t generation_ = 0;
  std::size_t lines_allocated_ = 0;
  std::unique_ptr<std::uint64_t[]> tags_;  // line numbers, or empty
  std::unique_ptr<line_state[]> lines_;
  std::unique_ptr<std::uint8_t[]> data_;  // never read before it is written
  /// Per set and hash value: how many tags of the set have this hash, and the way that was filled last with one. It
  /// spares the search of all ways, which is too slow with hundreds of them; for the same reason each set's lines are
  /// linked in replacement order.
  struct hint {
    std::uint32_t count;
    std::uint32_t way;
  };
  [[nodiscard]] std::size_t hint_at(unsigned set, std::uint64_t number) const {
    return std::size_t{set} * hints_per_set_ + (golden_hash(number) >> 40 & (hints_per_set_ - 1));
  }
  unsigned hints_per_set_ = 1;  // a power of two
  std::size_t hints_allocated_ = 0;
  std::unique_ptr<hint[]> hints_;
  struct ends {
    std::uint32_t first;  // the line to be replaced first
    std::uint32_t last;   // the line to be replaced last
  };
  std::vector<ends> ends_;  // by set
};

}  // namespace heddle
