// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/energy/energy_account.h"
#include "heddle/energy/power_ledger.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

class gpu;

/// The ledger of a GPU's power cap: what its units had counted whenever the clock changed. Energies of the chip go with
/// the square of the voltage, the power of SMs without events with static_ratio(); device memory and the board have
/// supplies of their own. `g` must outlive it.
class power_records : public power_ledger {
 public:
  explicit power_records(const gpu& g);

  /// From `cycle` on, the present core cycle, the core runs at `clock_mhz`.
  void change(cycle_t cycle, double clock_mhz);
  void exchange(state_image& image);

  [[nodiscard]] double clock_mhz() const override { return points_.back().clock_mhz; }
  [[nodiscard]] double volts_ratio(double clock_mhz) const override;
  [[nodiscard]] double static_ratio(double clock_mhz) const override;
  [[nodiscard]] double time(cycle_t cycle) const override;
  [[nodiscard]] double static_time(cycle_t cycle) const override;
  [[nodiscard]] std::uint64_t throttled_cycles(cycle_t cycle) const override;
  [[nodiscard]] double least_clock_mhz(cycle_t from, cycle_t to) const override;
  [[nodiscard]] energy_sums in_sm(std::uint32_t launch, unsigned sm, const energy_sums& counted) const override;
  [[nodiscard]] energy_sums beside_sms(std::uint32_t launch, const energy_sums& counted) const override;
  [[nodiscard]] double contexts(std::uint32_t launch, double counted) const override;
  [[nodiscard]] double launch_active(std::uint32_t launch, unsigned sm, std::uint64_t counted) const override;
  [[nodiscard]] double sm_active(unsigned sm, std::uint64_t counted) const override;

 private:
  struct point {
    cycle_t from;
    double clock_mhz;
    double slowness;      // configured clock / clock_mhz
    double volts_ratio;   // to the voltage at the configured clock
    double static_ratio;  // to an SM's power without events there
    // At `from`:
    double time;
    double static_time;
    std::uint64_t throttled;

    void exchange(state_image& image) {
      image(from, clock_mhz, slowness, volts_ratio, static_ratio, time, static_time, throttled);
    }
  };
  /// A sum up to the last change, priced, and the count at that change.
  struct priced_energy {
    energy_sums priced;
    energy_sums counted;

    void exchange(state_image& image) { image(priced, counted); }
  };
  struct priced_count {
    double priced = 0;
    double counted = 0;

    void exchange(state_image& image) { image(priced, counted); }
  };
  struct launch_entry {
    bool closed = false;       // it had ended before the last change
    double energy_factor = 1;  // of what is counted from the last change on
    double time_factor = 1;
    std::vector<priced_energy> sms;
    std::vector<priced_count> active;  // by SM
    priced_energy beside;
    priced_count contexts;

    void exchange(state_image& image) { image(closed, energy_factor, time_factor, sms, active, beside, contexts); }
  };
  [[nodiscard]] const point& point_of(cycle_t cycle) const;
  void close(launch_entry& e, std::uint32_t launch);
  [[nodiscard]] static energy_sums price(const priced_energy& before, const energy_sums& counted, double factor);
  [[nodiscard]] double energy_factor() const { return points_.back().volts_ratio * points_.back().volts_ratio; }
  [[nodiscard]] double time_factor() const { return points_.back().slowness * points_.back().static_ratio; }
  [[nodiscard]] const launch_entry* entry_of(std::uint32_t launch) const {
    return launch < launches_.size() ? &launches_[launch] : nullptr;
  }

  const gpu& gpu_;
  energy_account counts_;
  std::vector<point> points_;
  std::vector<launch_entry> launches_;  // those submitted before the last change
  std::vector<priced_count> sm_active_;
};

}  // namespace heddle
