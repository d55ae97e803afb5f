// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "heddle/energy/energy_metrics.h"
#include "heddle/energy/instruction_energy.h"
#include "heddle/energy/launch_counts.h"
#include "heddle/energy/power_ledger.h"
#include "heddle/memory/common/per_launch.h"
#include "heddle/tlm/kernel/unit_clock.h"

namespace heddle {

class gpu;
class launch_demands;
class power_records;
class sm;
struct energy_demand;
struct cluster_counters;
struct constant_cache_counters;
struct decoded_program;
struct issue_counters;
struct l1_counters;
struct l2_counters;
struct memory_counters;
struct residency;
struct shared_memory_counters;
struct tlb_counters;

/// The energy of a GPU's launches, computed from the units' counters when it is asked for: the units themselves do
/// nothing for it. All figures are up to now. `g` must outlive it, and so must `ledger`, which has the core's clock and
/// voltage over time; null: they are those of the configuration.
class energy_account {
 public:
  using sums = energy_sums;

  explicit energy_account(const gpu& g, const power_ledger* ledger = nullptr);

  /// False if no warp of the launch has come to the SM, so that it has spent nothing there.
  [[nodiscard]] bool ran_on(std::uint32_t launch, unsigned sm) const;
  /// Dynamic energy of a launch in one SM, its requests to the interconnect included.
  [[nodiscard]] sums in_sm(std::uint32_t launch, unsigned sm);
  /// Joules of in_sm() together: for those who ask again and again while the launch runs.
  [[nodiscard]] double joules_in_sm(std::uint32_t launch, unsigned sm);
  /// For each SM in which it has spent something, ascending: visit(sm, joules, requests, active): of its joules_in_sm()
  /// what its units spend, and what its requests to the interconnect do; active_in().
  template <class F>
  void visit_sms(std::uint32_t launch, F&& visit) {
    launch_costs& costs = with_all_sms(launch);
    const cycle_t now = present_cycle();
    for (sm_events& of : costs.sms) {
      const double joules = joules_of(launch, costs, of);
      visit(of.sm, joules - of.memory.requests, of.memory.requests, active_in(launch, of.sm, now, of.resident));
    }
  }
  /// Of the executed instructions alone, pJ: in each SM in which the launch has spent something, ascending.
  [[nodiscard]] std::vector<std::pair<std::uint32_t, double>> instruction_pj(std::uint32_t launch);
  /// A launch has ended, and is seldom asked for again: frees what is known of it.
  void forget(std::uint32_t launch) {
    if (launch < launches_.size()) launches_[launch] = {};
  }
  /// Of these, what its requests to the interconnect spend.
  [[nodiscard]] double in_interconnect(std::uint32_t launch, unsigned sm);
  /// Dynamic energy of a launch in the L2 and device memory.
  [[nodiscard]] sums beside_sms(std::uint32_t launch) const;
  /// The same, and that of its contexts, without units and classes.
  struct shared_joules {
    double l2 = 0;
    double dram = 0;
    double contexts = 0;

    [[nodiscard]] double sum() const { return l2 + dram + contexts; }
  };
  [[nodiscard]] shared_joules shared(std::uint32_t launch) const;
  /// Joules of a launch in the L2.
  [[nodiscard]] double in_l2(std::uint32_t launch) const;
  /// Joules of all launches in device memory.
  [[nodiscard]] double in_dram() const;
  /// Joules of so many bytes of device memory read and written.
  [[nodiscard]] double of_dram_bytes(std::uint64_t read, std::uint64_t written) const;
  /// Joules of all launches in one L2 slice and one memory channel, at the configured voltage.
  [[nodiscard]] double in_slice(unsigned slice) const;
  [[nodiscard]] double in_channel(unsigned channel) const;
  /// The present voltage squared to the configured one's.
  [[nodiscard]] double present_factor() const;
  /// Of contexts saved and restored in SMs: those of one launch, or of all.
  [[nodiscard]] double contexts_of(std::uint32_t launch) const;
  [[nodiscard]] double all_contexts() const;

