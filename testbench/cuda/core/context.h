// SPDX-License-Identifier: MIT
// Contexts: there is one device and one memory, and what a context owns goes with it.
#pragma once

#include <cstddef>
#include <vector>

namespace heddle::cuda {

struct context {
  unsigned flags = 0;
  bool primary = false;
  bool alive = false;
  unsigned long long id = 0;
  int cache_preference = 0, bank_preference = 0;
};

/// Of this thread; null: it has none.
context* current_context();
bool driver_is_initialized();
void initialize_driver();
/// To a thread of ours, which is no caller of the runtime.
void give_context(context* c);
/// A thread that calls the runtime without a context has the primary one.
void use_primary_context();

}  // namespace heddle::cuda
