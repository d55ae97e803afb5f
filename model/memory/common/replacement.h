// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/config/choices.h"
#include "heddle/hash/splitmix64.h"

namespace heddle {

/// Replacement policy of a set. lru: the line used least recently; fifo: the line allocated first; random: any line, by
/// the cache's own generator (splitmix64), so that runs are repeatable.
class replacement {
 public:
  explicit replacement(choice::replacement which) : kind_(which) {}

  [[nodiscard]] bool at_random() const { return kind_ == kind::random; }
  /// True if a use makes the line the last to be replaced.
  [[nodiscard]] bool renews() const { return kind_ == kind::lru; }
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
    unsigned number = static_cast<unsigned>(random_.below(candidates));
    for (unsigned w = 0;; ++w)
      if (open(w) && number-- == 0) return w;
  }

 private:
  using kind = choice::replacement;

  kind kind_;
  splitmix64 random_;
};

}  // namespace heddle