  /// A launch that ran from `start` to `end`; `counts`: what it has counted up to now. Where launches overlap, each has
  /// the static energy of its own time.
  [[nodiscard]] energy_metrics of_launch(std::uint32_t launch, const launch_counts& counts, cycle_t start, cycle_t end);
  /// All launches, from cycle 0 to `end`, of which `launches` are the energies.
  [[nodiscard]] energy_metrics of_run(const std::vector<const energy_metrics*>& launches, cycle_t end) const;
  /// Lets of_run() end at another cycle: what is spent by time.
  void end_run(energy_metrics& m, cycle_t end) const;
  /// Dynamic energy of a launch by instruction of its program. What the memory system spends belongs to the instruction
  /// that causes it, in each level: a load that hits the L1 has no part in the energy of device memory. What is written
  /// back is divided by the sectors that instructions wrote in the L2; reads of code and contexts by executed
  /// instructions.
  /// `counts`: those of of_launch(); `whole`: all of the launch's energy. Valid until the next call.
  [[nodiscard]] const instruction_joules& by_instruction(std::uint32_t launch, const launch_counts& counts,
                                                         const energy_metrics& whole,
                                                         const std::vector<const block_counts*>& of_blocks = {});
  /// A switch of blocks of a launch on an SM. Its lines cost as much as all of the launch's there do in the mean. A
  /// sector that comes back from device memory was written there, too.
  [[nodiscard]] switch_energy of_switch(std::uint32_t launch, unsigned sm, std::uint64_t bytes_saved,
                                        std::uint64_t bytes_restored, double sm_cycles) const;

  [[nodiscard]] const energy_parameters& prices() const { return prices_; }
  /// Of the core clock without a power cap. Cycles of a slower clock are more of them, see time().
  [[nodiscard]] double seconds(double cycles) const { return cycles * cycle_seconds_; }
  /// Time of cycle `cycle`, in cycles of the configured core clock.
  [[nodiscard]] double time(cycle_t cycle) const {
    return ledger_ == nullptr ? static_cast<double>(cycle) : ledger_->time(cycle);
  }
  /// The same, each cycle weighted by the power of an SM without events at its clock and voltage.
  [[nodiscard]] double static_time(cycle_t cycle) const {
    return ledger_ == nullptr ? static_cast<double>(cycle) : ledger_->static_time(cycle);
  }
  /// What static_time() has of an SM's cycles with warps.
  [[nodiscard]] double active_time(unsigned sm, cycle_t cycle) const;
  /// The same of all SMs.
  void active_times(cycle_t cycle, std::vector<double>& to) const;
  /// Up to now, of an SM's cycles with warps of the launch.
  [[nodiscard]] double active_in(std::uint32_t launch, unsigned sm) const;
  /// Mean core clock between two cycles; that of the configuration without a power cap.
  [[nodiscard]] double mean_clock_mhz(cycle_t from, cycle_t to) const;

 private:
  friend class power_records;
  /// Static joules of an SM that had warps in `active` of `whole` cycles.
  [[nodiscard]] double static_of_sm(double active, double whole) const;
  [[nodiscard]] sums counted_in_sm(std::uint32_t launch, unsigned sm);
  [[nodiscard]] memory_events events_in_l2(std::uint32_t launch) const;
  [[nodiscard]] memory_events events_beside_sms(std::uint32_t launch) const;
  void add_beside_sms(sums& to, std::uint32_t launch, const memory_events& events) const;
  /// At the configured voltage.
  void add_counted(sums& to, const memory_events& events) const;
  /// Of a launch's energy in device memory.
  [[nodiscard]] double dram_share_of_writes(const memory_events& e) const;
  [[nodiscard]] double counted_contexts(std::uint32_t launch) const;
  /// Of an instruction: a warp instruction and each of its lanes, pJ.
  struct instruction_price {
    double executed = 0;
    double lanes = 0;
  };
  /// What a program's instructions cost.
  struct price_list {
    std::vector<instruction_energy> energies;
    std::vector<instruction_price> prices;  // different ones, of which instructions have few
    std::vector<std::size_t> price_of;      // by instruction
  };
  /// The energy of a launch's instructions in an SM, brought up to date by those that have executed since. These lie
  /// among or behind those of the time before, so of a long program a small part is visited. Counts of equal price
  /// are summed, so that the result does not depend on when it was asked for.
  class instruction_sum {
   public:
    /// pJ; `executed`: warp instructions of all the profile.
    double up_to(std::uint64_t executed, const launch_profile& profile, const price_list& list);
    /// The same, of all instructions, whether they have executed since or not.
    double of(std::uint64_t executed, const launch_profile& profile, const price_list& list);

