// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/config/choices.h"

namespace heddle {

/// Replacement policy of a set. lru: the line used least recently; fifo: the line allocated first; random: any line, by
/// the cache's own generator (splitmix64, Steele, Lea, Flood 2014), so that runs are repeatable.
class replacement {
 public:
  explicit replacement(choice::replacement which) : kind_(which) {}

  bool at_random() const { return kind_ == kind::random; }
  /// True if a use makes the line the last to be replaced.
  bool renews() const { return kind_ == kind::lru; }
  /// Chooses at random among `ways` lines, but takes the first empty one if there is one. `empty(w)` tells whether way
  /// w is empty, `open(w)` whether it may be replaced. Returns `ways` if none may.
  template <class Empty, class Open>
  unsigned choose(unsigned ways, Empty&& empty, Open&& open) {
    unsigned candidates = 0;
    for (unsigned w = 0; w < ways; ++w) {
      if (!open(w)) continue;
      if (empty(w)) return w;
      ++candidates;
    }
    if (candidates == 0) return ways;
    unsigned number = static_cast<unsigned>(next() % candidates);
    for (unsigned w = 0;; ++w)
      if (open(w) && number-- == 0) return w;
  }

 private:
  using kind = choice::replacement;

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  kind kind_;
  std::uint64_t state_ = 0;
};

}  // namespace heddle
