// SPDX-License-Identifier: MIT
// Models: one clock and the units that it drives.
// Sockets: none; units are called directly, and talk to each other only through their own sockets.
// One cycle: the units that asked for this cycle are called once, in the order in which they were attached, those of
// its parts after
//   its own, part by part.
// Parameters: the frequency. Source: docs/decisions/0001-clocking.md.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <queue>
#include <systemc>
#include <vector>

namespace heddle {

using cycle_t = std::uint64_t;
constexpr cycle_t never = ~cycle_t{0};

/// A unit that works on clock edges. It is called only in cycles it asked for (clock_port::wake_at), so a unit that
/// cannot make progress costs nothing.
class clocked {
 public:
  virtual ~clocked() = default;
  virtual void on_cycle(cycle_t cycle) = 0;
  /// The unit's turn in `cycle` comes soon: it may ask the host for what it is going to look at (prefetch.h). First
  /// `distant`: it is a few calls away, and what it holds may be far from the host's cache; then once more, when that
  /// has arrived and can be looked at. Must change nothing.
  virtual void prefetch_hint(cycle_t cycle, bool distant) const { (void)cycle, (void)distant; }
};

/// Looks at the units after each cycle in which one of them worked.
class cycle_observer {
 public:
  virtual ~cycle_observer() = default;
  virtual void after_cycle() = 0;
  /// The first cycle from which on it must be called after each one and see all units as they are then. Before it,
  /// parts of the domain may be ahead, and cycles in which only their units work may be passed over.
  virtual cycle_t next_sample() const { return 0; }
};

/// Knows how far a part of a clock domain may be simulated ahead of the domain itself, because nothing can reach it
/// before.
class lookahead {
 public:
  virtual ~lookahead() = default;
  /// The last cycle by which nothing that is sent in the domain's cycle `now` or later, except in answer to what the
  /// part sends, reaches part `part`.
  virtual cycle_t horizon(unsigned part, cycle_t now) = 0;
  /// Asked before cycle `cycle`, which is ahead: the last cycle by which no answer to what the part has sent can have
  /// reached it, and nothing of it depends on whether what it may send is taken at once. It holds until the part sends
  /// something (clock_domain::sends).
  virtual cycle_t reach(unsigned part, cycle_t cycle) = 0;
};

/// Drives attached units at the edges of one clock. Edge k is at round(k / frequency) in units of the time resolution,
/// computed from the integer k. With an external clock, edge k is the k-th rising edge since the simulation started.
/// An exception that leaves a unit is reported as SC_ERROR: a std::runtime_error, as when a file that is read on the
/// way is not what it was, of type "/heddle/input", others "/heddle/internal".
class clock_domain : public sc_core::sc_module {
 public:
  clock_domain(sc_core::sc_module_name name, double frequency_mhz);
  /// A part of `whole`: the same edges, and units of its own, which meet others only through sockets. What its units
  /// send carries the time that it is ahead as annotated delay, and what is sent to it must arrive after the horizon
  /// that the lookahead named.
  clock_domain(sc_core::sc_module_name name, clock_domain& whole);

  /// Adds a unit; its index is its place in the order of calls within a cycle.
  unsigned attach(clocked& unit);
  /// Calls unit `index` in cycle `cycle`. A cycle that has begun can only be joined by units later in the order than
  /// the one that is running (so an SM's load/store unit answers its sub-partitions in the same cycle); otherwise the
  /// next cycle is meant. Idempotent.
  void wake_at(unsigned index, cycle_t cycle) {
    if (!running_) return wake_from_outside(index, cycle);
    if (cycle <= cycle_) cycle = cycle_ + (index <= current_);
    if (cycle - cycle_ < buckets) set_bit(cycle, index);
    else far_.push({cycle, index});
  }

