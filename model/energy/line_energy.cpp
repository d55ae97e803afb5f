// SPDX-License-Identifier: MIT
// The energy of a launch by instruction.
#include <array>

#include "heddle/config/error.h"
#include "heddle/energy/energy_account.h"
#include "heddle/energy/energy_prices.h"
#include "heddle/energy/power_ledger.h"
#include "heddle/gpu/gpu.h"
#include "heddle/sm/sm.h"
#include "heddle/sub_partition/dependence/decoded_program.h"

namespace heddle {

namespace {

/// What an instruction has spent in units whose energy is counted for all of a launch's instructions together, pJ at
/// the voltage of the configuration; `executed` and `replays` are counts.
struct demand {
  double executed = 0;
  double replays = 0;
  double shared = 0;
  double constant = 0;
  double tlb = 0;
  double l1 = 0;
  double interconnect = 0;
  double l2 = 0;
  double dram_read = 0;
  double dram_write = 0;  // what was written in the L2, to be written back at some time
  bool asks = false;      // any but `executed` is not 0

  demand() = default;
  /// Of so many executions of an instruction, which have moved that.
  demand(const decoded_instruction& d, std::uint64_t times, const instruction_traffic& moved,
         const energy_parameters& p)
      : executed(static_cast<double>(times)) {
    if (accesses_memory(d)) add(moved, p);
    if (!d.has_constant) return;
    constant += executed;
    asks = true;
  }
  void add(const demand& d) {
    executed += d.executed;
    if (!d.asks) return;
    replays += d.replays, shared += d.shared, constant += d.constant, tlb += d.tlb, l1 += d.l1;
    interconnect += d.interconnect, l2 += d.l2, dram_read += d.dram_read, dram_write += d.dram_write;
  }
  /// The sum of products, but for `executed`.
  [[nodiscard]] double times(const demand& d) const {
    return replays * d.replays + shared * d.shared + constant * d.constant + tlb * d.tlb + l1 * d.l1 +
           interconnect * d.interconnect + l2 * d.l2 + dram_read * d.dram_read + dram_write * d.dram_write;
  }
  void add(const instruction_traffic& t, const energy_parameters& p) {
    asks = true;
    const auto pj = [](std::uint64_t events, double each) { return static_cast<double>(events) * each; };
    replays += static_cast<double>(t.replays);
    shared += static_cast<double>(t.shared_passes);
    constant += static_cast<double>(t.constant_reads);
    tlb += static_cast<double>(t.translations);
    l1 += pj(t.l1_words, p.l1_read_hit_pj / words_per_sector) + pj(t.l1_fetched, p.l1_read_miss_pj) +
          pj(t.l1_write_hits, p.l1_write_hit_pj) + pj(t.l1_write_misses, p.l1_write_miss_pj);
    interconnect += pj(t.flits, p.flit_pj) + pj(t.cluster_flits, p.cluster_flit_pj);
    l2 += pj(t.l2_read_hits, p.l2_read_hit_pj) + pj(t.l2_read_misses, p.l2_read_miss_pj) +
          pj(t.l2_write_hits + t.atomics, p.l2_write_hit_pj) + pj(t.l2_write_misses, p.l2_write_miss_pj);
    dram_read += pj(t.fetched_sectors, p.dram_read_pj);
    dram_write += pj(t.l2_write_hits + t.l2_write_misses + t.atomics, p.dram_write_pj);
  }
};

double of_instructions(const joules_by<energy_class>& classes) {
  return classes.sum() - classes[energy_class::memory] - classes[energy_class::replays];
}

/// How the energy of units is divided among instructions: joules for each unit of a demand, and for each execution.
class division {
 public:
  division(const std::vector<demand>& demands, const demand& other) : other_(other) {
    for (const demand& d : demands) all_.add(d);
  }

  /// In proportion to a member of the demands. What no instruction has asked for, and everything if none has asked, is
  /// shared by the executed ones.
  void share(double joules, double demand::*by) {
    if (joules == 0) return;
    const double all = all_.*by + other_.*by;
    const double shared = all > 0 ? joules * (other_.*by / all) : joules;
    by_execution_ += shared;
    if (all_.*by > 0) each_.*by = (joules - shared) / (all_.*by);
  }

  /// Of an instruction's demand, without what no instruction has asked for.
  [[nodiscard]] double of(const demand& d) const { return d.times(each_); }
  /// Before any instruction has executed, only reads of code have cost something: the first one gets it.
  void add_to(instruction_joules& joules, const std::vector<demand>& demands) const {
    std::vector<double>& of = joules.of;
    if (of.empty()) return;
    if (all_.executed == 0) of.front() += by_execution_;
    const double shared = all_.executed > 0 ? by_execution_ / all_.executed + each_.executed : 0;
    for (std::size_t i = 0; i < of.size(); ++i) {
      const demand& d = demands[i];
      if (d.executed == 0) continue;
      of[i] += d.executed * shared;
      if (d.asks) of[i] += d.times(each_);
    }
  }

