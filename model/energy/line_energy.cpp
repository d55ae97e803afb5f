// SPDX-License-Identifier: MIT
// The energy of a launch by instruction.
#include <memory>

#include "heddle/config/error.h"
#include "heddle/energy/energy_account.h"
#include "heddle/energy/energy_prices.h"
#include "heddle/energy/power_ledger.h"
#include "heddle/gpu/gpu.h"
#include "heddle/sm/sm.h"
#include "heddle/sub_partition/dependence/decoded_program.h"

namespace heddle {

/// What an instruction has spent in units whose energy is counted for all of a launch's instructions together, pJ at
/// the voltage of the configuration; `executed` and `replays` are counts.
struct energy_demand {
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

  energy_demand() = default;
  /// Of so many executions of an instruction, which have moved that.
  energy_demand(const decoded_instruction& d, std::uint64_t times, const instruction_traffic& moved,
                const energy_parameters& p)
      : executed(number_of(times)) {
    if (accesses_memory(d)) add(moved, p);
    if (!d.has_constant) return;
    constant += executed;
    asks = true;
  }
  void add(const energy_demand& d) {
    executed += d.executed;
    if (!d.asks) return;
    replays += d.replays, shared += d.shared, constant += d.constant, tlb += d.tlb, l1 += d.l1;
    interconnect += d.interconnect, l2 += d.l2, dram_read += d.dram_read, dram_write += d.dram_write;
  }
  /// The sum of products, but for `executed`.
  [[nodiscard]] double times(const energy_demand& d) const {
    return replays * d.replays + shared * d.shared + constant * d.constant + tlb * d.tlb + l1 * d.l1 +
           interconnect * d.interconnect + l2 * d.l2 + dram_read * d.dram_read + dram_write * d.dram_write;
  }
  void add(const instruction_traffic& t, const energy_parameters& p) {
    asks = true;
    const auto pj = [](std::uint64_t events, double each) { return number_of(events) * each; };
    replays += number_of(t.replays);
    shared += number_of(t.shared_passes);
    constant += number_of(t.constant_reads);
    tlb += number_of(t.translations);
    l1 += pj(t.l1_words, p.l1_read_hit_pj / words_per_sector) + pj(t.l1_fetched, p.l1_read_miss_pj) +
          pj(t.l1_write_hits, p.l1_write_hit_pj) + pj(t.l1_write_misses, p.l1_write_miss_pj);
    interconnect += pj(t.flits, p.flit_pj) + pj(t.cluster_flits, p.cluster_flit_pj);
    l2 += pj(t.l2_read_hits, p.l2_read_hit_pj) + pj(t.l2_read_misses, p.l2_read_miss_pj) +
          pj(t.l2_write_hits + t.atomics, p.l2_write_hit_pj) + pj(t.l2_write_misses, p.l2_write_miss_pj);
    dram_read += pj(t.fetched_sectors, p.dram_read_pj);
    dram_write += pj(t.l2_write_hits + t.l2_write_misses + t.atomics, p.dram_write_pj);
  }
};

/// The demands of a launch's instructions. Few ask for more than constants, which go with executions.
class launch_demands {
 public:
  struct access {
    std::size_t at;  // of the instruction
    energy_demand of;
  };
  void assign(const launch_code& code, const energy_parameters& prices) {
    all_ = {};
    accesses_.clear();
    for (std::size_t i = 0; i < code.counts.size(); ++i) {
      const std::uint64_t executed = code.counts[i].counts[launch_profile::executed];
      if (executed == 0) continue;
      const decoded_instruction& d = code.program->code[i];
      if (!accesses_memory(d)) {
        all_.executed += number_of(executed);
        if (d.has_constant) all_.constant += number_of(executed);
        continue;
      }
      accesses_.push_back({i, energy_demand(d, executed, code.counts[i].traffic, prices)});
      all_.add(accesses_.back().of);
    }
  }
  [[nodiscard]] const energy_demand& all() const { return all_; }
  /// In the program's order.
  [[nodiscard]] const std::vector<access>& accesses() const { return accesses_; }

