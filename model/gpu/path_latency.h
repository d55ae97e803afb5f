// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/config/parameters.h"

namespace heddle {

/// Hit latency of an L2 slice, in cycles of the L2's clock, for which an unloaded L2 hit takes `l2.latency_cycles` core
/// cycles from issue to dependent issue. Throws input_error if the path to the slice and back alone takes longer.
unsigned l2_hit_cycles(const gpu_config& config);

}  // namespace heddle