 private:
  const demand& other_;
  demand all_, each_;
  double by_execution_ = 0;
};

}  // namespace

// Under a power cap, an SM's counts weigh as much as its energy is of that at the configured voltage.
energy_account::execution_joules energy_account::of_instructions_alone(
    std::uint32_t launch, const launch_code& code, const std::vector<instruction_energy>& energies) {
  execution_joules joules;
  joules.of_warps.resize(code.counts.size());
  joules.of_lanes.resize(code.counts.size());
  const auto add = [&](std::size_t i, double weight, std::uint64_t executed, std::uint64_t lanes) {
    const instruction_energy& e = energies[i];
    joules.of_warps[i] +=
        weight * joules_per_pj * static_cast<double>(executed) * (prices_.instruction_pj + e.unit_per_warp);
    joules.of_lanes[i] +=
        weight * joules_per_pj * static_cast<double>(lanes) * (e.unit_per_lane + e.registers_per_lane);
  };
  constexpr auto executed = launch_profile::executed, lanes = launch_profile::lanes;
  if (ledger_ == nullptr) {
    for (std::size_t i = 0; i < code.counts.size(); ++i)
      add(i, 1, code.counts[i].counts[executed], code.counts[i].counts[lanes]);
    return joules;
  }
  for (const sm_events& of : with_all_sms(launch).sms) {
    const unsigned m = of.sm;
    const sums counted = counted_in_sm(launch, m);
    const double configured = of_instructions(counted.classes);
    if (configured <= 0) continue;
    const double weight = of_instructions(ledger_->in_sm(launch, m, counted).classes) / configured;
    const launch_profile& profile = sms_[m]->profiles.at(launch);
    for (std::size_t i = 0; i < profile.size(); ++i)
      add(i, weight, profile.count(i, executed), profile.count(i, lanes));
  }
  return joules;
}

instruction_joules energy_account::by_instruction(std::uint32_t launch, const launch_counts& counts,
                                                  const energy_metrics& whole,
                                                  const std::vector<const block_counts*>& of_blocks) {
  const launch_code& code = counts.code;
  instruction_traffic of_none;
  for (const sm_events& of : with_all_sms(launch).sms)
    if (const instruction_traffic* t = sms_[of.sm]->l1.other_traffic.find(launch)) of_none.add(*t);
  std::vector<demand> demands(code.counts.size());
  execution_joules alone;
  instruction_joules joules;
  if (code.program != nullptr) {
    alone = of_instructions_alone(launch, code, prices_of_program(*code.program)->energies);
    joules.of.reserve(demands.size());
    for (std::size_t i = 0; i < demands.size(); ++i) joules.of.push_back(alone.of_warps[i] + alone.of_lanes[i]);
    for (std::size_t i = 0; i < demands.size(); ++i) {
      const std::uint64_t executed = code.counts[i].counts[launch_profile::executed];
      if (executed == 0) continue;
      const decoded_instruction& d = code.program->code[i];
      demands[i] = demand(d, executed, code.counts[i].traffic, prices_);
    }
  }
  demand other;
  other.add(of_none, prices_);
  using unit = energy_unit;
  division d(demands, other);
  const auto share = [&d](double of, double demand::*by) { d.share(of, by); };
  share(whole.by_class[energy_class::replays], &demand::replays);
  share(whole.by_unit[unit::shared_memory], &demand::shared);
  share(whole.by_unit[unit::constant_cache], &demand::constant);
  share(whole.by_unit[unit::tlb], &demand::tlb);
  share(whole.by_unit[unit::l1], &demand::l1);
  share(whole.by_unit[unit::interconnect], &demand::interconnect);
  share(whole.by_unit[unit::l2], &demand::l2);
  const double written = dram_share_of_writes(counts.beside_sms) * whole.by_unit[unit::dram];
  share(whole.by_unit[unit::dram] - written, &demand::dram_read);
  share(written, &demand::dram_write);
  share(whole.by_unit[unit::context], &demand::executed);
  d.add_to(joules, demands);
  for (const block_counts* blocks : of_blocks) {
    double sum = 0;
    for (std::uint32_t i = 0; i < demands.size(); ++i) {
      const execution_count& own = blocks->at(i);
      if (own.warps == 0) continue;
      const decoded_instruction& instruction = code.program->code[i];
      const instruction_traffic moved =
          accesses_memory(instruction) ? blocks->traffic(code.program->accesses[i]) : instruction_traffic{};
      const auto lanes = static_cast<double>(code.counts[i].counts[launch_profile::lanes]);
      sum += static_cast<double>(own.warps) * alone.of_warps[i] / demands[i].executed;
      if (own.lanes != 0) sum += static_cast<double>(own.lanes) * alone.of_lanes[i] / lanes;
      sum += d.of(demand(instruction, own.warps, moved, prices_));
    }
    joules.of_blocks.push_back(sum);
  }
  return joules;
}

}  // namespace heddle
