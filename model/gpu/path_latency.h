// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/config/parameters.h"

namespace heddle {

/// Cycles (of the L2's clock) that an L2 slice takes for a hit, so that a load's issue to its dependent issue is
/// `l2.latency_cycles` core cycles in all on an L2 hit without load. Throws input_error when the path to the slice and
/// back alone is longer.
unsigned l2_hit_cycles(const gpu_config& config);

}  // namespace heddle
