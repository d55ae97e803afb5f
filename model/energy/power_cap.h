// SPDX-License-Identifier: MIT
// Models: the power management that keeps a chip to a power by the clock and voltage of its core, as the drivers of
//   NVIDIA's chips keep to the board's limit.
// Sockets: none; it observes the core clock and changes the device memory's, see below.
// One cycle: nothing, except after each power_cap_interval_cycles: the mean power since then decides on the next clock,
//   the highest of the steps at which the same work is expected to keep to the cap.
// Parameters: [energy] power_cap_watts, power_cap_interval_cycles, clock_step_mhz, least_clock_mhz, voltage_curve.
#pragma once

#include <cstdint>

#include "heddle/energy/energy_account.h"
#include "heddle/energy/power_records.h"
#include "heddle/gpu/cwd/running_launches.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/kernel/unit_clock.h"

namespace heddle {

class gpu;

/// A power cap. All of the chip but its device memory slows down together, as they have one supply; so SystemC's time
/// stays that of the configured core clock, one cycle is always as long in it, and it is the device memory's clock that
/// becomes faster in it. its ledger has the seconds. Create it after the GPU and before the simulation starts, if
/// energy.power_cap_watts is not 0; the GPU must outlive it.
class power_cap : public sc_core::sc_module, public cycle_observer {
 public:
  explicit power_cap(gpu& g);
  ~power_cap() override;
  power_cap(const power_cap&) = delete;
  power_cap& operator=(const power_cap&) = delete;

  void after_cycle() override;
  [[nodiscard]] cycle_t next_sample() const override { return next_; }
  [[nodiscard]] const power_ledger& ledger() const { return ledger_; }
  /// Between two cycles; that of the GPU comes first.
  void exchange(state_image& image);

 private:
  /// Joules counted since the start, at the configured voltage.
  struct counted {
    double chip = 0;
    double dram = 0;
    double active_time = 0;  // cycles of SMs with warps, of the configured clock and its power
    double time = 0;         // likewise, of the chip
    double static_time = 0;

    void exchange(state_image& image) { image(chip, dram, active_time, time, static_time); }
  };
  void decide();
  counted count();
  double in_sms(std::uint32_t launch);

  gpu& gpu_;
  power_records ledger_;
  energy_account energy_;
  const double memory_clock_mhz_;
  cycle_t next_;
  std::uint64_t busy_cycles_ = 0;  // of the clock, at the last call
  running_launches running_;       // joules in SMs of those that have ended are in `closed_`
  double closed_ = 0;
  counted before_;
  sc_core::sc_event due_;
};

}  // namespace heddle