  /// The last edge at or before the present time. While units are called it is the edge of cycle_: nothing needs to be
  /// worked out.
  cycle_t cycle() const { return running_ ? cycle_ : present_cycle(); }
  /// The first edge strictly after now + `delay`: when a unit of this domain acts on something that arrives then. So
  /// what arrives on an edge is seen at the next one, whatever the order in which the kernel runs processes.
  cycle_t arrival(const sc_core::sc_time& delay = sc_core::SC_ZERO_TIME) const {
    return running_ && delay.value() == 0 ? cycle_ + 1 : later_arrival(delay);
  }
  cycle_t cycle_of(const sc_core::sc_time& t) const;
  sc_core::sc_time time_of(cycle_t cycle) const;
  /// Time from now until edge `cycle` (zero if past): the annotated delay of a transaction that leaves then.
  sc_core::sc_time delay_until(cycle_t cycle) const;
  /// Of a unit that works in a part: how far it is ahead of the present time, to be annotated on what it sends.
  sc_core::sc_time local_time_offset() const {
    return whole_ != nullptr && running_ && cycle_ != whole_->cycle_ ? whole_->delay_until(cycle_)
                                                                     : sc_core::SC_ZERO_TIME;
  }
  /// Of a part: whether it has been simulated up to the end of `cycle`, which may lie ahead of the present time.
  bool has_simulated(cycle_t cycle) const { return whole_ != nullptr && began_ && !running_ && cycle <= cycle_; }
  double frequency_mhz() const { return static_cast<double>(hertz_) / 1e6; }

  /// Follows an outside clock instead of timing itself, whose period is the one given or, with zero, the time between
  /// its last two edges (before there are two: what the frequency says). To be called by the end of elaboration; a
  /// parent may do it in its own end_of_elaboration, where its ports are bound and which SystemC calls before this
  /// module's.
  void follow(const sc_core::sc_event& rising_edge, const sc_core::sc_time& period = sc_core::SC_ZERO_TIME);
  /// Simulated time of edge `cycle`, the present one or a past one of a clock that times itself, in whole nanoseconds.
  std::uint64_t nanoseconds_at(cycle_t cycle) const;
  /// Whole cycles in so many nanoseconds, at the clock's present frequency.
  cycle_t cycles_in(std::uint64_t nanoseconds) const;
  /// Has `observer` called after each cycle in which a unit was called, after those that asked before it.
  void observe(cycle_observer& observer);
  void ignore(const cycle_observer& observer);
  /// Has the observers called in `cycle`, which must be to come, even if no unit works in it: what they show changes
  /// then by time alone. For their after_cycle(), which asks anew each time. It moves no unit and keeps nothing awake:
  /// a domain is quiet in spite of it, so that what is simulated does not depend on who looks.
  void look_at(cycle_t cycle);
  /// Lets parts be simulated ahead from now on, as far as `l` knows; null: none is. It changes no result.
  void set_lookahead(lookahead* l) { lookahead_ = l; }
  /// For a unit of a part, while it works: an answer to what it has just sent may come in `cycle`, so the part goes no
  /// further now.
  void limit_window(cycle_t cycle) {
    if (cycle <= horizon_) horizon_ = cycle - 1;
  }
  /// The same, for what is answered whenever its way allows: how far the part may go is asked anew.
  void sends() { reach_ = 0; }
  /// No unit has asked for a cycle that is to come.
  bool quiet() const { return next_wake() == never && furthest_ <= cycle(); }
  /// Called after a cycle that left the domain quiet.
  std::function<void()> on_quiet;
  /// No unit is called any more (a fault ended the run).
  void halt();
  /// Cycles in which at least one unit was called, and calls, since the start: what the host paid for.
  std::uint64_t busy_cycles() const { return busy_cycles_; }
  std::uint64_t calls() const;

