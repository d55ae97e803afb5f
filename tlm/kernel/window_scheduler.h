// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "heddle/tlm/kernel/unit_clock.h"

namespace heddle {

class logical_process;

/// Knows how far a logical process may be simulated ahead of its clock domain, because nothing can reach it before.
class lookahead {
 public:
  virtual ~lookahead() = default;
  /// The safe time of a process: the last cycle that nothing reaches that is sent in the domain's cycle `now` or later,
  /// except for answers to what the process itself sends.
  virtual cycle_t safe_time(unsigned process, cycle_t now) = 0;
  /// Is asked before cycle `cycle`, which is ahead of the domain: the last cycle that no answer to what the process has
  /// sent can reach, and in which nothing depends on whether what it sends is taken at once. The answer holds until the
  /// process sends a message (unit_clock::message_sent).
  virtual cycle_t answer_free_until(unsigned process, cycle_t cycle) = 0;
};

/// Conservative parallel discrete-event simulation of a clock domain's logical processes, on one host thread: in each
/// cycle the processes that have work in it are simulated one after another, each in a time window that ends at its
/// safe time. Many cycles of one process in a row find its state in the host's caches. No result depends on it. Source:
/// docs/decisions/0002-ahead.md.
class window_scheduler {
 public:
  /// Returns the number of the process.
  unsigned add(logical_process& process);
  /// Process `process` has work in `cycle`.
  void wake(unsigned process, cycle_t cycle);
  /// The first cycle in which a process has work.
  [[nodiscard]] cycle_t next_wake() const { return next_; }
  /// Simulates the processes that have work in `now`. Windows end before `sample`, the next cycle that an observer
  /// samples. False: no process had work, and none was ahead until now.
  bool run(cycle_t now, cycle_t sample);
  /// null: windows have one cycle. It changes no result.
  void set_lookahead(lookahead* l) { lookahead_ = l; }
  [[nodiscard]] bool has_lookahead() const { return lookahead_ != nullptr; }
  /// The last cycle in which a unit of a process was called.
  [[nodiscard]] cycle_t furthest() const { return furthest_; }
  /// After an exception: no unit is being called.
  void abandon();
  void halt();
  [[nodiscard]] std::uint64_t calls() const;

 private:
  void run_window(unit_clock& process, unsigned number, cycle_t now, cycle_t end);

  std::vector<unit_clock*> processes_;
  std::vector<cycle_t> wake_;  // by process: the next cycle that one of its units asked for
  cycle_t next_ = never;       // the least of those of the first `counted_` processes
  unsigned counted_ = 0;       // all; while they are simulated, those that have had their turn
  lookahead* lookahead_ = nullptr;
  cycle_t furthest_ = 0;
  bool halted_ = false;
};

}  // namespace heddle
