// SPDX-License-Identifier: MIT
// A thread's copy window (wire::open_window). No function throws.
#pragma once

#include <sched.h>

#include <cstddef>

#include "testbench/exec/wire.h"

namespace heddle::cuda {

/// Memory that this thread shares with the simulator. It has no destructor, because code that runs after the thread's
/// variables are destroyed may still make calls.
struct window {
  /// Allocates the memory. Returns a descriptor of it for the simulator, to be closed; -1: there is none.
  int open();
  /// The simulator asks for bytes. Returns false for a request that it cannot have made.
  [[nodiscard]] bool move(const wire::move_request& r);
  /// The thread may be on any of its processors again, after requests that kept it on one.
  void leave_processor();
  void close();
  /// After fork(): the memory is not the child's.
  void forget() { data = nullptr, tried = away = false; }

  unsigned char* data = nullptr;
  bool tried = false;
  bool away = false;       // the thread is kept on a processor
  cpu_set_t processors{};  // the thread's, while it is away

 private:
  void go_to(std::size_t processor);
};

}  // namespace heddle::cuda
