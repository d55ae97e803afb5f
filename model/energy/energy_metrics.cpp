// SPDX-License-Identifier: MIT
#include "heddle/energy/energy_metrics.h"

namespace heddle {

const names_by<energy_unit>& names_of(energy_unit) {
  static constexpr names_by<energy_unit> names = {
#define HEDDLE_X(name, key) key,
      HEDDLE_ENERGY_UNITS(HEDDLE_X)
#undef HEDDLE_X
  };
  return names;
}

const names_by<energy_class>& names_of(energy_class) {
  static constexpr names_by<energy_class> names = {
#define HEDDLE_X(name, key) key,
      HEDDLE_ENERGY_CLASSES(HEDDLE_X)
#undef HEDDLE_X
  };
  return names;
}

}  // namespace heddle
