// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/tlm/kernel/clock_domain.h"

namespace heddle {

/// A group of units of a clock domain, such as an SM, that meet the units outside only through sockets, or else in step
/// with them: the domain's edges, and a wheel of its own. The domain may simulate it ahead, in time windows up to its
/// safe time. What its units send carries the offset from simulated time as annotated delay (local_time_offset), and
/// what is sent to it must arrive after its window: an earlier arrival is reported as SC_ERROR "/heddle/internal".
class logical_process : public unit_clock {
 public:
  logical_process(const sc_core::sc_module_name& name, clock_domain& domain);

  [[nodiscard]] sc_core::sc_time delay_until(cycle_t cycle) const override { return domain_.delay_until(cycle); }
  [[nodiscard]] std::uint64_t nanoseconds_at(cycle_t cycle) const override { return domain_.nanoseconds_at(cycle); }
  [[nodiscard]] cycle_t cycles_in(std::uint64_t nanoseconds) const override { return domain_.cycles_in(nanoseconds); }
  [[nodiscard]] cycle_t next_wake() const override { return domain_.next_wake(); }
  void observe(cycle_observer& observer) override { domain_.observe(observer); }
  void ignore(const cycle_observer& observer) override { domain_.ignore(observer); }
  void sample_at(cycle_t cycle) override { domain_.sample_at(cycle); }
  void halt() override { halted_ = true; }

 private:
  [[nodiscard]] cycle_t present_cycle() const override { return domain_.cycle(); }
  cycle_t later_arrival(const sc_core::sc_time& delay, cycle_cache& times) const override {
    return domain_.arrival(delay, times);
  }
  void wake_from_outside(unsigned index, cycle_t cycle) override;

  clock_domain& domain_;
  unsigned number_;  // among the domain's processes
};

}  // namespace heddle
