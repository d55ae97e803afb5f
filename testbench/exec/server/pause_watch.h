// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "heddle/tlm/kernel/clock_domain.h"

namespace heddle::testbench {

/// Pauses the simulation at the end of a cycle about ten times a second, so that calls of other threads, signals and
/// the progress line are served during a long kernel, and at once after a signal. Results are not affected.
class pause_watch : public cycle_observer {
 public:
  pause_watch();
  ~pause_watch() override;
  void after_cycle() override;
  /// True about ten times a second.
  bool is_due();
  /// The same, and after a signal.
  bool wants_pause();
  [[nodiscard]] cycle_t next_sample() const override { return never; }  // it samples no unit

 private:
  std::atomic<bool> due_{false};
  bool ends_ = false;
  std::mutex mutex_;
  std::condition_variable end_;
  std::thread ticks_;
};

}  // namespace heddle::testbench
