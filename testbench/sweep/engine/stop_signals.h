// SPDX-License-Identifier: MIT
#pragma once

#include <signal.h>

namespace heddle::testbench {

/// Blocks termination signals (unless they are ignored) and SIGCHLD during its lifetime; wait() takes them one by one,
/// so no signal handler is needed.
class stop_signals {
 public:
  stop_signals();
  ~stop_signals();
  stop_signals(const stop_signals&) = delete;
  stop_signals& operator=(const stop_signals&) = delete;

  /// The next signal: SIGCHLD or a termination signal. 0: none within that time.
  [[nodiscard]] int wait(unsigned milliseconds) const;
  /// The next termination signal. 0: none within that time.
  [[nodiscard]] int wait_for_stop(unsigned milliseconds) const;
  /// It is a termination signal that is blocked.
  [[nodiscard]] bool is_stop(int number) const;
  /// Restores the signal mask, for a child process.
  void restore() const;

 private:
  static int wait_for(const sigset_t& numbers, unsigned milliseconds);
  sigset_t held_;
  sigset_t before_;
};

}  // namespace heddle::testbench
