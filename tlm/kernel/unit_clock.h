// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <systemc>
#include <vector>

#include "heddle/tlm/kernel/clock_timing.h"
#include "heddle/tlm/kernel/outbox.h"
#include "heddle/tlm/kernel/wake_wheel.h"

namespace heddle {

/// A unit that works on clock edges. It is called only in the cycles that it asked for (clock_port::wake_at): a unit
/// that cannot make progress costs nothing.
class clocked {
 public:
  virtual ~clocked() = default;
  virtual void on_cycle(cycle_t cycle) = 0;
  /// The unit will be called soon in `cycle`; it may prefetch its state into the host's caches (prefetch.h). The first
  /// hint is `distant`: some calls before the unit's own, when its state may be far from the caches. The second hint
  /// comes when the lines of the first have arrived and can be read. A hint changes no state.
  virtual void prefetch_hint(cycle_t cycle, bool distant) const { (void)cycle, (void)distant; }
};

/// Is called after each cycle in which a unit worked.
class cycle_observer {
 public:
  virtual ~cycle_observer() = default;
  virtual void after_cycle() = 0;
  /// The first cycle from which on the observer samples after every cycle and sees all units in that cycle's state.
  /// Before it logical processes may be ahead of their domain, and cycles in which only their units work may be left
  /// out.
  [[nodiscard]] virtual cycle_t next_sample() const { return 0; }
};

/// The clock as its units see it: the wheel of their wakes, and conversions between cycles and time. A clock_domain
/// drives its units in simulated time; a logical_process is a group of units that a domain may simulate ahead of it.
class unit_clock : public sc_core::sc_module {
 public:
  /// Adds a unit; its index is its place in the order of calls within a cycle.
  unsigned attach(clocked& unit);
  /// Calls unit `index` in cycle `cycle`. A cycle in progress is joined only by units later in the order than the one
  /// that is running (so an SM's load/store unit answers its sub-partitions in the same cycle); for others the next
  /// cycle is taken. Idempotent.
  void wake_at(unsigned index, cycle_t cycle) {
    if (!running_) return wake_from_outside(index, cycle);
    if (cycle <= cycle_) cycle = cycle_ + (index <= current_);
    wheel_.set(cycle, index, cycle_);
  }

  /// The last edge at or before the present time; while units are called, the edge of the cycle that they work in.
  [[nodiscard]] cycle_t cycle() const { return running_ ? cycle_ : present_cycle(); }
  /// The first edge strictly after now + `delay`: when a unit acts on what arrives then. What arrives on an edge is
  /// seen at the next one, whatever the order in which the SystemC kernel runs processes.
  [[nodiscard]] cycle_t arrival(const sc_core::sc_time& delay = sc_core::SC_ZERO_TIME) const {
    return arrival(delay, other_);
  }
  /// The same with the caller's own cache of conversions, for calls from windows of logical processes.
  [[nodiscard]] cycle_t arrival(const sc_core::sc_time& delay, cycle_cache& times) const {
    return running_ && delay.value() == 0 ? cycle_ + 1 : later_arrival(delay, times);
  }
  [[nodiscard]] sc_core::sc_time time_of(cycle_t cycle) const { return timing_.time_of(cycle); }
  [[nodiscard]] double frequency_mhz() const { return timing_.frequency_mhz(); }
  /// Time from now until edge `cycle` (zero if past): the annotated delay of a transaction that leaves then.
  [[nodiscard]] virtual sc_core::sc_time delay_until(cycle_t cycle) const = 0;
  /// Simulated time of edge `cycle`, the present one or a past one of a self-timed clock, in whole nanoseconds.
  [[nodiscard]] virtual std::uint64_t nanoseconds_at(cycle_t cycle) const = 0;
  /// Whole cycles in so many nanoseconds, at the clock's present frequency.
  [[nodiscard]] virtual cycle_t cycles_in(std::uint64_t nanoseconds) const = 0;

  /// The first cycle to come in which a unit of the domain has asked to be called; never: none has asked.
  [[nodiscard]] virtual cycle_t next_wake() const = 0;

