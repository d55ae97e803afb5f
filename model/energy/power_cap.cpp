// SPDX-License-Identifier: MIT
#include "heddle/energy/power_cap.h"

#include <algorithm>

#include "heddle/gpu/cwd/grid_distributor.h"
#include "heddle/gpu/gpu.h"
#include "heddle/sm/sm.h"
#include "heddle/tlm/kernel/has_process.h"

namespace heddle {

power_cap::power_cap(gpu& g)
    : sc_module(sc_core::sc_module_name("power_cap")),
      gpu_(g),
      ledger_(g),
      energy_(g, &ledger_),
      memory_clock_mhz_(g.dram_clock().frequency_mhz()),
      next_(g.config().energy.power_cap_interval_cycles),
      running_(g.cwd()) {
  HEDDLE_HAS_PROCESS(power_cap);
  SC_METHOD(decide);
  sensitive << due_;
  dont_initialize();
  g.core_clock().observe(*this);
}

power_cap::~power_cap() { gpu_.core_clock().ignore(*this); }

void power_cap::after_cycle() {
  // Cycles in which only an observer is active do not count, so that the clock does not depend on observers.
  if (gpu_.core_clock().busy_cycles() == busy_cycles_) return;
  busy_cycles_ = gpu_.core_clock().busy_cycles();
  if (gpu_.cycle() < next_) return;
  // Edges of the memory's clocks at this instant may precede or follow the core clock's. A delta cycle later all are
  // over, so the order has no effect.
  due_.notify(sc_core::SC_ZERO_TIME);
}

double power_cap::in_sms(std::uint32_t launch) {
  double sum = 0;
  for (unsigned i = 0; i < gpu_.sm_count(); ++i)
    if (energy_.ran_on(launch, i)) sum += energy_.in_sm(launch, i).units.sum();
  return sum;
}

power_cap::counted power_cap::count() {
  running_.update([this](std::uint32_t launch) { closed_ += in_sms(launch); });
  const cycle_t now = gpu_.cycle();
  counted c;
  c.chip = closed_ + energy_.all_contexts();
  const auto launches = static_cast<std::uint32_t>(gpu_.cwd().grids().size());
  for (const std::uint32_t launch : running_.all()) c.chip += in_sms(launch);
  for (unsigned i = 0; i < gpu_.sm_count(); ++i) c.active_time += energy_.active_time(i, now);
  for (std::uint32_t launch = 0; launch < launches; ++launch) {
    const energy_sums beside = energy_.beside_sms(launch);
    c.dram += beside.units[energy_unit::dram];
    c.chip += beside.units.sum() - beside.units[energy_unit::dram];
  }
  c.time = energy_.time(now);
  c.static_time = energy_.static_time(now);
  return c;
}

void power_cap::exchange(state_image& image) {
  image.part(name());
  const std::uint64_t busy = gpu_.core_clock().busy_cycles();
  bool is_behind = busy_cycles_ != busy;
  image(ledger_, next_, is_behind, running_, closed_, before_);
  if (image.reading()) busy_cycles_ = is_behind ? busy - 1 : busy;
}

// The expected power of another clock: events come in proportion to it, which is right where they do not wait for
// device memory, and otherwise corrected by the next decision.
void power_cap::decide() {
  const cycle_t now = gpu_.cycle();
  const energy_parameters& e = gpu_.config().energy;
  next_ = (now / e.power_cap_interval_cycles + 1) * e.power_cap_interval_cycles;
  const counted c = count();
  const double seconds = energy_.seconds(c.time - before_.time);
  if (seconds <= 0) return;
  const double chip = (c.chip - before_.chip) / seconds, dram = (c.dram - before_.dram) / seconds;
  const double active = energy_.seconds(c.active_time - before_.active_time) / seconds;
  const double all = gpu_.sm_count() * energy_.seconds(c.static_time - before_.static_time) / seconds;
  const double at_rest =
      energy_.prices().active_sm_watts * active + energy_.prices().idle_sm_watts * std::max(0.0, all - active);
  before_ = c;
  const double most = gpu_.config().gpu.core_clock_mhz, least = std::max(e.least_clock_mhz, most / 8);
  const double present = ledger_.clock_mhz(), present_volts = ledger_.volts_ratio(present);
  const double present_static = ledger_.static_ratio(present);
  const auto expected = [&](double mhz) {
    const double faster = mhz / present, volts = ledger_.volts_ratio(mhz) / present_volts;
    return e.constant_watts + dram * faster + chip * faster * volts * volts +
           at_rest * ledger_.static_ratio(mhz) / present_static;
  };
  double mhz = most;
  for (unsigned step = 1; expected(mhz) > e.power_cap_watts && mhz > least; ++step)
    mhz = std::max(least, most - step * e.clock_step_mhz);
  if (mhz == present) return;
  ledger_.change(now, mhz);
  gpu_.dram_clock().change_frequency(memory_clock_mhz_ * most / mhz);
}

}  // namespace heddle
