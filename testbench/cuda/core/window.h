// SPDX-License-Identifier: MIT
// A thread's copy window (wire::open_window). No function throws.
#pragma once

#include <sched.h>

#include <cstdint>

#include "testbench/exec/wire.h"

namespace heddle::cuda {

/// Memory that this thread shares with the simulator. It has no destructor, because code that runs after the thread's
/// variables are destroyed may still make calls.
struct window {
  /// Allocates the memory. Returns a descriptor of it for the simulator, to be closed; -1: there is none.
  int open();
  /// The simulator asks for bytes. Returns false for a request that it cannot have made.
  [[nodiscard]] bool move(const wire::move_request& r) const;
  void close();
  /// After fork(): the memory is not the child's.
  void forget() { data = nullptr, tried = false; }

  unsigned char* data = nullptr;
  bool tried = false;
};

/// Keeps the calling thread on one processor while it and the simulator move bytes in turn: a system that has idle
/// processors would move it there each time it continues, and the simulator after it, away from the bytes' caches.
class kept_processor {
 public:
  kept_processor() = default;
  ~kept_processor();
  kept_processor(const kept_processor&) = delete;
  kept_processor& operator=(const kept_processor&) = delete;
  /// Returns its number; from the first call on the thread stays there. -1: unknown.
  int number();

 private:
  cpu_set_t before_{};
  int number_ = -1;
  bool kept_ = false;
};

}  // namespace heddle::cuda
