// SPDX-License-Identifier: MIT
#include "heddle/energy/energy_metrics.h"

namespace heddle {

const char* name_of(energy_unit u) {
  static constexpr const char* names[] = {
#define HEDDLE_X(name, key) key,
      HEDDLE_ENERGY_UNITS(HEDDLE_X)
#undef HEDDLE_X
  };
  return names[static_cast<std::size_t>(u)];
}

const char* name_of(energy_class c) {
  static constexpr const char* names[] = {
#define HEDDLE_X(name, key) key,
      HEDDLE_ENERGY_CLASSES(HEDDLE_X)
#undef HEDDLE_X
  };
  return names[static_cast<std::size_t>(c)];
}

}  // namespace heddle