   private:
    struct counts {
      std::uint64_t executed = 0;
      std::uint64_t lanes = 0;

      void add(std::uint64_t more, std::uint64_t more_lanes) {
        executed += more;
        lanes += more_lanes;
      }
    };
    /// Stretches of instructions that had executed since, as far as there is room for them.
    class changed_runs {
     public:
      static constexpr std::size_t longest_gap = 16;  // within a stretch
      static constexpr unsigned most_age = 8;
      struct run {
        std::size_t first, end;
        unsigned age;  // calls since it had changed
      };
      void keep(const run& r);
      void follow(const run& before);
      void assign(const changed_runs& o);
      [[nodiscard]] std::size_t size() const { return count_; }
      [[nodiscard]] const run* begin() const { return runs_.data(); }
      [[nodiscard]] const run* end() const { return runs_.data() + count_; }

     private:
      std::array<run, 8> runs_;  // the first `count_` have values
      std::uint32_t count_ = 0;
    };
    std::uint64_t add_since(const profile_line* lines, const std::size_t* price_of, std::size_t at, std::size_t end,
                            std::uint64_t left, changed_runs& found);
    [[nodiscard]] double pj_of(const price_list& list) const;

    // By instruction, warp instructions in the low half, lanes in the high one: all of its counts as long as none has
    // overflowed.
    std::vector<std::uint64_t> seen_;
    std::vector<counts> of_price_;  // by price
    std::uint64_t executed_ = 0;
    changed_runs changed_;
  };
  /// Joules of an SM's memory units in a launch.
  struct memory_joules {
    double shared = 0;
    double constants = 0;
    double translations = 0;
    double l1 = 0;
    double requests = 0;  // to the interconnect

    [[nodiscard]] double sum() const { return shared + constants + translations + l1 + requests; }
    void add_to(sums& all) const;
  };
  /// The counters of a launch in an SM, null until it has them, and what joules_of() found last.
  struct sm_events {
    unsigned sm = 0;
    unsigned issues = 0;                            // sub-partitions that are known to have worked for it
    std::array<const issue_counters*, 16> issue{};  // theirs, in the first places
    const shared_memory_counters* shared = nullptr;
    const constant_cache_counters* constants = nullptr;
    const tlb_counters* translations = nullptr;
    const l1_counters* l1 = nullptr;
    const cluster_counters* cluster = nullptr;
    const residency* resident = nullptr;
    std::unique_ptr<instruction_sum> instructions;  // of a long program, asked for while the launch ran
    std::uint64_t executed = 0;
    std::uint64_t replays = 0;
    std::uint64_t events = 0;
    double joules = 0;
    memory_joules memory;  // of these

