// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/energy/energy_account.h"
#include "heddle/gpu/cwd/running_launches.h"

namespace heddle {

class gpu;

/// Mean power of a GPU since the last call, while it runs. `g` must outlive it.
class power_probe {
 public:
  /// `ledger`: of its power cap, if it has one. `by_unit`: the SMs for which unit_watts() is asked.
  explicit power_probe(const gpu& g, const power_ledger* ledger = nullptr, const std::vector<unsigned>& by_unit = {});

  /// Power from the last call to `cycle`, the present core cycle, or to the start. What kernels that have ended still
  /// cause, such as fills that come late, is left out.
  void advance(cycle_t cycle);

  [[nodiscard]] double chip_watts() const { return chip_; }
  /// Mean core clock.
  [[nodiscard]] double clock_mhz() const { return clock_mhz_; }
  /// Of an SM's units and its static power.
  [[nodiscard]] double sm_watts(unsigned sm) const;
  /// Of a unit of an SM of `by_unit`; of the static power: active_sms and idle_sms.
  [[nodiscard]] double unit_watts(unsigned sm, energy_unit u) const { return watts_[sm][u]; }
  /// Of a unit that SMs share, and the constant power.
  [[nodiscard]] double shared_watts(energy_unit u) const { return shared_watts_[u]; }

 private:
  using joules = joules_by<energy_unit>;
  /// Dynamic energy of a launch in an SM. Where units are not asked for, all but the interconnect is in `control`.
  joules spent(std::uint32_t launch, unsigned sm);
  joules sm_joules(unsigned sm);
  joules shared_joules() const;

  const gpu& gpu_;
  energy_account energy_;
  cycle_t cycle_ = 0;
  running_launches running_;
  std::vector<bool> by_unit_;   // by SM
  std::vector<joules> closed_;  // energy of launches that have ended, by SM
  double closed_l2_ = 0;        // and in the L2
  std::vector<joules> before_;  // by SM, at the last call
  std::vector<double> active_;  // active_time, by SM, at the last call
  joules shared_before_;
  std::vector<joules> watts_;
  joules shared_watts_;
  double chip_ = 0;
  double clock_mhz_ = 0;
};

}  // namespace heddle
