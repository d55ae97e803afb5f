// SPDX-License-Identifier: MIT
// A thread's copy window (wire::open_window). No function throws.
#pragma once

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

}  // namespace heddle::cuda
