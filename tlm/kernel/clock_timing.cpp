// SPDX-License-Identifier: MIT
#include "heddle/tlm/kernel/clock_timing.h"

#include <algorithm>
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
    : resolution_per_second_(resolutions_per_second()), now_(rate_of(frequency_mhz, 0, 0)) {}

clock_timing::rate clock_timing::rate_of(double frequency_mhz, cycle_t first, std::uint64_t first_ticks) const {
  rate r{};
  r.hertz = static_cast<std::uint64_t>(std::llround(frequency_mhz * 1e6));
  if (r.hertz == 0) SC_REPORT_ERROR("/heddle/clock", "a clock needs a frequency above zero");
  if (r.hertz > resolution_per_second_)
    SC_REPORT_ERROR(
        "/heddle/clock",
        ("a cycle of " + std::to_string(frequency_mhz) + " MHz is shorter than the time resolution of " +
         sc_core::sc_get_time_resolution().to_string() + ": call sc_set_time_resolution before building the GPU")
            .c_str());
  const std::uint64_t common = std::gcd(resolution_per_second_, r.hertz);
  r.first = first;
  r.first_ticks = first_ticks;
  r.ticks = resolution_per_second_ / common;
  r.per_ticks = r.hertz / common;
  r.short_cycles = (~std::uint64_t{0} - r.per_ticks) / r.ticks;
  r.short_time = ~std::uint64_t{0} / r.per_ticks;
  return r;
}

void clock_timing::change(cycle_t from, double frequency_mhz) {
  const rate next = rate_of(frequency_mhz, from, ticks_at(from));
  if (from > now_.first) earlier_.push_back(now_);
  now_ = next;
}

bool clock_timing::resolution_is_unchanged() const { return resolution_per_second_ == resolutions_per_second(); }

// Rounded to the nearest unit of the resolution.
std::uint64_t clock_timing::rate::ticks_at(cycle_t cycle) const {
  const cycle_t n = cycle - first;
  if (n <= short_cycles) return first_ticks + (n * ticks + per_ticks / 2) / per_ticks;
  return first_ticks + static_cast<std::uint64_t>((static_cast<wide>(n) * ticks + per_ticks / 2) / per_ticks);
}

cycle_t clock_timing::rate::cycle_at(std::uint64_t at) const {
  const std::uint64_t since = at - first_ticks;
  cycle_t whole = 0;
  std::uint64_t rest = 0;  // of the division, below `ticks`
  if (since <= short_time) {
    whole = since * per_ticks / ticks;
    rest = since * per_ticks % ticks;
  } else {
    whole = static_cast<cycle_t>(static_cast<wide>(since) * per_ticks / ticks);
    rest = static_cast<std::uint64_t>(static_cast<wide>(since) * per_ticks % ticks);
  }
  // Edges are rounded to the nearest unit of the resolution: the next one may be in this unit, too. The condition is
  // ticks_at(next edge) <= at, multiplied out.
  return first + whole + (ticks + per_ticks / 2 < rest + per_ticks);
}

std::uint64_t clock_timing::ticks_at(cycle_t cycle) const {
  if (cycle >= now_.first) return now_.ticks_at(cycle);
  return std::find_if(earlier_.rbegin(), earlier_.rend(), [cycle](const rate& r) { return cycle >= r.first; })
      ->ticks_at(cycle);
}

cycle_t clock_timing::cycle_at(std::uint64_t ticks) const {
  if (ticks >= now_.first_ticks) return now_.cycle_at(ticks);
  return std::find_if(earlier_.rbegin(), earlier_.rend(), [ticks](const rate& r) { return ticks >= r.first_ticks; })
      ->cycle_at(ticks);
}

void clock_timing::exchange(state_image& image) {
  image.same(resolution_per_second_, "units of time a second");
  image(now_, earlier_);
}

}  // namespace heddle
