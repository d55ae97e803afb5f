// SPDX-License-Identifier: MIT
#include "heddle/energy/power_records.h"

#include <algorithm>

#include "heddle/energy/energy_prices.h"
#include "heddle/gpu/cwd/grid_distributor.h"
#include "heddle/gpu/gpu.h"
#include "heddle/sm/sm.h"

namespace heddle {

namespace {

double grown(double priced, double counted, double now, double factor) { return priced + (now - counted) * factor; }

}  // namespace

power_records::power_records(const gpu& g)
    : gpu_(g), counts_(g), points_{{0, g.config().gpu.core_clock_mhz, 1, 1, 1, 0, 0, 0}}, sm_active_(g.sm_count()) {}

double power_records::volts_ratio(double clock_mhz) const {
  return core_volts(gpu_.config(), clock_mhz) / core_volts(gpu_.config());
}

double power_records::static_ratio(double clock_mhz) const {
  return heddle::static_ratio(gpu_.config(), clock_mhz) /
         heddle::static_ratio(gpu_.config(), gpu_.config().gpu.core_clock_mhz);
}

void power_records::change(cycle_t cycle, double clock_mhz) {
  const auto launches = static_cast<std::uint32_t>(gpu_.cwd().grids().size());
  launches_.reserve(launches);
  while (launches_.size() < launches) {
    launch_entry& e = launches_.emplace_back();
    e.energy_factor = energy_factor();
    e.time_factor = time_factor();
    e.sms.resize(gpu_.sm_count());
    e.active.resize(gpu_.sm_count());
  }
  const double slowness = gpu_.config().gpu.core_clock_mhz / clock_mhz, volts = volts_ratio(clock_mhz);
  const double of_static = static_ratio(clock_mhz);
  for (std::uint32_t launch = 0; launch < launches; ++launch) {
    launch_entry& e = launches_[launch];
    if (e.closed) continue;
    close(e, launch);
    e.closed = gpu_.cwd().grids()[launch].finished;
    e.energy_factor = volts * volts;
    e.time_factor = slowness * of_static;
  }
  for (unsigned i = 0; i < gpu_.sm_count(); ++i) {
    const auto active = static_cast<double>(gpu_.sm_at(i).resource_manager.sm_residency.until(cycle));
    sm_active_[i] = {grown(sm_active_[i].priced, sm_active_[i].counted, active, time_factor()), active};
  }
  points_.push_back(
      {cycle, clock_mhz, slowness, volts, of_static, time(cycle), static_time(cycle), throttled_cycles(cycle)});
}

void power_records::exchange(state_image& image) {
  image(points_, launches_);
  image.each(sm_active_);
}

// Prices what the launch has counted since the last change.
void power_records::close(launch_entry& e, std::uint32_t launch) {
  for (unsigned i = 0; i < gpu_.sm_count(); ++i) {
    const energy_sums counted = counts_.counted_in_sm(launch, i);
    e.sms[i] = {price(e.sms[i], counted, e.energy_factor), counted};
    const auto active =
        static_cast<double>(gpu_.sm_at(i).resource_manager.launch_residency.at(launch).until(gpu_.cycle()));
    e.active[i] = {grown(e.active[i].priced, e.active[i].counted, active, e.time_factor), active};
  }
  const energy_sums beside = counts_.beside_sms(launch);
  e.beside = {price(e.beside, beside, e.energy_factor), beside};
  const double contexts = counts_.counted_contexts(launch);
  e.contexts = {grown(e.contexts.priced, e.contexts.counted, contexts, e.energy_factor), contexts};
}

energy_sums power_records::price(const priced_energy& before, const energy_sums& counted, double factor) {
  energy_sums now;
  constexpr auto dram = static_cast<std::size_t>(energy_unit::dram);
  for (std::size_t u = 0; u < now.units.values.size(); ++u)
    now.units.values[u] = grown(before.priced.units.values[u], before.counted.units.values[u], counted.units.values[u],
                                u == dram ? 1 : factor);
  constexpr auto memory = static_cast<std::size_t>(energy_class::memory);
  for (std::size_t c = 0; c < now.classes.values.size(); ++c) {
    now.classes.values[c] =
        grown(before.priced.classes.values[c], before.counted.classes.values[c], counted.classes.values[c], factor);
    if (c == memory)
      now.classes.values[c] += (counted.units.values[dram] - before.counted.units.values[dram]) * (1 - factor);
  }
  return now;
}

energy_sums power_records::in_sm(std::uint32_t launch, unsigned sm, const energy_sums& counted) const {
  const launch_entry* e = entry_of(launch);
  return e == nullptr ? price({}, counted, energy_factor()) : price(e->sms[sm], counted, e->energy_factor);
}

energy_sums power_records::beside_sms(std::uint32_t launch, const energy_sums& counted) const {
  const launch_entry* e = entry_of(launch);
  return e == nullptr ? price({}, counted, energy_factor()) : price(e->beside, counted, e->energy_factor);
}

double power_records::contexts(std::uint32_t launch, double counted) const {
  const launch_entry* e = entry_of(launch);
  return e == nullptr ? counted * energy_factor()
                      : grown(e->contexts.priced, e->contexts.counted, counted, e->energy_factor);
}

double power_records::launch_active(std::uint32_t launch, unsigned sm, std::uint64_t counted) const {
  const launch_entry* e = entry_of(launch);
  const auto now = static_cast<double>(counted);
  return e == nullptr ? now * time_factor() : grown(e->active[sm].priced, e->active[sm].counted, now, e->time_factor);
}

double power_records::sm_active(unsigned sm, std::uint64_t counted) const {
  return grown(sm_active_[sm].priced, sm_active_[sm].counted, static_cast<double>(counted), time_factor());
}

const power_records::point& power_records::point_of(cycle_t cycle) const {
  return *std::find_if(points_.rbegin(), points_.rend(), [cycle](const point& p) { return p.from <= cycle; });
}

double power_records::time(cycle_t cycle) const {
  const point& p = point_of(cycle);
  return p.time + static_cast<double>(cycle - p.from) * p.slowness;
}

double power_records::static_time(cycle_t cycle) const {
  const point& p = point_of(cycle);
  return p.static_time + static_cast<double>(cycle - p.from) * p.slowness * p.static_ratio;
}

double power_records::least_clock_mhz(cycle_t from, cycle_t to) const {
  double least = points_.front().clock_mhz;
  for (std::size_t n = 0; n < points_.size(); ++n) {
    const bool ended = n + 1 < points_.size() && points_[n + 1].from <= from;
    if (!ended && points_[n].from < to) least = std::min(least, points_[n].clock_mhz);
  }
  return least;
}

std::uint64_t power_records::throttled_cycles(cycle_t cycle) const {
  const point& p = point_of(cycle);
  return p.throttled + (p.slowness > 1 ? cycle - p.from : 0);
}

}  // namespace heddle
