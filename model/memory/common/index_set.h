// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/isa/set_bits.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

/// A set of the numbers below a fixed limit, such as ports that wait.
class index_set {
 public:
  explicit index_set(unsigned limit) : words_((limit + 63) / 64) {}
  void insert(unsigned n) { words_[n / 64] |= std::uint64_t{1} << (n % 64); }
  void erase(unsigned n) { words_[n / 64] &= ~(std::uint64_t{1} << (n % 64)); }
  /// Calls f(n) for each member in ascending order. f may change the set: what it erases may still be visited, and what
  /// it inserts may be left out.
  template <class F>
  void for_each(F&& f) const {
    for (std::size_t w = 0; w < words_.size(); ++w)
      for (const unsigned bit : set_bits(words_[w])) f(static_cast<unsigned>(w * 64) + bit);
  }
  void exchange(state_image& image) { image.each(words_); }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace heddle
