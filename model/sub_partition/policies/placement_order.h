// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "heddle/isa/set_bits.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

/// The order in which warps were placed in their slots; policies derive old and young from it.
class placement_order {
 public:
  void placed(unsigned slot) { age_[slot] = ++placements_; }
  /// The oldest slot of a mask that is not empty.
  [[nodiscard]] unsigned oldest(std::uint64_t slots) const {
    unsigned best = static_cast<unsigned>(__builtin_ctzll(slots));
    for (const unsigned slot : set_bits(slots & (slots - 1))) {
      if (age_[slot] < age_[best]) best = slot;
    }
    return best;
  }
  [[nodiscard]] unsigned youngest(std::uint64_t slots) const {
    unsigned best = static_cast<unsigned>(__builtin_ctzll(slots));
    for (const unsigned slot : set_bits(slots & (slots - 1))) {
      if (age_[slot] > age_[best]) best = slot;
    }
    return best;
  }

  void exchange(state_image& image) { image(placements_, age_); }

 private:
  std::uint64_t placements_ = 0;
  std::array<std::uint64_t, 64> age_{};
};

}  // namespace heddle
