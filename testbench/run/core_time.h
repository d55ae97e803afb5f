// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <systemc>

namespace heddle::testbench {

/// Converts between core cycles and simulated time: edge k is at round(k / frequency) in units of the time resolution.
class core_time {
 public:
  explicit core_time(double frequency_mhz);

  /// The cycle of the last edge at or before the present time.
  [[nodiscard]] std::uint64_t cycle() const;
  [[nodiscard]] sc_core::sc_time time_of(std::uint64_t cycle) const;
  /// The last cycle that simulated time can represent; time_of() saturates there.
  [[nodiscard]] std::uint64_t last() const;

 private:
  std::uint64_t hertz_;
  std::uint64_t resolution_per_second_;
};

}  // namespace heddle::testbench
