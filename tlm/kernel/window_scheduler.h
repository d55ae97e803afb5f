// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/kernel/task_list.h"
#include "heddle/tlm/kernel/unit_clock.h"

namespace heddle {

class thread_team;

/// Knows how far a logical process may be simulated ahead of its clock domain, because nothing can reach it before.
class lookahead {
 public:
  virtual ~lookahead() = default;
  /// Windows are about to run, perhaps on several threads: until they have ended, only answer_free_until() is called.
  virtual void begin_windows() {}
  /// The safe time of a process: the last cycle that nothing reaches that is sent in the domain's cycle `now` or later,
  /// except for answers to what the process itself sends.
  virtual cycle_t safe_time(unsigned process, cycle_t now) = 0;
  /// Called before `cycle`, which lies beyond the domain's time. Returns the last cycle that no response to an
  /// outstanding request can reach and in which back-pressure cannot affect the process. The result holds until the
  /// process sends a message (unit_clock::message_sent).
  virtual cycle_t answer_free_until(unsigned process, cycle_t cycle) = 0;
};

/// Conservative parallel discrete-event simulation of a clock domain's logical processes: in each cycle the safe times
/// of the processes that have work in it are determined, then each of them is simulated in a time window that ends at
/// its safe time, and then their outboxes are applied, one process after another. Many cycles of one process in a row
/// find its state in the host's caches. No result depends on it. If several windows throw, the exception of the least
/// cycle, then of the first process, leaves run(). Source: docs/decisions/0002-time-windows.md.
class window_scheduler : private task_list {
 public:
  window_scheduler();
  ~window_scheduler() override;
  /// Returns the number of the process.
  unsigned add(unit_clock& process);
  /// Process `process` has work in `cycle`.
  void wake(unsigned process, cycle_t cycle);
  /// The first cycle in which a process has work.
  [[nodiscard]] cycle_t next_wake() const { return next_wake_; }
  /// Simulates the processes that have work in `now`. Windows end before `sample`, the next cycle that an observer
  /// samples. False: no process had work, and none was ahead of the domain.
  bool run(cycle_t now, cycle_t sample);
  /// null: windows have one cycle. It changes no result.
  void set_lookahead(lookahead* l) { lookahead_ = l; }
  [[nodiscard]] bool has_lookahead() const { return lookahead_ != nullptr; }
  /// Windows run on so many host threads, including the caller's, from now on; it changes no result. With several
  /// threads, a process is simulated as soon as its next work lies before its safe time, so that there are more windows
  /// at a time. Windows of one cycle run on the caller's thread, one after another, since their processes may share
  /// state.
  void use_threads(unsigned threads);
  /// For tests: outboxes are applied in an order that is drawn from `seed`. It changes no result.
  void shuffle_outboxes(std::uint64_t seed) { shuffles_ = seed | 1; }
  /// The last cycle in which a unit of a process was called.
  [[nodiscard]] cycle_t furthest() const { return furthest_; }
  void exchange(state_image& image);
  void halt();
  /// Ends halt(): all units of all processes are to be called in `cycle` or, if a process is ahead of it, later.
  void resume(cycle_t cycle);
  [[nodiscard]] std::uint64_t calls() const;

 private:
  struct window {
    unsigned process;
    cycle_t end;
  };
  struct failure {
    cycle_t cycle;
    unsigned process;
    std::exception_ptr what;
  };
  void plan(cycle_t now, cycle_t sample);
  void run_on_threads(cycle_t now);
  void run_task(std::size_t number) override;
  void run_window(const window& w, cycle_t now);
  void apply_outboxes();
  void rethrow_first();

  std::vector<unit_clock*> processes_;
  std::vector<cycle_t> wake_;             // by process: the next cycle that one of its units asked for
  cycle_t next_wake_ = never;             // the least of them
  std::vector<window> windows_;           // of the present cycle, by process
  std::vector<window> parallel_;          // those of them that run on several threads
  cycle_t now_ = 0;                       // the cycle in which these run
  std::vector<failure> failures_;         // of windows of the present cycle
  std::mutex failing_;                    // guards failures_
  std::unique_ptr<thread_team> threads_;  // null: all windows run on the caller's thread
  std::uint64_t shuffles_ = 0;            // 0: outboxes are applied in the order of processes
  lookahead* lookahead_ = nullptr;
  cycle_t furthest_ = 0;
  bool halted_ = false;
};

}  // namespace heddle