 private:
  energy_demand all_;
  std::vector<access> accesses_;
};

namespace {

double of_instructions(const joules_by<energy_class>& classes) {
  return classes.sum() - classes[energy_class::memory] - classes[energy_class::replays];
}

/// How the energy of units is divided among instructions: joules for each unit of a demand, and for each execution.
class division {
 public:
  division(const launch_demands& demands, const energy_demand& other) : demands_(demands), other_(other) {}

  /// In proportion to a member of the demands. What no instruction has asked for, and everything if none has asked, is
  /// shared by the executed ones.
  void share(double joules, double energy_demand::*by) {
    if (joules == 0) return;
    const double asked = demands_.all().*by, all = asked + other_.*by;
    const double shared = all > 0 ? joules * (other_.*by / all) : joules;
    by_execution_ += shared;
    if (asked > 0) each_.*by = (joules - shared) / asked;
  }

  /// Of an instruction's demand, without what no instruction has asked for.
  [[nodiscard]] double of(const energy_demand& d) const { return d.times(each_); }
  /// alone(i): what instruction i costs without what is divided. Before any instruction has executed, only reads of
  /// code have cost something: the first one gets it.
  template <class Alone>
  void fill(std::vector<double>& of, const launch_code& code, Alone&& alone) const {
    of.resize(code.counts.size());
    const double executed = demands_.all().executed;
    const double shared = executed > 0 ? by_execution_ / executed + each_.executed : 0;
    for (std::size_t i = 0; i < of.size(); ++i) {
      const std::uint64_t count = code.counts[i].counts[launch_profile::executed];
      if (count == 0) {
        of[i] = 0;
        continue;
      }
      const double times = number_of(count);
      of[i] = alone(i).sum() + times * shared;
      const decoded_instruction& d = code.program->code[i];
      if (d.has_constant && !accesses_memory(d)) of[i] += times * each_.constant;
    }
    for (const launch_demands::access& a : demands_.accesses()) of[a.at] += a.of.times(each_);
    if (executed == 0 && !of.empty()) of.front() += by_execution_;
  }

