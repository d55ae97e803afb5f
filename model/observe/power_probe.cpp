// SPDX-License-Identifier: MIT
#include "heddle/observe/power_probe.h"

#include <algorithm>

#include "heddle/gpu/cwd/grid_distributor.h"
#include "heddle/gpu/gpu.h"
#include "heddle/sm/sm.h"

namespace heddle {

using unit = energy_unit;

power_probe::power_probe(const gpu& g, const power_ledger* ledger, const std::vector<unsigned>& by_unit)
    : gpu_(g),
      energy_(g, ledger),
      running_(g.cwd()),
      by_unit_(g.sm_count()),
      closed_(g.sm_count()),
      before_(g.sm_count()),
      active_(g.sm_count()),
      watts_(g.sm_count()) {
  for (const unsigned sm : by_unit) by_unit_[sm] = true;
}

power_probe::joules power_probe::spent(std::uint32_t launch, unsigned sm) {
  if (by_unit_[sm]) return energy_.in_sm(launch, sm).units;
  joules j;
  j[unit::interconnect] = energy_.in_interconnect(launch, sm);
  j[unit::control] = energy_.joules_in_sm(launch, sm) - j[unit::interconnect];
  return j;
}

power_probe::joules power_probe::sm_joules(unsigned sm) {
  joules j = closed_[sm];
  for (const std::uint32_t launch : running_.all())
    if (energy_.ran_on(launch, sm)) j.add(spent(launch, sm));
  return j;
}

power_probe::joules power_probe::shared_joules() const {
  joules j;
  j[unit::l2] = closed_l2_;
  for (const std::uint32_t launch : running_.all()) j[unit::l2] += energy_.in_l2(launch);
  j[unit::dram] = energy_.in_dram();
  j[unit::context] = energy_.all_contexts();
  return j;
}

void power_probe::advance(cycle_t cycle) {
  if (cycle <= cycle_) return;
  running_.update([this](std::uint32_t launch) {
    closed_l2_ += energy_.in_l2(launch);
    for (unsigned i = 0; i < gpu_.sm_count(); ++i)
      if (energy_.ran_on(launch, i)) closed_[i].add(spent(launch, i));
  });
  const double seconds = energy_.seconds(energy_.time(cycle) - energy_.time(cycle_));
  const double powered = energy_.seconds(energy_.static_time(cycle) - energy_.static_time(cycle_));
  clock_mhz_ = energy_.mean_clock_mhz(cycle_, cycle);
  const auto rates = [seconds](const joules& now, const joules& before) {
    joules watts;
    for (std::size_t u = 0; u < now.values.size(); ++u)
      watts.values[u] = std::max(0.0, now.values[u] - before.values[u]) / seconds;
    return watts;
  };
  const joules shared = shared_joules();
  shared_watts_ = rates(shared, shared_before_);
  shared_watts_[unit::constant] = energy_.prices().constant_watts;
  shared_before_ = shared;
  chip_ = shared_watts_.sum();
  for (unsigned i = 0; i < gpu_.sm_count(); ++i) {
    const joules now = sm_joules(i);
    watts_[i] = rates(now, before_[i]);
    before_[i] = now;
    const double active = energy_.active_time(i, cycle);
    const double all = powered / seconds, share = std::min(all, energy_.seconds(active - active_[i]) / seconds);
    active_[i] = active;
    watts_[i][unit::active_sms] = energy_.prices().active_sm_watts * share;
    watts_[i][unit::idle_sms] = energy_.prices().idle_sm_watts * (all - share);
    chip_ += watts_[i].sum();
    shared_watts_[unit::interconnect] += watts_[i][unit::interconnect];
  }
  cycle_ = cycle;
}

double power_probe::sm_watts(unsigned sm) const { return watts_[sm].sum() - watts_[sm][unit::interconnect]; }

}  // namespace heddle
