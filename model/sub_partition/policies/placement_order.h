// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

namespace heddle {

/// The order in which warps were placed in their slots; policies derive old and young from it.
class placement_order {
 public:
  void placed(unsigned slot) { age_[slot] = ++placements_; }
  /// The oldest slot of a mask that is not empty.
  unsigned oldest(std::uint64_t slots) const {
    unsigned best = static_cast<unsigned>(__builtin_ctzll(slots));
    for (std::uint64_t rest = slots & (slots - 1); rest; rest &= rest - 1) {
      const unsigned slot = static_cast<unsigned>(__builtin_ctzll(rest));
      if (age_[slot] < age_[best]) best = slot;
    }
    return best;
  }
  unsigned youngest(std::uint64_t slots) const {
    unsigned best = static_cast<unsigned>(__builtin_ctzll(slots));
    for (std::uint64_t rest = slots & (slots - 1); rest; rest &= rest - 1) {
      const unsigned slot = static_cast<unsigned>(__builtin_ctzll(rest));
      if (age_[slot] > age_[best]) best = slot;
    }
    return best;
  }

 private:
  std::uint64_t placements_ = 0;
  std::array<std::uint64_t, 64> age_{};
};

}  // namespace heddle
