// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "heddle/memory/common/replacement.h"
#include "heddle/tlm/protocol/gpu_request.h"

namespace heddle {

/// Lines of a sectored, set-associative cache: tags, valid sectors, bytes.
class l1_tags {
 public:
  static constexpr unsigned none = ~0u;
  struct line_state {
    std::uint8_t valid = 0;  // bit s: sector s holds bytes
    unsigned mshr = none;    // the line waits for a fill under this MSHR and may not be replaced
    // In the order in which lines of a set are to be replaced (none: the first, the last):
    std::uint32_t before = none;
    std::uint32_t behind = none;
  };

  /// At least one set; all of `size_bytes` is used, if need be with more ways. A size of 0 holds nothing.
  l1_tags(unsigned size_bytes, unsigned ways, const replacement& policy);

  /// Index of the line at `address`, or none. Does not count as a use.
  unsigned find(std::uint64_t address) const;
  /// Gives the line at `address`, which is not present, the place of its set that the policy names among those that
  /// wait for no fill; none if there is no such place. `evicted`: the place held a line. The new line has no valid
  /// sector.
  unsigned allocate(std::uint64_t address, bool& evicted);
  void touch(unsigned index) {
    if (policy_.renews()) renew(index);
  }
  /// Forgets all bytes; lines that wait for a fill keep their place.
  void invalidate();

  line_state& operator[](unsigned index) { return lines_[index]; }
  std::uint8_t* data(unsigned index) { return data_.get() + std::size_t{index} * line_bytes; }
  unsigned sets() const { return sets_; }
  unsigned ways() const { return ways_; }

 private:
  // The line is the last of its set to be replaced.
  void renew(unsigned index) {
    if (lines_[index].behind != none) move_to_end(index);
  }
  void move_to_end(unsigned index);
  void order(unsigned set, const std::vector<std::uint32_t>& indices);
  unsigned set_of(std::uint64_t number) const {
    return static_cast<unsigned>(set_mask_ != 0 || sets_ <= 1 ? number & set_mask_ : number % sets_);
  }
  static constexpr std::uint64_t empty = ~std::uint64_t{0};

  unsigned sets_;
  unsigned ways_;
  replacement policy_;
  std::uint64_t set_mask_;           // 0 if the number of sets is no power of two
  std::vector<std::uint64_t> tags_;  // line numbers, or empty
  std::vector<line_state> lines_;
  std::unique_ptr<std::uint8_t[]> data_;  // none is read before it was written
  /// Tags of a set that share a hash: how many, and where the last of them was put. With hundreds of ways no search can
  /// afford to look at each; for the same reason lines are kept in the order in which they are to be replaced.
  struct hint {
    std::uint32_t count = 0;
    std::uint32_t way = 0;
  };
  std::size_t hint_at(unsigned set, std::uint64_t number) const {
    return std::size_t{set} * hints_per_set_ + (number * 0x9e3779b97f4a7c15u >> 40 & (hints_per_set_ - 1));
  }
  unsigned hints_per_set_ = 1;  // a power of two
  std::vector<hint> hints_;
  std::vector<std::uint32_t> first_;  // by set: the line to be replaced first
  std::vector<std::uint32_t> last_;   // and last
};

}  // namespace heddle
