// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/kernel/unit_clock.h"

namespace heddle {

/// How full a queue is.
struct queue_level {
  std::size_t used = 0;
  std::size_t capacity = 0;  // 0: not known
};

/// Counts the free slots of a queue that other clock domains fill. A slot freed in cycle c can be taken from cycle c +
/// 1 on, so that the result does not depend on which of two processes SystemC runs first at the same instant.
class slot_counter {
 public:
  explicit slot_counter(unsigned capacity = 0) : capacity_(capacity) {}
  /// Takes a slot if one is visibly free in cycle `now` of the queue's clock.
  bool take(cycle_t now) {
    if (!has_visible_room(now)) return false;
    ++used_;
    return true;
  }
  [[nodiscard]] bool has_visible_room(cycle_t now) const { return used_ + (freed_at_ == now ? freed_ : 0) < capacity_; }
  void give(cycle_t now) {
    if (freed_at_ != now) {
      freed_at_ = now;
      freed_ = 0;
    }
    ++freed_;
    --used_;
  }
  /// True if a slot is free, visible or not.
  [[nodiscard]] bool has_room() const { return used_ < capacity_; }
  [[nodiscard]] unsigned used() const { return used_; }
  [[nodiscard]] const unsigned& level() const { return used_; }
  [[nodiscard]] queue_level now() const { return {used_, capacity_}; }
  void exchange(state_image& image) { image(used_, freed_, freed_at_); }

 private:
  unsigned capacity_;
  unsigned used_ = 0;
  unsigned freed_ = 0;
  cycle_t freed_at_ = never;
};

}  // namespace heddle
