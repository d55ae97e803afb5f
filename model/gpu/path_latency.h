// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "heddle/config/parameters.h"

namespace heddle {

/// Hit latency of an L2 slice, in cycles of the L2's clock, for which an unloaded L2 hit takes `l2.latency_cycles` core
/// cycles from issue to dependent issue. Throws input_error if the path to the slice and back alone takes longer, and,
/// as the functions below, if it is more than a million cycles.
unsigned l2_hit_cycles(const gpu_config& config);

/// The same for reads of code: an unloaded hit brings a line of the SM's second level of instruction cache
/// `instruction_cache.second_level_miss_latency_cycles` core cycles after it missed there. Such reads do not pass the
/// load/store unit and the stages of the L1, whose time `l2.latency_cycles` includes. At least 1, where the path alone
/// takes longer.
unsigned l2_code_hit_cycles(const gpu_config& config);

/// `l2.far_latency_cycles` in cycles of the L2's clock; at least 1 if it is not 0.
unsigned l2_far_cycles(const gpu_config& config);

/// By SM: whether it belongs to the other partition of the L2 than slice `slice`. The first half of the GPCs and the
/// first half of the slices are one partition.
std::vector<bool> sms_of_other_partition(const gpu_config& config, unsigned slice);

}  // namespace heddle
