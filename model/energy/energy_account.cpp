// SPDX-License-Identifier: MIT
#include "heddle/energy/energy_account.h"

#include <algorithm>
#include <cmath>

#include "heddle/config/error.h"
#include "heddle/energy/energy_prices.h"
#include "heddle/gpu/cwd/grid_distributor.h"
#include "heddle/gpu/gpu.h"
#include "heddle/memory/dram/memory_model.h"
#include "heddle/memory/l2/l2_cache.h"
#include "heddle/sm/sm.h"
#include "heddle/tlm/protocol/gpu_request.h"

namespace heddle {

namespace {

using unit = energy_unit;
using sums = energy_account::sums;

constexpr std::uint64_t context_line_bytes = 128;

double lines_of(std::uint64_t bytes) { return static_cast<double>(bytes) / context_line_bytes; }
bool same(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b)); }

}  // namespace

energy_account::energy_account(const gpu& g, const power_ledger* ledger)
    : gpu_(g),
      prices_(prices_of(g.config())),
      cycle_seconds_(1e-6 / g.config().gpu.core_clock_mhz),
      ledger_(ledger),
      volts_(core_volts(g.config())) {
  for (unsigned i = 0; i < g.sm_count(); ++i) sms_.push_back(&g.sm_at(i));
  for (const sm* s : sms_) residencies_.push_back(&s->resource_manager.sm_residency);
  for (unsigned i = 0; i < g.slice_count(); ++i) slices_.push_back(&g.slice_at(i).counters());
  for (unsigned i = 0; i < g.channel_count(); ++i) channels_.push_back(&g.channel_at(i).counters());
  of_slices_ = slices_.front()->index();
  if (!channels_.empty()) of_channels_ = channels_.front()->index();
}

bool energy_account::ran_on(std::uint32_t launch, unsigned sm) const {
  return sms_[sm]->profiles.at(launch).size() != 0;
}

// A launch comes to no further SM if it has ended, and if each of its blocks is in another; a block that is preempted
// may go on elsewhere. Blocks go to SMs in turn, so the search goes on behind the last SM.
void energy_account::find_sms(std::uint32_t launch, launch_costs& costs) {
  if (costs.sms.size() == sms_.size()) return;
  const grid_record& grid = gpu_.cwd().grids()[launch];
  const std::uint64_t most = gpu_.cwd().context_switches().empty() ? grid.blocks() : never;
  costs.sms.reserve(std::min<std::uint64_t>(most, sms_.size()));
  for (std::size_t n = 0; n < sms_.size() && costs.sms.size() < most; ++n) {
    const unsigned i = next_sm_;
    next_sm_ = i + 1 < sms_.size() ? i + 1 : 0;
    if (const launch_profile* p = sms_[i]->profiles.find(launch); p != nullptr && p->size() != 0) events_of(costs, i);
  }
  costs.ended = grid.finished;
}

sums energy_account::in_sm(std::uint32_t launch, unsigned sm) {
  const sums counted = counted_in_sm(launch, sm);
  return ledger_ == nullptr ? counted : ledger_->in_sm(launch, sm, counted);
}

sums energy_account::beside_sms(std::uint32_t launch) const {
  sums s;
  add_beside_sms(s, launch, events_beside_sms(launch));
  return s;
}

energy_account::shared_joules energy_account::shared(std::uint32_t launch) const {
  if (ledger_ == nullptr) {
    const memory_events e = events_beside_sms(launch);
    return {joules_in_l2(e), joules_in_dram(e), contexts_of(launch)};
  }
  const sums s = beside_sms(launch);
  return {s.units[unit::l2], s.units[unit::dram], contexts_of(launch)};
}

double energy_account::contexts_of(std::uint32_t launch) const {
  const double counted = counted_contexts(launch);
  return ledger_ == nullptr ? counted : ledger_->contexts(launch, counted);
}

double energy_account::active_time(unsigned sm, cycle_t cycle) const {
  const std::uint64_t active = residencies_[sm]->until(cycle);
  return ledger_ == nullptr ? static_cast<double>(active) : ledger_->sm_active(sm, active);
}

