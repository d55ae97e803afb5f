// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

namespace heddle::cuda {

struct driver_function {
  const char* symbol;
  const char* name;  // without the version that the symbol has
  int since;         // CUDA that brought it, as cuDriverGetVersion has it
  bool per_thread;   // the default stream is the thread's own
  void* address;     // of ours
};

/// All names of the driver API, sorted by symbol.
const std::vector<driver_function>& driver_table();

enum class entry_point { found, unknown, too_new };
/// What a program of a CUDA version gets for a name: the newest function that this version has.
entry_point find_entry_point(const char* name, int version, bool per_thread, void*& address);

}  // namespace heddle::cuda
