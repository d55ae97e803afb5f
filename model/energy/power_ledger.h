// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/energy/energy_metrics.h"
#include "heddle/tlm/kernel/clock_timing.h"

namespace heddle {

/// The clock and voltage of a GPU's core over time, and what that makes of the units' counts: each is priced at the
/// voltage that it was made at.
class power_ledger {
 public:
  virtual ~power_ledger() = default;

  /// The present clock.
  [[nodiscard]] virtual double clock_mhz() const = 0;
  /// Core voltage at a clock to that at the configured one.
  [[nodiscard]] virtual double volts_ratio(double clock_mhz) const = 0;
  /// The power of an SM without events, likewise.
  [[nodiscard]] virtual double static_ratio(double clock_mhz) const = 0;

  /// Time of cycle `cycle`, in cycles of the configured core clock.
  [[nodiscard]] virtual double time(cycle_t cycle) const = 0;
  /// The same, each cycle weighted by static_ratio() of its clock.
  [[nodiscard]] virtual double static_time(cycle_t cycle) const = 0;
  /// Cycles before `cycle` at a lower clock than the configured one.
  [[nodiscard]] virtual std::uint64_t throttled_cycles(cycle_t cycle) const = 0;
  /// The lowest clock between two cycles.
  [[nodiscard]] virtual double least_clock_mhz(cycle_t from, cycle_t to) const = 0;

  // What was counted up to now, `counted` at the configured voltage, at the voltages of its time.
  [[nodiscard]] virtual energy_sums in_sm(std::uint32_t launch, unsigned sm, const energy_sums& counted) const = 0;
  [[nodiscard]] virtual energy_sums beside_sms(std::uint32_t launch, const energy_sums& counted) const = 0;
  [[nodiscard]] virtual double contexts(std::uint32_t launch, double counted) const = 0;
  /// Cycles of an SM with warps of a launch, and with any, weighted as static_time().
  [[nodiscard]] virtual double launch_active(std::uint32_t launch, unsigned sm, std::uint64_t counted) const = 0;
  [[nodiscard]] virtual double sm_active(unsigned sm, std::uint64_t counted) const = 0;
};

}  // namespace heddle