void energy_account::active_times(cycle_t cycle, std::vector<double>& to) const {
  to.resize(residencies_.size());
  std::transform(residencies_.begin(), residencies_.end(), to.begin(),
                 [cycle](const residency* r) { return static_cast<double>(r->until(cycle)); });
  if (ledger_ == nullptr) return;
  for (unsigned i = 0; i < to.size(); ++i) to[i] = active_time(i, cycle);
}

double energy_account::mean_clock_mhz(cycle_t from, cycle_t to) const {
  const double mhz = gpu_.config().gpu.core_clock_mhz;
  if (ledger_ == nullptr) return mhz;
  const double taken = time(to) - time(from);
  // To the hertz: times are sums of rounded numbers.
  return taken > 0 ? std::round(mhz * static_cast<double>(to - from) / taken * 1e6) / 1e6 : mhz;
}

void memory_events::add(const l2_counters& slice) {
  l2_read_hits += slice.read_hits;
  l2_read_misses += slice.read_sectors - slice.read_hits;
  l2_writes += slice.write_hits + slice.atomics;
  l2_write_misses += slice.write_misses;
}

void memory_events::add(const memory_counters& channel) {
  dram_read_bytes += channel.read_bytes;
  dram_write_bytes += channel.write_bytes;
}

double energy_account::joules_in_l2(const memory_events& e) const {
  const energy_parameters& p = prices_;
  return joules(e.l2_read_hits, p.l2_read_hit_pj) + joules(e.l2_read_misses, p.l2_read_miss_pj) +
         joules(e.l2_writes, p.l2_write_hit_pj) + joules(e.l2_write_misses, p.l2_write_miss_pj);
}

double energy_account::joules_in_dram(const memory_events& e) const {
  return joules(number_of(e.dram_read_bytes) / sector_bytes, prices_.dram_read_pj) +
         joules(number_of(e.dram_write_bytes) / sector_bytes, prices_.dram_write_pj);
}

memory_events energy_account::events_in_l2(std::uint32_t launch) const {
  memory_events e;
  of_slices_->visit(launch, [&e](const l2_counters& c) { e.add(c); });
  return e;
}

memory_events energy_account::events_beside_sms(std::uint32_t launch) const {
  memory_events e = events_in_l2(launch);
  if (of_channels_ != nullptr) of_channels_->visit(launch, [&e](const memory_counters& c) { e.add(c); });
  return e;
}

void energy_account::add_beside_sms(sums& to, std::uint32_t launch, const memory_events& events) const {
  if (ledger_ != nullptr) {
    sums counted;
    add_counted(counted, events);
    return to.add(ledger_->beside_sms(launch, counted));
  }
  add_counted(to, events);
}

void energy_account::add_counted(sums& to, const memory_events& events) const {
  to.add_memory(unit::l2, joules_in_l2(events));
  to.add_memory(unit::dram, joules_in_dram(events));
}

double energy_account::in_l2(std::uint32_t launch) const {
  return ledger_ == nullptr ? joules_in_l2(events_in_l2(launch)) : beside_sms(launch).units[unit::l2];
}

// Device memory has a supply of its own, which a power cap does not change.
double energy_account::in_dram() const {
  memory_events all;
  for (const auto* channel : channels_)
    for (std::uint32_t launch = 0; launch < channel->end(); ++launch)
      if (const memory_counters* c = channel->find(launch)) all.add(*c);
  return joules_in_dram(all);
}

double energy_account::of_dram_bytes(std::uint64_t read, std::uint64_t written) const {
  memory_events all;
  all.dram_read_bytes = read;
  all.dram_write_bytes = written;
  return joules_in_dram(all);
}

double energy_account::dram_share_of_writes(const memory_events& e) const {
  const double whole = joules_in_dram(e);
  return whole > 0 ? of_dram_bytes(0, e.dram_write_bytes) / whole : 0;
}

