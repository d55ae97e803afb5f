// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <systemc>
#include <vector>

#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

using cycle_t = std::uint64_t;
constexpr cycle_t never = ~cycle_t{0};

/// The edges of a clock. Edge k is at round(k / frequency), in units of SystemC's time resolution, computed from the
/// integer k: rounding errors do not add up. After a change of the frequency, k counts from there. Source:
/// docs/decisions/0001-clocking.md.
class clock_timing {
 public:
  /// SC_ERROR "/heddle/clock" if the frequency is 0, or a cycle is shorter than the time resolution.
  explicit clock_timing(double frequency_mhz);

  /// The present frequency.
  [[nodiscard]] double frequency_mhz() const { return static_cast<double>(now_.hertz) / 1e6; }
  /// Edges after edge `from` come at another frequency; edge `from` and those before it stay where they are. `from`
  /// must not lie before an earlier change.
  void change(cycle_t from, double frequency_mhz);
  /// Time of edge `cycle`, in units of the resolution.
  [[nodiscard]] std::uint64_t ticks_at(cycle_t cycle) const;
  /// The last edge at or before `ticks`.
  [[nodiscard]] cycle_t cycle_at(std::uint64_t ticks) const;
  [[nodiscard]] sc_core::sc_time time_of(cycle_t cycle) const { return sc_core::sc_time::from_value(ticks_at(cycle)); }
  /// Whether SystemC's time resolution is still the one that the clock was built with.
  [[nodiscard]] bool resolution_is_unchanged() const;
  /// Units of the resolution in a second.
  [[nodiscard]] std::uint64_t resolution_per_second() const { return resolution_per_second_; }
  void exchange(state_image& image);

 private:
  /// A frequency and the edge from which on it holds.
  struct rate {
    std::uint64_t hertz;
    cycle_t first;
    std::uint64_t first_ticks;
    // Units of the resolution per cycle, in lowest terms: per_ticks cycles take so many ticks.
    std::uint64_t ticks;
    std::uint64_t per_ticks;
    // Up to here 64 bits are enough for the products.
    cycle_t short_cycles;
    std::uint64_t short_time;

    [[nodiscard]] std::uint64_t ticks_at(cycle_t cycle) const;
    [[nodiscard]] cycle_t cycle_at(std::uint64_t at) const;
    void exchange(state_image& image) { image(hertz, first, first_ticks, ticks, per_ticks, short_cycles, short_time); }
  };
  [[nodiscard]] rate rate_of(double frequency_mhz, cycle_t first, std::uint64_t first_ticks) const;

  std::uint64_t resolution_per_second_;
  rate now_;
  std::vector<rate> earlier_;  // in the order of time
};

/// A conversion from time to cycle that remembers its last result: most calls ask for the same time again.
class cycle_cache {
 public:
  cycle_t cycle_at(const clock_timing& timing, std::uint64_t ticks) {
    if (ticks != ticks_) {
      cycle_ = timing.cycle_at(ticks);
      ticks_ = ticks;
    }
    return cycle_;
  }

 private:
  std::uint64_t ticks_ = 0;
  cycle_t cycle_ = 0;
};

}  // namespace heddle
