// SPDX-License-Identifier: MIT
// All names of the driver API. A call of a function that no other file defines ends the program with its name.
#include "testbench/cuda/core/registry.h"
#include "testbench/cuda/driver/driver_table.h"

#define HEDDLE_NAME(symbol, name, since, per_thread) \
  extern "C" __attribute__((weak, visibility("default"))) void symbol() { heddle::cuda::missing(#symbol); }
#include "testbench/cuda/driver/driver_names.inc"
#undef HEDDLE_NAME

namespace heddle::cuda {

const std::vector<driver_function>& driver_table() {
#define HEDDLE_NAME(symbol, name, since, per_thread) \
  {#symbol, #name, since, per_thread, reinterpret_cast<void*>(&symbol)},
  static const auto* table = new std::vector<driver_function>{
#include "testbench/cuda/driver/driver_names.inc"
  };
#undef HEDDLE_NAME
  return *table;
}

}  // namespace heddle::cuda