  /// How far the unit that is being called is ahead of simulated time: the delay that it annotates on what it sends.
  /// Zero in a clock domain.
  [[nodiscard]] sc_core::sc_time local_time_offset() const {
    return running_ && cycle_ != root_->cycle_ ? root_->delay_until(cycle_) : sc_core::SC_ZERO_TIME;
  }
  /// Of a logical process: whether `cycle` has been simulated, which may lie ahead of simulated time.
  [[nodiscard]] bool has_simulated(cycle_t cycle) const {
    return root_ != this && began_ && !running_ && cycle <= cycle_;
  }
  /// For a unit that is being called: an answer to what it has just sent may come in `cycle`, so the time window of its
  /// logical process ends before it.
  void limit_window(cycle_t cycle) {
    if (cycle <= window_end_) window_end_ = cycle - 1;
  }
  /// For a unit that has just sent something whose answer's time is known to the lookahead alone: the lookahead is
  /// asked again before the next cycle.
  void message_sent() { unanswered_until_ = 0; }
  /// Of a logical process: the effects of its window on units outside. A clock domain's is never open.
  [[nodiscard]] outbox& effects() { return effects_; }

  /// Calls `observer` after each cycle in which a unit was called, after the observers that were added before it.
  virtual void observe(cycle_observer& observer) = 0;
  virtual void ignore(const cycle_observer& observer) = 0;
  /// Calls the observers in `cycle`, which is in the future, even if no unit works in it: what they show changes by
  /// time alone. To be called in after_cycle(), for each cycle anew. It wakes no unit and does not keep the domain from
  /// being quiet: what is simulated does not depend on observers.
  virtual void sample_at(cycle_t cycle) = 0;
  /// No unit is called any more (a fault ended the run), until the domain resumes.
  virtual void halt() = 0;
  /// Calls of units since the start.
  [[nodiscard]] virtual std::uint64_t calls() const { return calls_; }
  /// Between two cycles, with all logical processes in step.
  virtual void exchange(state_image& image);

 protected:
  unit_clock(const sc_core::sc_module_name& name, const clock_timing& timing, unit_clock* root);
  [[nodiscard]] virtual cycle_t present_cycle() const = 0;
  virtual cycle_t later_arrival(const sc_core::sc_time& delay, cycle_cache& times) const = 0;
  virtual void wake_from_outside(unsigned index, cycle_t cycle) = 0;

  /// Calls the units that asked for cycle_. With `distant` their state may be far from the host's caches, and they get
  /// prefetch hints. False: no unit asked.
  bool call_units(bool distant);
  [[nodiscard]] cycle_t next_own_wake() const { return wheel_.next(cycle_); }
  /// All units are to be called in `cycle`, instead of what they asked for.
  void wake_all(cycle_t cycle);

  clock_timing timing_;
  wake_wheel wheel_;
  cycle_t cycle_ = 0;   // the last cycle begun
  bool began_ = false;  // cycle_ itself has been simulated
  bool running_ = false;
  bool halted_ = false;
  unsigned current_ = 0;          // the unit that is being called
  cycle_t window_end_ = 0;        // of a logical process: the last cycle of its time window
  cycle_t unanswered_until_ = 0;  // likewise: no response to an outstanding request arrives up to this cycle
  unit_clock* const root_;        // the domain; this, where it is one
  outbox effects_;
  mutable cycle_cache other_;  // times other than the present one

 private:
  friend class window_scheduler;
  void prefetch_next();

  std::vector<clocked*> units_;
  // The next units to be called get prefetch hints: the state of a large chip exceeds the host's caches, and each call
  // would wait for it.
  static constexpr unsigned hint_distance = 4;
  std::array<const clocked*, hint_distance> hinted_{};
  unsigned newest_hint_ = 0;
  std::size_t announced_ = 0;  // units below are called or hinted in this cycle
  std::uint64_t calls_ = 0;
};

/// A unit's hold on its clock.
class clock_port {
 public:
  using time = cycle_t;
  clock_port(unit_clock& clock, clocked& unit) : clock_(&clock), index_(clock.attach(unit)) {}
  void wake_at(cycle_t cycle) { clock_->wake_at(index_, cycle); }
  [[nodiscard]] cycle_t cycle() const { return clock_->cycle(); }
  /// unit_clock::arrival.
  [[nodiscard]] time arrival(const sc_core::sc_time& delay) const { return clock_->arrival(delay); }
  [[nodiscard]] unit_clock& domain() const { return *clock_; }

 private:
  unit_clock* clock_;
  unsigned index_;
};

}  // namespace heddle
