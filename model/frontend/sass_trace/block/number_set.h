// SPDX-License-Identifier: MIT
#pragma once

#include <bitset>
#include <cstdint>
#include <unordered_map>

namespace heddle::sass_trace {

/// A set of numbers, most of which are consecutive: one bit each where they are dense. Its memory grows with the count
/// of its numbers, not with their magnitude.
class number_set {
 public:
  /// False: the number was in the set already.
  bool insert(std::uint64_t number) {
    auto page = pages_[number / page_bits][number % page_bits];
    if (page) return false;
    page = true;
    return true;
  }

 private:
  static constexpr std::uint64_t page_bits = 4096;
  std::unordered_map<std::uint64_t, std::bitset<page_bits>> pages_;
};

}  // namespace heddle::sass_trace
