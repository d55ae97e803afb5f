// SPDX-License-Identifier: MIT
#pragma once

#include <signal.h>

namespace heddle::testbench {

/// Holds back, while it lives, the signals that end a program (unless they are ignored) and those of children that end;
/// wait() takes them one by one, so that no handler runs anywhere.
class stop_signals {
 public:
  stop_signals();
  ~stop_signals();
  stop_signals(const stop_signals&) = delete;
  stop_signals& operator=(const stop_signals&) = delete;

  /// The next signal: SIGCHLD, or one that asks to stop. 0: none within that time.
  int wait(unsigned milliseconds) const;
  /// In a child: as if this did not exist.
  void restore() const;

 private:
  sigset_t held_;
  sigset_t before_;
};

}  // namespace heddle::testbench
