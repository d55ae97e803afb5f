// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <utility>

#include "heddle/memory/common/policies/replacement_policy.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

/// A cache's replacement policy. What does not change is asked once, so that a hit costs no virtual call.
class replacement {
 public:
  explicit replacement(choice::replacement which) : replacement(make_replacement_policy(which)) {}
  explicit replacement(std::unique_ptr<replacement_policy> policy)
      : policy_(std::move(policy)), in_order_(policy_->in_order()), renews_(policy_->renews()) {}

  /// True if the first line in the set's order that may be replaced is.
  [[nodiscard]] bool in_order() const { return in_order_; }
  /// True if a use makes the line the last to be replaced.
  [[nodiscard]] bool renews() const { return renews_; }
  /// Chooses among `ways` lines, but takes the first empty one if there is one. `empty(w)`: whether way w is empty,
  /// `open(w)`: whether it may be replaced. Returns `ways` if none may.
  template <class Empty, class Open>
  unsigned choose(unsigned ways, Empty&& empty, Open&& open) {
    unsigned candidates = 0;
    for (unsigned w = 0; w < ways; ++w) {
      if (!open(w)) continue;
      if (empty(w)) return w;
      ++candidates;
    }
    if (candidates == 0) return ways;
    unsigned number = policy_->choose(candidates);
    for (unsigned w = 0;; ++w)
      if (open(w) && number-- == 0) return w;
  }
  void exchange(state_image& image) { policy_->exchange(image); }

 private:
  std::unique_ptr<replacement_policy> policy_;
  bool in_order_;
  bool renews_;
};

}  // namespace heddle
