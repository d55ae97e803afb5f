// SPDX-License-Identifier: MIT
// Contexts: there is one device and one memory; a context's resources are released with it.
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

/// The context of this thread; null: none.
context* current_context();
bool driver_is_initialized();
void initialize_driver();
/// Sets the context of an internal thread, which does not call the runtime itself.
void give_context(context* c);
/// Gives the primary context to a thread that calls the runtime without a context.
void use_primary_context();

}  // namespace heddle::cuda