 private:
  // A time whose cycle was worked out: the present, and another one.
  struct known_time {
    std::uint64_t time = 0;
    cycle_t cycle = 0;
  };
  void end_of_elaboration() override;
  void start_of_simulation() override;
  void on_event();
  bool edge_is_due() const;
  void set_ratio();
  cycle_t present_cycle() const;
  cycle_t later_arrival(const sc_core::sc_time& delay) const;
  std::uint64_t ticks_at(cycle_t cycle) const;
  cycle_t cycle_at(std::uint64_t time, known_time& known) const;
  std::uint64_t since_edge() const;
  void run_cycle();
  void look();
  void schedule_next();
  cycle_t next_wake() const;
  cycle_t own_next_wake() const;
  void wake_from_outside(unsigned index, cycle_t cycle);
  void set_bit(cycle_t cycle, unsigned index) {
    const unsigned b = cycle % buckets;
    wheel_[b * words_ + index / 64] |= std::uint64_t{1} << (index % 64);
    occupied_[b / 64] |= std::uint64_t{1} << (b % 64);
  }
  void notify_at(cycle_t cycle);
  void prefetch_next(unsigned bucket);
  bool call_units(bool far_off);
  // Parts (clock_domain_parts.cpp)
  bool run_parts();
  void run_until(cycle_t present, cycle_t horizon);
  cycle_t first_look() const;
  void wake_part_at(unsigned index, cycle_t cycle);
  void part_wakes(unsigned part, cycle_t cycle);

  static constexpr unsigned buckets = 256;
  struct far_wake {
    cycle_t cycle;
    unsigned index;
    bool operator>(const far_wake& o) const { return cycle != o.cycle ? cycle > o.cycle : index > o.index; }
  };

  std::uint64_t hertz_;
  std::uint64_t resolution_per_second_;
  // Their ratio in lowest terms, and up to where 64 bits are enough for what is worked out with it.
  std::uint64_t ticks_ = 1;  // units of the resolution in per_ticks_ cycles
  std::uint64_t per_ticks_ = 1;
  cycle_t short_cycles_ = 0;
  std::uint64_t short_time_ = 0;
  std::vector<clocked*> units_;
  unsigned words_ = 0;                         // 64-bit words per bucket
  std::vector<std::uint64_t> wheel_;           // buckets x words_
  std::uint64_t occupied_[buckets / 64] = {};  // buckets with at least one bit
  std::priority_queue<far_wake, std::vector<far_wake>, std::greater<far_wake>> far_;
  cycle_t cycle_ = 0;   // last cycle begun (self-timed: run)
  bool began_ = false;  // cycle_ itself has been run
  cycle_t scheduled_ = never;
  cycle_t look_ = never;  // observers are called then at the latest
  bool running_ = false;
  unsigned current_ = 0;  // unit being called
  // Those whose turn is said to come: the state of a large chip exceeds the host's caches, and each visit would wait
  // for it.
  static constexpr unsigned ahead = 4;
  std::array<const clocked*, ahead> coming_{};
  unsigned coming_at_ = 0;
  std::size_t announced_ = 0;  // units below are called or announced in this cycle
  bool external_ = false;
  const sc_core::sc_event* edge_ = nullptr;  // of the outside clock
  bool period_known_ = false;                // it was given, not measured
  std::uint64_t period_ = 0;                 // of the outside clock, in units of the resolution, as the rest
  std::uint64_t edge_at_ = 0;                // time of its last edge
  bool halted_ = false;
  std::vector<cycle_observer*> observers_;
  clock_domain* whole_ = nullptr;  // of which this is a part
  unsigned part_ = 0;              // its number there
  cycle_t horizon_ = 0;            // of a part that is being simulated: the last cycle now
  cycle_t reach_ = 0;              // likewise, as long as it sends nothing
  std::vector<clock_domain*> parts_;
  std::vector<cycle_t> part_wake_;  // by part: the next cycle that one of its units asked for
  lookahead* lookahead_ = nullptr;
  cycle_t furthest_ = 0;  // the last cycle in which a unit of a part was called
  std::uint64_t busy_cycles_ = 0;
  std::uint64_t calls_ = 0;
  mutable known_time present_;
  mutable known_time other_;
  sc_core::sc_event due_;
};

/// A unit's hold on its clock domain.
class clock_port {
 public:
  clock_port(clock_domain& domain, clocked& unit) : domain_(&domain), index_(domain.attach(unit)) {}
  void wake_at(cycle_t cycle) { domain_->wake_at(index_, cycle); }
  cycle_t cycle() const { return domain_->cycle(); }
  clock_domain& domain() const { return *domain_; }

 private:
  clock_domain* domain_;
  unsigned index_;
};

}  // namespace heddle
