// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

/// Converts steps that take a fractional number of cycles on average to whole cycles: the remainder is carried over to
/// the next steps. It counts in 1/1024 cycles, so results are the same on every host.
class mean_interval {
 public:
  /// `cycles` per step.
  explicit mean_interval(double cycles) : ticks_(static_cast<std::uint64_t>(cycles * ticks_per_cycle + 0.5)) {}

  /// Whole cycles of the next `steps` steps.
  std::uint64_t take(unsigned steps) {
    rest_ += steps * ticks_;
    const std::uint64_t cycles = rest_ / ticks_per_cycle;
    rest_ %= ticks_per_cycle;
    return cycles;
  }
  void exchange(state_image& image) { image(rest_); }

 private:
  static constexpr unsigned ticks_per_cycle = 1024;
  std::uint64_t ticks_;
  std::uint64_t rest_ = 0;
};

}  // namespace heddle
