// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "heddle/isa/set_bits.h"
#include "heddle/tlm/kernel/clock_timing.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

/// Timers of up to 64 warp slots: a wheel of 64 cycles, each bucket a mask of slots. Slots with later timers are in a
/// mask of their own. The time itself is the caller's: a timer that was cancelled or moved stays in its bucket, and the
/// caller compares when it is due.
class warp_timers {
 public:
  /// The slot's timer is `cycle`, after `now`.
  void set(unsigned slot, cycle_t cycle, cycle_t now) {
    if (cycle - now < buckets) {
      wheel_[cycle % buckets] |= std::uint64_t{1} << slot;
      occupied_ |= std::uint64_t{1} << (cycle % buckets);
    } else {
      far_ |= std::uint64_t{1} << slot;
    }
  }
  /// Slots whose timers may be due in `cycle`; they leave the wheel. `timer_of(slot)`: its time now.
  template <class Timer>
  std::uint64_t take(cycle_t cycle, Timer timer_of) {
    const unsigned bucket = cycle % buckets;
    std::uint64_t due = wheel_[bucket];
    wheel_[bucket] = 0;
    occupied_ &= ~(std::uint64_t{1} << bucket);
    for (const unsigned slot : set_bits(far_)) {
      if (timer_of(slot) > cycle) continue;
      due |= std::uint64_t{1} << slot;
      far_ &= ~(std::uint64_t{1} << slot);
    }
    return due;
  }
  /// The first cycle after `cycle` in which a timer may be due; never: there is none.
  template <class Timer>
  [[nodiscard]] cycle_t next(cycle_t cycle, Timer timer_of) const {
    cycle_t best = never;
    if (occupied_) {
      // Buckets hold cycles cycle + 1 .. cycle + 63: rotate so that bit 0 is the next cycle.
      const unsigned start = (cycle + 1) % buckets;
      const std::uint64_t rotated = start == 0 ? occupied_ : occupied_ >> start | occupied_ << (64 - start);
      best = cycle + 1 + static_cast<unsigned>(__builtin_ctzll(rotated));
    }
    for (const unsigned slot : set_bits(far_)) best = std::min(best, timer_of(slot));
    return best;
  }
  void exchange(state_image& image) { image(occupied_, far_, wheel_); }
  /// Bytes of what every call touches.
  static constexpr std::size_t first_bytes = 2 * sizeof(std::uint64_t);
  /// The bucket of a cycle, for prefetches.
  [[nodiscard]] const std::uint64_t& bucket(cycle_t cycle) const { return wheel_[cycle % buckets]; }

 private:
  static constexpr unsigned buckets = 64;
  std::uint64_t occupied_ = 0;  // buckets with at least one slot
  std::uint64_t far_ = 0;
  std::array<std::uint64_t, buckets> wheel_{};
};

}  // namespace heddle
