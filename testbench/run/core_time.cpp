// SPDX-License-Identifier: MIT
#include "testbench/run/core_time.h"

#include <algorithm>
#include <cmath>

namespace heddle::testbench {

namespace {
using wide = unsigned __int128;
}

core_time::core_time(double frequency_mhz)
    : hertz_(static_cast<std::uint64_t>(std::llround(frequency_mhz * 1e6))),
      resolution_per_second_(
          static_cast<std::uint64_t>(std::llround(1.0 / sc_core::sc_get_time_resolution().to_seconds()))) {}

sc_core::sc_time core_time::time_of(std::uint64_t cycle) const {
  cycle = std::min(cycle, last());
  return sc_core::sc_time::from_value(
      static_cast<std::uint64_t>((wide{cycle} * resolution_per_second_ + hertz_ / 2) / hertz_));
}

std::uint64_t core_time::cycle() const {
  const auto guess =
      static_cast<std::uint64_t>(wide{sc_core::sc_time_stamp().value()} * hertz_ / resolution_per_second_);
  return time_of(guess + 1) <= sc_core::sc_time_stamp() && guess < last() ? guess + 1 : guess;
}

// Half of the range, so that adding an interval to the present time does not overflow.
std::uint64_t core_time::last() const {
  return static_cast<std::uint64_t>(std::min(wide{1} << 63, (wide{1} << 63) * hertz_ / resolution_per_second_));
}

}  // namespace heddle::testbench
