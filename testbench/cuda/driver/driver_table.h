// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

namespace heddle::cuda {

struct driver_function {
  const char* symbol;
  const char* name;  // without the version suffix of the symbol
  int since;         // CUDA version that introduced it, as in cuDriverGetVersion
  bool per_thread;   // the default stream is the thread's own
  void* address;     // of Heddle's function
};

/// All names of the driver API, sorted by symbol.
const std::vector<driver_function>& driver_table();

enum class entry_point { found, unknown, too_new };
/// The function that a program of a CUDA version gets for a name: the newest one that this version has.
entry_point find_entry_point(const char* name, int version, bool per_thread, void*& address);

}  // namespace heddle::cuda
