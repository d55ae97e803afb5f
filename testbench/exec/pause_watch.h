// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "heddle/tlm/kernel/clock_domain.h"

namespace heddle::testbench {

/// Pauses the simulation behind a cycle about ten times a second, so that calls of other threads, signals and people's
/// wish for progress are served while a long kernel runs; and at once when a signal has come. It changes no result.
class pause_watch : public cycle_observer {
 public:
  pause_watch();
  ~pause_watch() override;
  void after_cycle() override;
  cycle_t next_sample() const override { return never; }  // it looks at no unit

 private:
  std::atomic<bool> due_{false};
  bool ends_ = false;
  std::mutex mutex_;
  std::condition_variable end_;
  std::thread ticks_;
};

}  // namespace heddle::testbench
