// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace heddle {

/// Whole cycles that steps take which on average take some fraction of a cycle more: what is left over is added to the
/// next. In 1/1024 cycles, so that it is the same on every machine.
class mean_interval {
 public:
  /// `cycles` of a step, at least 1.
  explicit mean_interval(double cycles) : ticks_(static_cast<std::uint64_t>(cycles * ticks_per_cycle + 0.5)) {}

  /// Cycles of the next `steps`, at least one each.
  std::uint64_t take(unsigned steps) {
    rest_ += steps * ticks_;
    const std::uint64_t cycles = rest_ / ticks_per_cycle;
    rest_ %= ticks_per_cycle;
    return cycles;
  }

 private:
  static constexpr unsigned ticks_per_cycle = 1024;
  std::uint64_t ticks_;
  std::uint64_t rest_ = 0;
};

}  // namespace heddle
