// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

namespace heddle {

/// The position of the lowest bit of a mask that is one; the mask is not 0.
template <class Mask>
[[gnu::always_inline]] constexpr unsigned first_bit(Mask mask) {
  static_assert(std::is_unsigned_v<Mask>, "a mask is an unsigned number");
  if constexpr (sizeof(Mask) > sizeof(unsigned)) return static_cast<unsigned>(__builtin_ctzll(mask));
  else return static_cast<unsigned>(__builtin_ctz(mask));
}

/// The mask without that bit.
template <class Mask>
[[gnu::always_inline]] constexpr Mask without_first(Mask mask) {
  return static_cast<Mask>(mask & (mask - 1));
}

/// Takes that bit out of the mask; its position.
template <class Mask>
[[gnu::always_inline]] constexpr unsigned take_first(Mask& mask) {
  const unsigned first = first_bit(mask);
  mask = without_first(mask);
  return first;
}

/// The positions of the bits of a mask that are one, from bit 0 upwards:
///   for (const unsigned slot : set_bits(active)) ...
/// The mask is copied: the loop may change the variable that it came from. The functions are inlined into every caller,
/// so files that are compiled for different processors do not share them.
template <class Mask>
class set_bits {
  static_assert(std::is_unsigned_v<Mask>, "a mask is an unsigned number");

 public:
  struct end_of_mask {};
  class iterator {
   public:
    [[gnu::always_inline]] constexpr explicit iterator(Mask mask) : rest_(mask) {}
    [[gnu::always_inline]] constexpr unsigned operator*() const { return first_bit(rest_); }
    [[gnu::always_inline]] constexpr iterator& operator++() {
      rest_ = without_first(rest_);
      return *this;
    }
    [[gnu::always_inline]] constexpr bool operator!=(end_of_mask) const { return rest_ != 0; }

   private:
    std::conditional_t<(sizeof(Mask) > sizeof(unsigned)), std::uint64_t, unsigned> rest_;
  };

  [[gnu::always_inline]] constexpr explicit set_bits(Mask mask) : mask_(mask) {}
  [[gnu::always_inline]] [[nodiscard]] constexpr iterator begin() const { return iterator(mask_); }
  [[gnu::always_inline]] [[nodiscard]] constexpr end_of_mask end() const { return {}; }

 private:
  Mask mask_;
};

}  // namespace heddle
