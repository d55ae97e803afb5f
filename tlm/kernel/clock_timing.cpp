// SPDX-License-Identifier: MIT
#include "heddle/tlm/kernel/clock_timing.h"

#include <cmath>
#include <numeric>
#include <string>

namespace heddle {

namespace {
using wide = unsigned __int128;

std::uint64_t resolutions_per_second() {
  return static_cast<std::uint64_t>(std::llround(1.0 / sc_core::sc_get_time_resolution().to_seconds()));
}
}  // namespace

clock_timing::clock_timing(double frequency_mhz)
    : hertz_(static_cast<std::uint64_t>(std::llround(frequency_mhz * 1e6))),
      resolution_per_second_(resolutions_per_second()) {
  if (hertz_ == 0) SC_REPORT_ERROR("/heddle/clock", "a clock needs a frequency above zero");
  if (hertz_ > resolution_per_second_)
    SC_REPORT_ERROR(
        "/heddle/clock",
        ("a cycle of " + std::to_string(frequency_mhz) + " MHz is shorter than the time resolution of " +
         sc_core::sc_get_time_resolution().to_string() + ": call sc_set_time_resolution before building the GPU")
            .c_str());
  const std::uint64_t common = std::gcd(resolution_per_second_, hertz_);
  ticks_ = resolution_per_second_ / common;
  per_ticks_ = hertz_ / common;
  short_cycles_ = (~std::uint64_t{0} - per_ticks_) / ticks_;
  short_time_ = ~std::uint64_t{0} / per_ticks_;
}

bool clock_timing::resolution_is_unchanged() const { return resolution_per_second_ == resolutions_per_second(); }

// Rounded to the nearest unit of the resolution.
std::uint64_t clock_timing::ticks_at(cycle_t cycle) const {
  if (cycle <= short_cycles_) return (cycle * ticks_ + per_ticks_ / 2) / per_ticks_;
  return static_cast<std::uint64_t>((static_cast<wide>(cycle) * ticks_ + per_ticks_ / 2) / per_ticks_);
}

cycle_t clock_timing::cycle_at(std::uint64_t ticks) const {
  cycle_t k = ticks <= short_time_ ? ticks * per_ticks_ / ticks_
                                   : static_cast<cycle_t>(static_cast<wide>(ticks) * per_ticks_ / ticks_);
  // Edges are rounded.
  while (ticks_at(k + 1) <= ticks) ++k;
  while (k > 0 && ticks_at(k) > ticks) --k;
  return k;
}

}  // namespace heddle
