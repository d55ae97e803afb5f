// SPDX-License-Identifier: MIT
#include "heddle/observe/power_signals.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "heddle/config/error.h"
#include "heddle/gpu/gpu.h"
#include "heddle/memory/dram/memory_model.h"
#include "heddle/memory/l2/l2_cache.h"
#include "heddle/sm/sm.h"

namespace heddle {

namespace {

constexpr unsigned bits = 32;

std::vector<unsigned> sms_among(const std::vector<const sc_core::sc_object*>& modules) {
  std::vector<unsigned> sms;
  for (const sc_core::sc_object* module : modules)
    if (const auto* s = dynamic_cast<const sm*>(module)) sms.push_back(s->id());
  return sms;
}

}  // namespace

power_signals::power_signals(const gpu& g, const power_ledger* ledger,
                             const std::vector<const sc_core::sc_object*>& modules, sc_core::sc_trace_file* file)
    : gpu_(g),
      energy_(g, ledger),
      probe_(g, ledger, sms_among(modules)),
      clock_mhz_(narrow<std::uint32_t>(std::llround(g.config().gpu.core_clock_mhz))) {
  const std::string chip = std::string(g.name()) + ".power.";
  if (ledger != nullptr) sc_core::sc_trace(file, clock_mhz_, chip + "core_clock_mhz", bits);
  add(file, chip + "chip_mw", none, energy_unit::count);
  for (const energy_unit u : {energy_unit::interconnect, energy_unit::l2, energy_unit::dram})
    add(file, chip + name_of(u) + "_mw", none, u);
  for (const sc_core::sc_object* module : modules) {
    const auto* s = dynamic_cast<const sm*>(module);
    if (s == nullptr) {
      add_memory(file, *module);
      continue;
    }
    const std::string name = std::string(s->name()) + ".power.";
    add(file, name + "sm_mw", s->id(), energy_unit::count);
    for (unsigned u = 0; u < static_cast<unsigned>(energy_unit::context); ++u)
      add(file, name + name_of(static_cast<energy_unit>(u)) + "_mw", s->id(), static_cast<energy_unit>(u));
  }
}

void power_signals::add_memory(sc_core::sc_trace_file* file, const sc_core::sc_object& module) {
  const auto traced = [&](bool slice, unsigned index, const char* unit) {
    memory_signals_.push_back({slice, index});
    sc_core::sc_trace(file, memory_signals_.back().power.value, std::string(module.name()) + ".power." + unit + "_mw",
                      bits);
  };
  for (unsigned i = 0; i < gpu_.slice_count(); ++i)
    if (&gpu_.slice_at(i) == &module) traced(true, i, name_of(energy_unit::l2));
  for (unsigned i = 0; i < gpu_.channel_count(); ++i)
    if (&gpu_.channel_at(i) == &module) traced(false, i, name_of(energy_unit::dram));
}

void power_signals::sample_memory(double seconds) {
  for (memory_signal& s : memory_signals_) {
    const double joules = s.slice ? energy_.in_slice(s.index) : energy_.in_channel(s.index);
    const double watts = (joules - s.joules) * (s.slice ? energy_.present_factor() : 1) / seconds;
    s.joules = joules;
    s.power.set(watts, seconds);
  }
}

void power_signals::add(sc_core::sc_trace_file* file, const std::string& name, unsigned sm, energy_unit u) {
  signals_.push_back({sm, u});
  sc_core::sc_trace(file, signals_.back().power.value, name, bits);
}

double power_signals::watts_of(const signal& s) const {
  if (s.sm == none) return s.unit == energy_unit::count ? probe_.chip_watts() : probe_.shared_watts(s.unit);
  return s.unit == energy_unit::count ? probe_.sm_watts(s.sm) : probe_.unit_watts(s.sm, s.unit);
}

void power_signals::whole_milliwatts::set(double watts, double seconds) {
  constexpr double most = std::numeric_limits<std::uint32_t>::max();
  const double mj = 1000 * watts * seconds;
  // What a long window leaves over is little power there, but may be much in a short one.
  const double carried = std::clamp(left_mj, -0.5 * seconds, 0.5 * seconds);
  value = narrow<std::uint32_t>(std::llround(std::clamp((mj + carried) / seconds, 0.0, most)));
  left_mj += mj - value * seconds;
}

void power_signals::after_cycle(cycle_t cycle) {
  if (cycle < next_) return;
  take(cycle);
  next_ = (cycle / window_cycles + 1) * window_cycles;
}

void power_signals::finish(cycle_t cycle) {
  if (cycle > cycle_) take(cycle);
}

void power_signals::take(cycle_t cycle) {
  probe_.advance(cycle);
  const double seconds = energy_.seconds(energy_.time(cycle) - energy_.time(cycle_));
  sample_memory(seconds);
  cycle_ = cycle;
  clock_mhz_ = narrow<std::uint32_t>(std::llround(probe_.clock_mhz()));
  for (signal& s : signals_) s.power.set(watts_of(s), seconds);
}

}  // namespace heddle
