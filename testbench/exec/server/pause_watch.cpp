// SPDX-License-Identifier: MIT
#include "testbench/exec/server/pause_watch.h"

#include <signal.h>

#include <chrono>
#include <systemc>

#include "testbench/live/pause_request.h"
#include "testbench/run/run_signals.h"

namespace heddle::testbench {

namespace {
constexpr auto period = std::chrono::milliseconds(100);
}

pause_watch::pause_watch() {
  // Signals are handled in the main thread.
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  ticks_ = std::thread([this] {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!end_.wait_for(lock, period, [this] { return ends_; })) due_.store(true, std::memory_order_relaxed);
  });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

pause_watch::~pause_watch() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ends_ = true;
  }
  end_.notify_one();
  ticks_.join();
}

bool pause_watch::is_due() {
  if (!due_.load(std::memory_order_relaxed)) return false;
  due_.store(false, std::memory_order_relaxed);
  return true;
}

bool pause_watch::wants_pause() { return is_due() || run_signals::pending(); }

void pause_watch::after_cycle() {
  if (wants_pause()) pause_request::make();
}

}  // namespace heddle::testbench
