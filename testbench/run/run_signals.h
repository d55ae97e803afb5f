// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <string>

namespace heddle::testbench {

/// What signals ask of a run: SIGINT and SIGTERM that it end, SIGUSR1 for a snapshot of its metrics. A process has one
/// of these at most. Signals that it was told to ignore stay ignored.
class run_signals {
 public:
  /// From here on SIGUSR1 asks for a snapshot; what it asks before the simulation begins is answered then.
  run_signals();
  ~run_signals();
  run_signals(const run_signals&) = delete;
  run_signals& operator=(const run_signals&) = delete;

  /// From here on the first SIGINT or SIGTERM is only noted, and the second one ends the program at once, as the first
  /// would have before.
  void note_stops();
  /// Something has been asked for that was not taken yet. Cheap enough for each simulated cycle.
  static bool pending() { return asked.load(std::memory_order_relaxed) != 0; }

  struct request {
    int stop = 0;  // the signal that asks the run to end; 0: none does
    bool snapshot = false;
  };
  /// What has been asked for since the last call.
  request take();

 private:
  static std::atomic<unsigned> asked;
};

/// "SIGINT"
std::string name_of_signal(int number);

}  // namespace heddle::testbench
