// SPDX-License-Identifier: MIT
// All names of the runtime. A call of a function that no other file defines ends the program with its name.
#include "testbench/cuda/runtime/runtime_table.h"

#include "testbench/cuda/core/registry.h"

#define HEDDLE_NAME(name) \
  extern "C" __attribute__((weak, visibility("default"))) void name() { heddle::cuda::missing(#name); }
#include "testbench/cuda/runtime/runtime_names.inc"
#undef HEDDLE_NAME

namespace heddle::cuda {

const std::vector<runtime_function>& runtime_table() {
#define HEDDLE_NAME(name) {#name, reinterpret_cast<void*>(&name)},
  static const auto* table = new std::vector<runtime_function>{
#include "testbench/cuda/runtime/runtime_names.inc"
  };
#undef HEDDLE_NAME
  return *table;
}

}  // namespace heddle::cuda
