// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

namespace heddle::cuda {

struct runtime_function {
  const char* name;
  void* address;  // of Heddle's function
};

/// All names of the runtime, sorted.
const std::vector<runtime_function>& runtime_table();

}  // namespace heddle::cuda