double energy_account::in_slice(unsigned slice) const {
  const auto& counters = *slices_[slice];
  double sum = 0;
  for (std::uint32_t launch = 0; launch < counters.end(); ++launch)
    if (const l2_counters* c = counters.find(launch)) {
      memory_events e;
      e.add(*c);
      sum += joules_in_l2(e);
    }
  return sum;
}

double energy_account::in_channel(unsigned channel) const {
  const auto& counters = *channels_[channel];
  double sum = 0;
  for (std::uint32_t launch = 0; launch < counters.end(); ++launch)
    if (const memory_counters* c = counters.find(launch)) sum += of_dram_bytes(c->read_bytes, c->write_bytes);
  return sum;
}

double energy_account::present_factor() const {
  if (ledger_ == nullptr) return 1;
  const double volts = ledger_->volts_ratio(ledger_->clock_mhz());
  return volts * volts;
}

double energy_account::counted_contexts(std::uint32_t launch) const {
  double lines = 0;
  for (const auto& c : gpu_.cwd().context_switches())
    for (const switched_block& b : c->blocks)
      if (b.launch == launch) lines += lines_of(b.bytes_saved + b.bytes_restored);
  return joules(lines, prices_.context_line_pj);
}

double energy_account::all_contexts() const {
  if (ledger_ != nullptr) {
    double all = 0;
    for (std::uint32_t launch = 0; launch < gpu_.cwd().grids().size(); ++launch) all += contexts_of(launch);
    return all;
  }
  double lines = 0;
  for (const auto& c : gpu_.cwd().context_switches())
    for (const switched_block& b : c->blocks) lines += lines_of(b.bytes_saved + b.bytes_restored);
  return joules(lines, prices_.context_line_pj);
}

// Adds what is spent by time. `by_unit` and `by_class` hold the dynamic energy, `active_sms` all of the SMs'; `active`:
// the SMs' active_time.
void energy_account::finish(energy_metrics& m, cycle_t start, cycle_t end, double active) const {
  m.known = true;
  m.seconds = seconds(time(end) - time(start));
  m.volts = volts_;
  m.mean_clock_mhz = mean_clock_mhz(start, end);
  if (ledger_ != nullptr) {
    m.throttled_cycles = ledger_->throttled_cycles(end) - ledger_->throttled_cycles(start);
    m.least_clock_mhz = ledger_->least_clock_mhz(start, end);
  }
  const double all = gpu_.sm_count() * (static_time(end) - static_time(start));
  m.by_unit[unit::active_sms] = prices_.active_sm_watts * seconds(active);
  m.by_unit[unit::idle_sms] = prices_.idle_sm_watts * seconds(all - std::min(active, all));
  m.by_unit[unit::constant] = prices_.constant_watts * m.seconds;
  m.static_joules = m.by_unit[unit::active_sms] + m.by_unit[unit::idle_sms] + m.by_unit[unit::constant];
  m.total_joules = m.by_unit.sum();
  check_sums(m);
}

double energy_account::active_in(std::uint32_t launch, unsigned sm) const {
  const residency* unknown = nullptr;
  return active_in(launch, sm, gpu_.cycle(), unknown);
}

cycle_t energy_account::present_cycle() const { return gpu_.cycle(); }

// `known`: null until it is found.
double energy_account::active_in(std::uint32_t launch, unsigned sm, cycle_t now, const residency*& known) const {
  if (known == nullptr) known = sms_[sm]->resource_manager.launch_residency.find(launch);
  const std::uint64_t counted = known == nullptr ? 0 : known->until(now);
  return ledger_ == nullptr ? static_cast<double>(counted) : ledger_->launch_active(launch, sm, counted);
}

double energy_account::static_of_sm(double active, double whole) const {
  return prices_.active_sm_watts * seconds(active) + prices_.idle_sm_watts * seconds(whole - active);
}

