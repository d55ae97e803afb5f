// SPDX-License-Identifier: MIT
#include "testbench/sweep/engine/stop_signals.h"

#include <initializer_list>

namespace heddle::testbench {

stop_signals::stop_signals() {
  sigemptyset(&held_);
  sigaddset(&held_, SIGCHLD);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction present;
    if (::sigaction(number, nullptr, &present) == 0 && present.sa_handler != SIG_IGN) sigaddset(&held_, number);
  }
  ::sigprocmask(SIG_BLOCK, &held_, &before_);
}

stop_signals::~stop_signals() { restore(); }

void stop_signals::restore() const { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

int stop_signals::wait(unsigned milliseconds) const { return wait_for(held_, milliseconds); }

int stop_signals::wait_for_stop(unsigned milliseconds) const {
  sigset_t stops = held_;
  sigdelset(&stops, SIGCHLD);
  return wait_for(stops, milliseconds);
}

bool stop_signals::is_stop(int number) const { return number != SIGCHLD && sigismember(&held_, number) == 1; }

int stop_signals::wait_for(const sigset_t& numbers, unsigned milliseconds) {
  const timespec time = {static_cast<time_t>(milliseconds / 1000), static_cast<long>(milliseconds % 1000) * 1'000'000};
  const int number = ::sigtimedwait(&numbers, nullptr, &time);
  return number > 0 ? number : 0;
}

}  // namespace heddle::testbench