 private:
  const launch_demands& demands_;
  const energy_demand& other_;
  energy_demand each_;
  double by_execution_ = 0;
};

}  // namespace

inline energy_account::execution_joules energy_account::alone_of(const instruction_price& p, std::uint64_t executed,
                                                                 std::uint64_t lanes) {
  return {joules_per_pj * number_of(executed) * p.executed, joules_per_pj * number_of(lanes) * p.lanes};
}

inline energy_account::execution_joules energy_account::alone_of(const price_list& list, const launch_code& code,
                                                                 std::size_t i) {
  const profile_counts& c = code.counts[i].counts;
  return alone_of(list.prices[list.price_of[i]], c[launch_profile::executed], c[launch_profile::lanes]);
}

// Under a power cap, an SM's counts weigh as much as its energy is of that at the configured voltage.
void energy_account::fill_executions(std::uint32_t launch, const launch_code& code, const price_list& list) {
  std::vector<execution_joules>& joules = executions_;
  joules.assign(code.counts.size(), {});
  constexpr auto executed = launch_profile::executed, lanes = launch_profile::lanes;
  if (ledger_ == nullptr) {
    for (std::size_t i = 0; i < joules.size(); ++i) joules[i] = alone_of(list, code, i);
    return;
  }
  for (const sm_events& of : with_all_sms(launch).sms) {
    const unsigned m = of.sm;
    const sums counted = counted_in_sm(launch, m);
    const double configured = of_instructions(counted.classes);
    if (configured <= 0) continue;
    const double weight = of_instructions(ledger_->in_sm(launch, m, counted).classes) / configured;
    const launch_profile& profile = sms_[m]->profiles.at(launch);
    for (std::size_t i = 0; i < profile.size(); ++i) {
      const execution_joules j =
          alone_of(list.prices[list.price_of[i]], profile.count(i, executed), profile.count(i, lanes));
      joules[i].of_warps += weight * j.of_warps;
      joules[i].of_lanes += weight * j.of_lanes;
    }
  }
}

// Of what no instruction has caused.
energy_demand energy_account::other_demand(std::uint32_t launch) {
  instruction_traffic traffic;
  bool any = false;
  for (const sm_events& of : with_all_sms(launch).sms) {
    const instruction_traffic* t = sms_[of.sm]->l1.other_traffic.find(launch);
    if (t == nullptr) continue;
    traffic.add(*t);
    any = true;
  }
  energy_demand other;
  if (any) other.add(traffic, prices_);
  return other;
}

// What a block has executed, without its part of what is divided; `asked` gets what that is divided by.
double energy_account::of_block(const block_counts& block, const launch_code& code, energy_demand& asked) const {
  double sum = 0;
  asked.add(block.moved, prices_);
  for (std::uint32_t i = 0; i < code.counts.size(); ++i) {
    const execution_count& own = block.at(i);
    if (own.warps == 0) continue;
    if (code.program->code[i].has_constant) asked.constant += static_cast<double>(own.warps);
    const profile_counts& all = code.counts[i].counts;
    sum +=
        static_cast<double>(own.warps) * executions_[i].of_warps / static_cast<double>(all[launch_profile::executed]);
    if (own.lanes != 0)
      sum += static_cast<double>(own.lanes) * executions_[i].of_lanes / static_cast<double>(all[launch_profile::lanes]);
  }
  return sum;
}

const instruction_joules& energy_account::by_instruction(std::uint32_t launch, const launch_counts& counts,
                                                         const energy_metrics& whole,
                                                         const std::vector<const block_counts*>& of_blocks) {
  const launch_code& code = counts.code;
  if (demands_ == nullptr) demands_ = std::make_shared<launch_demands>();
  launch_demands& demands = *demands_;
  demands.assign(code, prices_);
  const energy_demand other = other_demand(launch);
  using unit = energy_unit;
  division d(demands, other);
  const auto share = [&d](double of, double energy_demand::*by) { d.share(of, by); };
  share(whole.by_class[energy_class::replays], &energy_demand::replays);
  share(whole.by_unit[unit::shared_memory], &energy_demand::shared);
  share(whole.by_unit[unit::constant_cache], &energy_demand::constant);
  share(whole.by_unit[unit::tlb], &energy_demand::tlb);
  share(whole.by_unit[unit::l1], &energy_demand::l1);
  share(whole.by_unit[unit::interconnect], &energy_demand::interconnect);
  share(whole.by_unit[unit::l2], &energy_demand::l2);
  const double written = dram_share_of_writes(counts.beside_sms) * whole.by_unit[unit::dram];
  share(whole.by_unit[unit::dram] - written, &energy_demand::dram_read);
  share(written, &energy_demand::dram_write);
  share(whole.by_unit[unit::context], &energy_demand::executed);
  instruction_joules& joules = joules_;
  joules.of.clear();
  joules.of_blocks.clear();
  if (code.program == nullptr) return joules;
  const price_list& list = prices_of_launch(costs_of(launch), *code.program);
  if (ledger_ == nullptr && of_blocks.empty()) {
    d.fill(joules.of, code, [&](std::size_t i) { return alone_of(list, code, i); });
  } else {
    fill_executions(launch, code, list);
    d.fill(joules.of, code, [this](std::size_t i) -> const execution_joules& { return executions_[i]; });
  }
  for (const block_counts* block : of_blocks) {
    energy_demand asked;
    const double alone = of_block(*block, code, asked);
    joules.of_blocks.push_back(alone + d.of(asked));
  }
  return joules;
}

}  // namespace heddle