energy_metrics energy_account::of_launch(std::uint32_t launch, const launch_counts& counts, cycle_t start,
                                         cycle_t end) {
  energy_metrics m;
  double all_active = 0;
  const double whole = static_time(end) - static_time(start);
  m.sms = static_cast<unsigned>(sms_.size());
  m.idle_sm_joules = static_of_sm(0, whole);
  sums all = in_sms(m, launch, counts.code);
  for (sm_joules& s : m.active_sms) {
    const double active = std::min(whole, active_in(launch, s.sm));
    all_active += active;
    s.total = s.dynamic + static_of_sm(active, whole);
  }
  add_beside_sms(all, launch, counts.beside_sms);
  all.units[unit::context] = all.classes[energy_class::context] = contexts_of(launch);
  m.by_unit = all.units;
  m.by_class = all.classes;
  m.active_cycles = all_active;
  finish(m, start, end, all_active);
  return m;
}

energy_metrics energy_account::of_run(const std::vector<const energy_metrics*>& launches, cycle_t end) const {
  energy_metrics m;
  m.sms = static_cast<unsigned>(sms_.size());
  m.active_sms.reserve(m.sms);
  for (unsigned i = 0; i < m.sms; ++i) m.active_sms.push_back({i});
  for (const energy_metrics* launch : launches) {
    m.by_class.add(launch->by_class);
    m.by_unit.add(launch->by_unit);
    for (const sm_joules& s : launch->active_sms) m.active_sms[s.sm].dynamic += s.dynamic;
  }
  end_run(m, end);
  return m;
}

void energy_account::end_run(energy_metrics& m, cycle_t end) const {
  double all_active = 0;
  const double whole = static_time(end);
  for (sm_joules& s : m.active_sms) {
    const double active = std::min(whole, active_time(s.sm, end));
    all_active += active;
    s.total = s.dynamic + static_of_sm(active, whole);
  }
  finish(m, 0, end, all_active);
}

switch_energy energy_account::of_switch(std::uint32_t launch, unsigned sm, std::uint64_t bytes_saved,
                                        std::uint64_t bytes_restored, double sm_cycles) const {
  const energy_parameters& p = prices_;
  const instruction_traffic& t = sms_[sm]->l1.context_traffic.at(launch);
  constexpr double sectors = static_cast<double>(context_line_bytes) / sector_bytes;
  // Of a line of which `hits` and `misses` were sectors.
  const auto in_l2 = [](std::uint64_t hits, double hit_pj, std::uint64_t misses, double miss_pj) {
    const double all = static_cast<double>(hits + misses);
    return all == 0 ? 0 : sectors * (static_cast<double>(hits) * hit_pj + static_cast<double>(misses) * miss_pj) / all;
  };
  const double fetched = static_cast<double>(t.fetched_sectors);
  const double read = static_cast<double>(t.l2_read_hits + t.l2_read_misses);
  const double memory = read == 0 ? 0 : sectors * fetched / read * (p.dram_read_pj + p.dram_write_pj);
  const double transfer = p.context_line_pj + (1 + sectors) * p.flit_pj;
  const double save = transfer + sectors * p.l1_write_miss_pj +
                      in_l2(t.l2_write_hits, p.l2_write_hit_pj, t.l2_write_misses, p.l2_write_miss_pj);
  const double restore = transfer + sectors * p.l1_read_miss_pj + memory +
                         in_l2(t.l2_read_hits, p.l2_read_hit_pj, t.l2_read_misses, p.l2_read_miss_pj);
  switch_energy e;
  e.known = true;
  e.transfer_joules = joules(lines_of(bytes_saved), save) + joules(lines_of(bytes_restored), restore);
  e.static_joules = p.active_sm_watts * seconds(sm_cycles);
  return e;
}

void check_sums(const energy_metrics& m) {
  double by_sm = m.by_unit[unit::interconnect] + m.by_unit[unit::l2] + m.by_unit[unit::dram] +
                 m.by_unit[unit::context] + m.by_unit[unit::constant];
  for (const sm_joules& s : m.active_sms) by_sm += s.total;
  by_sm += static_cast<double>(m.sms - m.active_sms.size()) * m.idle_sm_joules;
  invariant(same(m.total_joules, by_sm), "the energies of the SMs and of what they share differ from the units' sum");
  invariant(same(m.total_joules, m.static_joules + m.by_class.sum()),
            "the energies of the classes and the static energy differ from the units' sum");
}

}  // namespace heddle
