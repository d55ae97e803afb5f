// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace heddle {

/// 2^64 divided by the golden ratio, made odd: its multiples are spread evenly over the 64-bit numbers.
constexpr std::uint64_t golden_step = 0x9e3779b97f4a7c15u;

/// The splitmix64 generator (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014): the same
/// numbers on every machine.
class splitmix64 {
 public:
  constexpr explicit splitmix64(std::uint64_t seed = 0) : state_(seed) {}

  constexpr std::uint64_t next() { return mixed(state_ += golden_step); }
  /// A number from 0 to `limit` - 1, which must not be 0. Small numbers are preferred by a part in 2^64 / `limit`.
  constexpr std::uint64_t below(std::uint64_t limit) { return next() % limit; }
  /// The number that follows `n` others from `seed` on.
  static constexpr std::uint64_t at(std::uint64_t seed, std::uint64_t n) { return mixed(seed + (n + 1) * golden_step); }

  /// Of a state_image.
  template <class Image>
  void exchange(Image& image) {
    image(state_);
  }

 private:
  static constexpr std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

/// Multiplicative hash (Knuth, The Art of Computer Programming, volume 3, section 6.4). The high bits depend on all
/// bits of `word`, the low ones only on lower bits: take the high ones, or fold them down.
constexpr std::uint64_t golden_hash(std::uint64_t word) { return word * golden_step; }
/// Adds a word to the hash of those before it.
constexpr std::uint64_t hash_with(std::uint64_t hash, std::uint64_t word) {
  hash = golden_hash(hash ^ word);
  return hash ^ (hash >> 29);
}

}  // namespace heddle