    /// A number that grows with each event that costs energy. Counts `executed` and `replays` anew.
    std::uint64_t count(const heddle::sm& of, std::uint32_t launch);
    void find_issue(const heddle::sm& of, std::uint32_t launch);
    void find_memory(const heddle::sm& of, std::uint32_t launch);
  };
  /// A launch's program, and what it has cost in the SMs.
  struct launch_costs {
    bool ended = false;          // no further SM can come
    std::vector<sm_events> sms;  // in which it has spent something, ascending, as far as they are known
    const price_list* prices = nullptr;
  };
  const price_list& prices_of_program(const decoded_program& program);
  launch_costs& costs_of(std::uint32_t launch) {
    if (__builtin_expect(launch >= launches_.size(), 0)) launches_.resize(std::size_t{launch} + 1);
    return launches_[launch];
  }
  launch_costs& with_all_sms(std::uint32_t launch) {
    launch_costs& costs = costs_of(launch);
    if (!costs.ended) find_sms(launch, costs);
    return costs;
  }
  void find_sms(std::uint32_t launch, launch_costs& costs);
  static sm_events& events_of(launch_costs& costs, unsigned sm);
  double joules_of(std::uint32_t launch, launch_costs& costs, sm_events& known);
  double instruction_pj(std::uint32_t launch, launch_costs& costs, sm_events& known);
  double active_in(std::uint32_t launch, unsigned sm, cycle_t now, const residency*& known) const;
  [[nodiscard]] cycle_t present_cycle() const;
  /// Of a launch that has come to the SM.
  const price_list& prices_of_launch(std::uint32_t launch, unsigned sm);
  const price_list& prices_of_launch(launch_costs& costs, const decoded_program& program);
  /// Energy of `warps` executions of an instruction with `lanes` active lanes together.
  void add_instruction(sums& to, const instruction_energy& e, std::uint64_t warps, std::uint64_t lanes) const;
  void add_replays(sums& to, std::uint64_t replays) const;
  [[nodiscard]] std::uint64_t replays_in(std::uint32_t launch, unsigned sm) const;
  /// Dynamic energy of a launch in all of its SMs; `m` gets that of each.
  [[nodiscard]] sums in_sms(energy_metrics& m, std::uint32_t launch, const launch_code& code);
  /// Joules of an instruction without what it asks of the memory system: of its warp instructions, and of their lanes.
  struct execution_joules {
    double of_warps = 0;
    double of_lanes = 0;

    [[nodiscard]] double sum() const { return of_warps + of_lanes; }
  };
  [[nodiscard]] static execution_joules alone_of(const instruction_price& p, std::uint64_t executed,
                                                 std::uint64_t lanes);
  /// Of instruction `i` of a launch.
  [[nodiscard]] static execution_joules alone_of(const price_list& list, const launch_code& code, std::size_t i);
  void fill_executions(std::uint32_t launch, const launch_code& code, const price_list& list);
  [[nodiscard]] energy_demand other_demand(std::uint32_t launch);
  [[nodiscard]] double of_block(const block_counts& block, const launch_code& code, energy_demand& asked) const;
  [[nodiscard]] memory_joules in_memory_of(std::uint32_t launch, unsigned sm) const;
  [[nodiscard]] memory_joules in_memory_of(const sm_events& known) const;
  [[nodiscard]] double joules_in_l2(const memory_events& e) const;
  [[nodiscard]] double joules_in_dram(const memory_events& e) const;
  void finish(energy_metrics& m, cycle_t start, cycle_t end, double active) const;

  const gpu& gpu_;
  std::vector<const sm*> sms_;
  std::vector<const residency*> residencies_;  // of these, with all launches
  std::vector<const per_launch<l2_counters>*> slices_;
  std::vector<const per_launch<memory_counters>*> channels_;
  const launch_index<l2_counters>* of_slices_ = nullptr;        // of all slices
  const launch_index<memory_counters>* of_channels_ = nullptr;  // null: there are none
  const energy_parameters prices_;
  const double cycle_seconds_;
  const power_ledger* const ledger_;
  const double volts_;
  std::vector<launch_costs> launches_;  // by launch, as far as they have been asked for
  unsigned next_sm_ = 0;                // from which with_all_sms() goes on
  std::map<const decoded_program*, price_list> price_lists_;
  instruction_sum once_;                      // of SMs of which no own one is needed
  std::shared_ptr<launch_demands> demands_;   // of by_instruction(): room that is used again
  std::vector<execution_joules> executions_;  // likewise
  instruction_joules joules_;
};

/// Throws internal_error if the energies of units, of SMs and of classes do not sum to the same.
void check_sums(const energy_metrics& m);

}  // namespace heddle
