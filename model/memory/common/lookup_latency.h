// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/config/parameters.h"

namespace heddle {

/// Cycles from issue to the first tag look-up or shared-memory pass, without load. At least one, since the load/store
/// unit is called before the warp scheduler in a cycle.
inline unsigned address_cycles(const gpu_config& config) {
  return config.ldst.address_latency_cycles > 1 ? config.ldst.address_latency_cycles : 1;
}

/// Cycles from look-up to dependent issue, where `latency_cycles` runs from issue to dependent issue.
inline unsigned cycles_after_lookup(unsigned latency_cycles, const gpu_config& config) {
  const unsigned before = address_cycles(config);
  return latency_cycles > before ? latency_cycles - before : 0;
}

}  // namespace heddle
