// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "heddle/energy/energy_account.h"
#include "heddle/gpu/cwd/running_launches.h"
#include "heddle/metrics/run_metrics.h"
#include "heddle/sub_partition/account/issue_counters.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/kernel/unit_clock.h"

namespace heddle {

class gpu;

/// Samples the counters of a GPU periodically, so that the metrics show when things happened. At most `most_samples`
/// samples are kept, equidistant while the chip is active. Each sample settles the warps' accounts, which changes no
/// sum and costs as much as a few issues. Create it before the simulation starts; the GPU must outlive it.
class interval_sampler : public sc_core::sc_module, public cycle_observer {
 public:
  /// `ledger`: of the GPU's power cap, if it has one.
  explicit interval_sampler(gpu& g, const power_ledger* ledger = nullptr);
  ~interval_sampler() override;
  interval_sampler(const interval_sampler&) = delete;
  interval_sampler& operator=(const interval_sampler&) = delete;

  /// From now on the counts by instruction of launches that have ended are summed up (gpu's sum_up), but for the last
  /// `most_whole_bytes` of them. Not with a ledger, or with observers that ask for the energy of such launches by unit.
  void sum_up_ended() { sums_up_ = true; }
  void after_cycle() override;
  [[nodiscard]] cycle_t next_sample() const override { return next_; }
  /// Writes the intervals up to now into `m`, which collect() has made; its energy ends with them. Accounts have been
  /// settled.
  void fill(run_metrics& m);
  /// Settles the accounts as for a sample. Returns the warp-cycles of blocks that are being restored: these are not
  /// settled.
  std::uint64_t settle();
  /// Of the GPU, for those who ask for its launches' energies, too.
  [[nodiscard]] energy_account& energy() { return energy_; }
  /// As fill(), in the middle of a run, after settle(); does not change later results.
  void fill_so_far(run_metrics& m);
  /// Between two cycles; that of the GPU comes first.
  void exchange(state_image& image);

 private:
  using shared_joules = energy_account::shared_joules;
  /// The energy of a launch that was running when the sample was taken, or when it ended.
  struct launch_energy {
    std::uint32_t launch = 0;
    double sm_joules = 0;      // dynamic, their requests to the interconnect included
    double shared_joules = 0;  // dynamic, of the L2 and device memory, and of its contexts
    double active = 0;         // of its cycles in SMs, see energy_account::active_in
    bool known = false;

    void exchange(state_image& image) { image(launch, sm_joules, shared_joules, active, known); }
  };
  struct sm_sums {
    std::uint64_t instructions = 0;
    double joules = 0;  // dynamic, without its requests to the interconnect

    void exchange(state_image& image) { image(instructions, joules); }
  };
  struct sample {
    cycle_t cycle = 0;
    std::uint64_t instructions = 0;
    std::uint64_t read_bytes = 0;
    std::uint64_t write_bytes = 0;
    std::array<std::uint64_t, state_count> states{};
    std::vector<sm_sums> sms;
    std::vector<double> active;  // by SM: active_time
    double request_joules = 0;   // of SMs' requests to the interconnect
    double shared_joules = 0;    // dynamic, of the L2 and device memory, and of contexts
    double time = 0;             // energy_account::time
    double static_time = 0;      // likewise
    std::vector<launch_energy> launches;

    void exchange(state_image& image);
  };
  void sample_memory();
  void close_ended();
  void close(std::uint32_t launch);
  void price_ended();
  void sum_up();
  [[nodiscard]] std::uint64_t bytes_of_counts(std::uint32_t launch) const;
  [[nodiscard]] launch_energy launch_in_sms(std::uint32_t launch, sample& s);
  static launch_energy known_in_sms(const energy_metrics& m, sample& s);
  void take();
  void take_counts(sample& s, std::uint32_t launch) const;
  void take_energy(sample& s, const std::vector<std::uint32_t>& launches);
  void take_times(sample& s);
  [[nodiscard]] std::vector<shared_joules> of_running() const;
  void take_memory(sample& s, double closed_l2_joules, const std::vector<shared_joules>& of_launches) const;
  void fill_power(run_metrics& m, std::size_t intervals);
  void fill_launch_power(kernel_metrics& k, const launch_energy& now, std::size_t intervals) const;
  [[nodiscard]] double joules_until(cycle_t cycle, const launch_energy& e, cycle_t start) const;
  void thin_out();

  static constexpr std::size_t most_samples = 128;
  static constexpr std::size_t launches_each_step = 3;
  static constexpr std::uint64_t most_whole_bytes = std::uint64_t{1} << 24;
  gpu& gpu_;
  cycle_t step_ = 256;
  cycle_t next_ = step_;
  std::uint64_t busy_cycles_ = 0;  // of the clock, at the last call
  bool blocks_run_ = false;        // at the last call
  sc_core::sc_event memory_due_;
  std::vector<sample> samples_;  // sums since the start of the simulation
  running_launches running_;     // the counts of those that have ended are in `closed_`
  sample closed_;
  std::vector<launch_energy> at_end_;      // by launch; those that have not ended are not `known`
  std::size_t closed_launches_ = 0;        // of the CWD's end_order
  std::vector<std::uint32_t> just_ended_;  // of which at_end_ has no shared_joules yet
  double closed_l2_joules_ = 0;            // of those that have ended, at their end
  bool sums_up_ = false;
  std::deque<std::uint32_t> whole_;  // launches that have ended and are not summed up, oldest first
  std::uint64_t whole_bytes_ = 0;    // of their counts
  energy_account energy_;
};

}  // namespace heddle
