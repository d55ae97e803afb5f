// SPDX-License-Identifier: MIT
// The energy of a launch in an SM.
#include <algorithm>
#include <map>
#include <utility>

#include "heddle/config/error.h"
#include "heddle/energy/energy_account.h"
#include "heddle/energy/energy_prices.h"
#include "heddle/energy/power_ledger.h"
#include "heddle/gpu/cwd/grid_distributor.h"
#include "heddle/gpu/gpu.h"
#include "heddle/sm/sm.h"
#include "heddle/sub_partition/account/ended_profile.h"
#include "heddle/tlm/protocol/gpu_request.h"

namespace heddle {

namespace {

using unit = energy_unit;
using sums = energy_account::sums;

std::uint64_t replays_of(const issue_counters& c) { return c.shared_replays + c.global_replays + c.constant_replays; }

}  // namespace

energy_account::sm_events& energy_account::events_of(launch_costs& costs, unsigned sm) {
  std::vector<sm_events>& sms = costs.sms;
  auto at = std::lower_bound(sms.begin(), sms.end(), sm, [](const sm_events& e, unsigned i) { return e.sm < i; });
  if (at == sms.end() || at->sm != sm) {
    at = sms.emplace(at);
    at->sm = sm;
  }
  return *at;
}

const energy_account::price_list& energy_account::prices_of_launch(std::uint32_t launch, unsigned sm) {
  return prices_of_launch(costs_of(launch), *sms_[sm]->profiles.at(launch).program());
}

const energy_account::price_list& energy_account::prices_of_launch(launch_costs& costs,
                                                                   const decoded_program& program) {
  if (costs.prices == nullptr) costs.prices = &prices_of_program(program);
  return *costs.prices;
}

// Launches of one kernel share its program.
const energy_account::price_list& energy_account::prices_of_program(const decoded_program& program) {
  const auto [known, unknown] = price_lists_.try_emplace(&program);
  price_list& list = known->second;
  if (!unknown) return list;
  list.energies = energies_of(program, prices_);
  std::map<std::pair<double, double>, std::size_t> found;
  for (const instruction_energy& e : list.energies) {
    const instruction_price p = {prices_.instruction_pj + e.unit_per_warp, e.unit_per_lane + e.registers_per_lane};
    const auto [at, is_new] = found.try_emplace({p.executed, p.lanes}, list.prices.size());
    if (is_new) list.prices.push_back(p);
    list.price_of.push_back(at->second);
  }
  return list;
}

void energy_account::add_instruction(sums& to, const instruction_energy& e, std::uint64_t warps,
                                     std::uint64_t lanes) const {
  const double control = joules(warps, prices_.instruction_pj);
  const double registers = joules(lanes, e.registers_per_lane);
  const double operation = joules(warps, e.unit_per_warp) + joules(lanes, e.unit_per_lane);
  to.units[unit::control] += control;
  to.units[unit::registers] += registers;
  to.units[e.unit] += operation;
  to.classes[e.purpose] += control + registers + operation;
}

void energy_account::add_replays(sums& to, std::uint64_t replays) const {
  const double replayed = joules(replays, prices_.instruction_pj);
  to.units[unit::control] += replayed;
  to.classes[energy_class::replays] += replayed;
}

std::uint64_t energy_account::replays_in(std::uint32_t launch, unsigned sm) const {
  std::uint64_t replays = 0;
  for (const auto& p : sms_[sm]->partitions)
    if (const issue_counters* c = p.account.counters.find(launch)) replays += replays_of(*c);
  return replays;
}

void energy_account::memory_joules::add_to(sums& all) const {
  all.add_memory(unit::shared_memory, shared);
  all.add_memory(unit::constant_cache, constants);
  all.add_memory(unit::tlb, translations);
  all.add_memory(unit::l1, l1);
  all.add_memory(unit::interconnect, requests);
}

energy_account::memory_joules energy_account::in_memory_of(std::uint32_t launch, unsigned sm) const {
  sm_events e;
  e.find_memory(*sms_[sm], launch);
  return in_memory_of(e);
}

energy_account::memory_joules energy_account::in_memory_of(const sm_events& known) const {
  const energy_parameters& p = prices_;
  memory_joules j;
  if (const shared_memory_counters* s = known.shared; s != nullptr)
    j.shared =
        joules(s->load_transactions + s->store_transactions + s->atomic_transactions + s->operand_passes, p.shared_pj);
  if (known.constants != nullptr) j.constants = joules(known.constants->accesses, p.constant_pj);
  if (known.translations != nullptr) j.translations = joules(known.translations->accesses, p.tlb_pj);
  if (known.l1 != nullptr) {
    const l1_counters& c = *known.l1;
    const std::uint64_t fetched = c.reads - (c.hits - c.write_hits) - c.pending_hits;
    const double delivered = number_of(c.delivered_words) / words_per_sector;
    j.l1 = joules(delivered, p.l1_read_hit_pj) + joules(fetched, p.l1_read_miss_pj) +
           joules(c.write_hits, p.l1_write_hit_pj) + joules(c.writes - c.write_hits, p.l1_write_miss_pj);
    // A header for each packet; a flit for each sector that travels with it; an atomic has a flit of operands and one
    // of results.
    const std::uint64_t flits = c.read_requests + c.write_requests + c.atomics + c.fills + c.writes + 2 * c.atomics +
                                c.instruction_requests + c.instruction_sectors + c.bulk_reads + c.bulk_writes +
                                c.bulk_sectors;
    j.requests = joules(flits, p.flit_pj);
  }
  if (known.cluster != nullptr) j.requests += joules(known.cluster->flits, p.cluster_flit_pj);
  return j;
}

sums energy_account::counted_in_sm(std::uint32_t launch, unsigned sm) {
  sums s;
  const launch_profile& profile = sms_[sm]->profiles.at(launch);
  invariant(!profile.dropped(), "the energy of a launch by unit was asked for after its end");
  if (profile.size() != 0) {
    const std::vector<instruction_energy>& energies = prices_of_launch(launch, sm).energies;
    for (std::size_t i = 0; i < profile.size(); ++i)
      if (const std::uint64_t executed = profile.count(i, launch_profile::executed); executed != 0)
        add_instruction(s, energies[i], executed, profile.count(i, launch_profile::lanes));
    add_replays(s, replays_in(launch, sm));
  }
  in_memory_of(launch, sm).add_to(s);
  return s;
}

// Without a ledger, an SM's joules are known from its counts; units and classes are those of the sum over SMs.
sums energy_account::in_sms(energy_metrics& m, std::uint32_t launch, const launch_code& code) {
  launch_costs& costs = with_all_sms(launch);
  m.active_sms.reserve(costs.sms.size());
  sums all;
  if (ledger_ != nullptr) {
    for (const sm_events& of : costs.sms) {
      const sums s = in_sm(launch, of.sm);
      const double requests = s.units[unit::interconnect];
      all.add(s);
      m.active_sms.push_back({of.sm, s.units.sum() - requests, requests});
    }
    return all;
  }
  std::uint64_t replays = 0;
  for (sm_events& of : costs.sms) {
    const double joules = joules_of(launch, costs, of);
    of.memory.add_to(all);
    replays += of.replays;
    m.active_sms.push_back({of.sm, joules - of.memory.requests, of.memory.requests});
  }
  if (code.program == nullptr) return all;
  const std::vector<instruction_energy>& energies = prices_of_launch(costs, *code.program).energies;
  for (std::size_t i = 0; i < code.counts.size(); ++i) {
    const profile_counts& c = code.counts[i].counts;
    if (c[launch_profile::executed] != 0)
      add_instruction(all, energies[i], c[launch_profile::executed], c[launch_profile::lanes]);
  }
  add_replays(all, replays);
  return all;
}

double energy_account::joules_in_sm(std::uint32_t launch, unsigned sm) {
  const launch_profile* profile = sms_[sm]->profiles.find(launch);
  if (profile == nullptr || profile->size() == 0) return 0;
  launch_costs& costs = costs_of(launch);
  return joules_of(launch, costs, events_of(costs, sm));
}

// Of an SM to which the launch has come.
double energy_account::joules_of(std::uint32_t launch, launch_costs& costs, sm_events& known) {
  if (ledger_ != nullptr) {
    const sums s = in_sm(launch, known.sm);
    known.memory.requests = s.units[unit::interconnect];
    return s.units.sum();
  }
  const std::uint64_t events = known.count(*sms_[known.sm], launch);
  if (known.events == events) return known.joules;
  known.events = events;
  known.memory = in_memory_of(known);
  known.joules = joules(1.0, instruction_pj(launch, costs, known)) + joules(known.replays, prices_.instruction_pj) +
                 known.memory.sum();
  return known.joules;
}

// A launch that has ended is hardly asked for again.
double energy_account::instruction_pj(std::uint32_t launch, launch_costs& costs, sm_events& known) {
  const launch_profile& profile = sms_[known.sm]->profiles.at(launch);
  if (profile.dropped()) return gpu_.cwd().grids()[launch].ended->instruction_pj(known.sm);
  const price_list& list = prices_of_launch(costs, *profile.program());
  constexpr std::size_t short_program = 32;  // of which all is added as fast as what is new
  if (profile.has_overflowed() || profile.size() <= short_program || (costs.ended && known.instructions == nullptr))
    return once_.of(known.executed, profile, list);
  if (known.instructions == nullptr) known.instructions = std::make_unique<instruction_sum>();
  return known.instructions->up_to(known.executed, profile, list);
}

std::vector<std::pair<std::uint32_t, double>> energy_account::instruction_pj(std::uint32_t launch) {
  launch_costs& costs = with_all_sms(launch);
  std::vector<std::pair<std::uint32_t, double>> all;
  all.reserve(costs.sms.size());
  for (sm_events& of : costs.sms) {
    of.count(*sms_[of.sm], launch);
    all.emplace_back(of.sm, instruction_pj(launch, costs, of));
  }
  return all;
}

double energy_account::instruction_sum::of(std::uint64_t executed, const launch_profile& profile,
                                           const price_list& list) {
  of_price_.assign(list.prices.size(), {});
  if (profile.has_overflowed()) {
    for (std::size_t at = 0; at < profile.size(); ++at)
      of_price_[list.price_of[at]].add(profile.count(at, launch_profile::executed),
                                       profile.count(at, launch_profile::lanes));
    return pj_of(list);
  }
  const profile_line* line = profile.lines();
  for (std::size_t at = 0; executed != 0 && at < profile.size(); ++at, ++line) {
    if (line->low[launch_profile::executed] == 0) continue;
    of_price_[list.price_of[at]].add(line->low[launch_profile::executed], line->low[launch_profile::lanes]);
    executed -= line->low[launch_profile::executed];
  }
  return pj_of(list);
}

void energy_account::instruction_sum::changed_runs::keep(const run& r) {
  if (count_ < runs_.size()) runs_[count_++] = r;
}

// Code that goes on behind a stretch, and executed nothing of it again, will go on.
void energy_account::instruction_sum::changed_runs::follow(const run& before) {
  run& last = runs_[count_ - 1];
  if (last.first + 1 >= before.end) last.first = last.end - 1;
}

void energy_account::instruction_sum::changed_runs::assign(const changed_runs& o) {
  std::copy(o.begin(), o.end(), runs_.begin());
  count_ = o.count_;
}

// All have been found when their number is. Nearly all instructions of a program are unchanged: loops execute those
// that they have executed before, straight code goes on behind them, in as many places as warps are.
double energy_account::instruction_sum::up_to(std::uint64_t executed, const launch_profile& profile,
                                              const price_list& list) {
  seen_.resize(profile.size());
  of_price_.resize(list.prices.size());
  std::uint64_t left = executed - executed_;
  executed_ = executed;
  const auto add_changed = [&](std::size_t first, std::size_t end, changed_runs& found) {
    left = add_since(profile.lines(), list.price_of.data(), first, end, left, found);
  };
  changed_runs found;
  for (const changed_runs::run& r : changed_) {
    const std::size_t before = found.size();
    if (left != 0) add_changed(r.first, std::min(seen_.size(), r.end + changed_runs::longest_gap), found);
    if (found.size() != before) found.follow(r);
    else if (left == 0) found.keep(r);
    else if (r.age < changed_runs::most_age) found.keep({r.end - 1, r.end, r.age + 1});
  }
  if (left != 0) add_changed(0, seen_.size(), found);
  changed_.assign(found);
  return pj_of(list);
}

// Of the instructions [at, end), and of those behind them as long as no gap is longer than the longest. Returns what is
// left of `left`.
std::uint64_t energy_account::instruction_sum::add_since(const profile_line* lines, const std::size_t* price_of,
                                                         std::size_t at, std::size_t end, std::uint64_t left,
                                                         changed_runs& found) {
  const auto now = [lines](std::size_t i) {
    return lines[i].low[launch_profile::executed] | std::uint64_t{lines[i].low[launch_profile::lanes]} << 32;
  };
  const std::size_t size = seen_.size();
  std::uint64_t* const seen = seen_.data();
  changed_runs::run run = {0, 0, 0};
  const auto differs = [&](std::size_t i) { return now(i) ^ seen[i]; };
  while (left != 0 && at < end) {
    while (at + 4 <= end && (differs(at) | differs(at + 1) | differs(at + 2) | differs(at + 3)) == 0) at += 4;
    if (at == end) break;
    if (differs(at) == 0) {
      ++at;
      continue;
    }
    if (at > run.end + changed_runs::longest_gap || run.end == 0) {
      if (run.end != 0) found.keep(run);
      run.first = at;
    }
    // Neighbours often have one price.
    counts sum;
    std::size_t price = price_of[at];
    std::uint64_t more = now(at) - seen[at];
    do {
      seen[at] += more;
      const std::uint32_t more_executed = static_cast<std::uint32_t>(more);
      if (price_of[at] != price) {
        of_price_[price].add(sum.executed, sum.lanes);
        sum = {};
        price = price_of[at];
      }
      sum.add(more_executed, more >> 32);
      left -= more_executed;
      ++at;
    } while (at < size && (more = now(at) - seen[at]) != 0);
    of_price_[price].add(sum.executed, sum.lanes);
    run.end = at;
    end = std::max(end, std::min(size, at + changed_runs::longest_gap));
  }
  if (run.end != 0) found.keep(run);
  return left;
}

double energy_account::instruction_sum::pj_of(const price_list& list) const {
  double pj = 0;
  for (std::size_t i = 0; i < of_price_.size(); ++i)
    pj += number_of(of_price_[i].executed) * list.prices[i].executed +
          number_of(of_price_[i].lanes) * list.prices[i].lanes;
  return pj;
}

double energy_account::in_interconnect(std::uint32_t launch, unsigned sm) {
  if (ledger_ != nullptr) return in_sm(launch, sm).units[unit::interconnect];
  return in_memory_of(launch, sm).requests;
}

void energy_account::sm_events::find_issue(const heddle::sm& of, std::uint32_t launch) {
  issues = 0;
  for (const auto& p : of.partitions)
    if (const issue_counters* i = p.account.counters.find(launch)) issue.at(issues++) = i;
}

void energy_account::sm_events::find_memory(const heddle::sm& of, std::uint32_t launch) {
  const auto find = [launch](const auto*& known, const auto& counters) {
    if (known == nullptr) known = counters.find(launch);
  };
  find(shared, of.shared_memory.counters);
  find(constants, of.constant_cache.counters);
  find(translations, of.load_store_unit.tlb.counters);
  find(l1, of.l1.counters);
  if (of.cluster_port != nullptr) find(cluster, of.cluster_port->counters);
}

// Sums of counters that only grow: if it is what it was, so is each of them. Those that are left out grow with others.
std::uint64_t energy_account::sm_events::count(const heddle::sm& of, std::uint32_t launch) {
  executed = replays = 0;
  if (issues != of.partitions.size()) find_issue(of, launch);
  for (unsigned i = 0; i < issues; ++i) {
    executed += issue[i]->inst_executed;
    replays += replays_of(*issue[i]);
  }
  find_memory(of, launch);
  std::uint64_t all = executed + replays;
  if (shared != nullptr)
    all +=
        shared->load_transactions + shared->store_transactions + shared->atomic_transactions + shared->operand_passes;
  if (constants != nullptr) all += constants->accesses;
  if (translations != nullptr) all += translations->accesses;
  if (l1 != nullptr)
    all += l1->accesses + l1->delivered_words + l1->fills + l1->read_requests + l1->write_requests + l1->atomics +
           l1->instruction_requests + l1->instruction_sectors + l1->bulk_reads + l1->bulk_writes + l1->bulk_sectors;
  if (cluster != nullptr) all += cluster->flits;
  return all;
}

}  // namespace heddle
