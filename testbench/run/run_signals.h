// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <string>

#include "heddle/functional/functional_observer.h"

namespace heddle::testbench {

/// Requests to a run by signals: SIGINT, SIGTERM and SIGHUP end it, SIGUSR1 takes a snapshot of its metrics. A process
/// has at most one object of this class. Signals that the process ignores at its start stay ignored.
class run_signals : public functional_observer {
 public:
  run_signals() { note_snapshots(); }
  virtual ~run_signals();
  run_signals(const run_signals&) = delete;
  run_signals& operator=(const run_signals&) = delete;

  /// From now on SIGUSR1 requests a snapshot, and does not end the program; a request before the simulation starts is
  /// served when it starts, and one to a command that simulates nothing has no effect.
  static void note_snapshots();
  /// From now on the first SIGINT or SIGTERM, and with `hang_up` SIGHUP, is only recorded, and the second one ends the
  /// program at once.
  void note_stops(bool hang_up = false);
  /// True if a request is pending. Cheap enough to call in each simulated cycle.
  static bool pending() { return asked.load(std::memory_order_relaxed) != 0; }

  bool wants_stop() override { return pending(); }

  struct request {
    int stop = 0;  // the signal that requests the end of the run; 0: none
    bool snapshot = false;
  };
  /// Returns and clears the pending requests.
  request take();

 private:
  static std::atomic<unsigned> asked;
};

/// "SIGINT"
std::string name_of_signal(int number);

}  // namespace heddle::testbench
