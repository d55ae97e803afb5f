// SPDX-License-Identifier: MIT
// Models: one clock and the units that it drives.
// Sockets: none; units are called directly. They talk through sockets of their own, or with the module around them.
// One cycle: the units that asked for this cycle are called once, in the order in which they were attached; then those
//   of the logical processes, one process after another; then the observers.
// Parameters: the frequency. Source: docs/decisions/0001-clocking.md.
#pragma once

#include <vector>

#include "heddle/tlm/kernel/quiet_observer.h"
#include "heddle/tlm/kernel/unit_clock.h"
#include "heddle/tlm/kernel/window_scheduler.h"

namespace heddle {

/// Drives attached units at the edges of one clock, in one SystemC process. With an external clock, edge k is the k-th
/// rising edge since the simulation started. An exception that leaves a unit is reported as SC_ERROR: a
/// std::runtime_error (an input file has changed while it was read) of type "/heddle/input", others of type
/// "/heddle/internal".
class clock_domain : public unit_clock {
 public:
  clock_domain(const sc_core::sc_module_name& name, double frequency_mhz);

  /// Follows an external clock instead of timing itself. Its period is `period` or, with zero, the time between its
  /// last two edges (before there are two: that of the frequency). To be called by the end of elaboration; a parent may
  /// do it in its own end_of_elaboration, where its ports are bound and which SystemC calls before this module's.
  void follow(const sc_core::sc_event& rising_edge, const sc_core::sc_time& period = sc_core::SC_ZERO_TIME);
  /// Changes the frequency of a clock that times itself and has no logical processes, from the next edge on. To be
  /// called by a process that runs after those of the clocks at this time, in a later delta cycle.
  void change_frequency(double frequency_mhz);
  /// Simulates logical processes ahead from now on, as far as `l` allows; null: not at all. It changes no result.
  void set_lookahead(lookahead* l) { windows_.set_lookahead(l); }
  /// Windows of logical processes run on so many host threads from now on. It changes no result.
  void use_threads(unsigned threads) { windows_.use_threads(threads); }
  /// For tests: what windows of logical processes do outside is applied in another order. It changes no result.
  void shuffle_outboxes(std::uint64_t seed) { windows_.shuffle_outboxes(seed); }
  /// No unit has asked for a cycle in the future.
  [[nodiscard]] bool quiet() const { return next_wake() == never && windows_.furthest() <= cycle(); }
  /// Reports to `observer` from now on when a cycle has left the domain quiet; null: to none.
  void observe_quiet(quiet_observer* observer) { quiet_observer_ = observer; }
  /// Cycles in which at least one unit was called, since the start.
  [[nodiscard]] std::uint64_t busy_cycles() const { return busy_cycles_; }

  [[nodiscard]] sc_core::sc_time delay_until(cycle_t cycle) const override;
  [[nodiscard]] std::uint64_t nanoseconds_at(cycle_t cycle) const override;
  [[nodiscard]] cycle_t cycles_in(std::uint64_t nanoseconds) const override;
  [[nodiscard]] cycle_t next_wake() const override;
  void observe(cycle_observer& observer) override;
  void ignore(const cycle_observer& observer) override;
  void sample_at(cycle_t cycle) override;
  void halt() override;
  /// Ends halt(): units are called again from the next edge on. Each is called once without having asked, since what it
  /// asked for meanwhile may be past.
  void resume();
  /// No logical process is ahead of the domain.
  [[nodiscard]] bool in_step() const { return windows_.furthest() <= cycle(); }
  [[nodiscard]] std::uint64_t calls() const override { return unit_clock::calls() + windows_.calls(); }
  /// With those of its logical processes. Simulated time is already that of the image that is read.
  void exchange(state_image& image) override;

  // For logical processes.
  [[nodiscard]] const clock_timing& timing() const { return timing_; }
  unsigned add(unit_clock& process) { return windows_.add(process); }
  /// The first cycle that has not begun.
  [[nodiscard]] cycle_t next_cycle() const;
  void wake_process(unsigned process, cycle_t cycle);

 private:
  void end_of_elaboration() override;
  void start_of_simulation() override;
  [[nodiscard]] cycle_t present_cycle() const override;
  cycle_t later_arrival(const sc_core::sc_time& delay, cycle_cache& times) const override;
  void wake_from_outside(unsigned index, cycle_t cycle) override;
  void on_event();
  [[nodiscard]] bool edge_is_due() const;
  [[nodiscard]] std::uint64_t since_edge() const;
  void run_cycle();
  [[nodiscard]] cycle_t first_sample() const;
  void schedule_next();
  void notify_at(cycle_t cycle);

  cycle_t scheduled_ = never;
  cycle_t sample_at_ = never;  // observers are called then at the latest
  bool external_ = false;
  const sc_core::sc_event* edge_ = nullptr;  // of the external clock
  bool period_known_ = false;                // it was given, not measured
  std::uint64_t period_ = 0;                 // of the external clock, in units of the resolution
  std::uint64_t edge_at_ = 0;                // time of its last edge, likewise
  std::vector<cycle_observer*> observers_;
  window_scheduler windows_;
  std::uint64_t busy_cycles_ = 0;
  mutable cycle_cache present_;
  sc_core::sc_event due_;
  quiet_observer* quiet_observer_ = nullptr;
};

}  // namespace heddle
