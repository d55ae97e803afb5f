// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/metrics/run_metrics.h"
#include "heddle/sub_partition/account/issue_counters.h"

namespace heddle {

/// The units' warp-state counts under their names in the metrics. add() adds the warp-cycles of each state.
void add(warp_state_counts& s, const std::array<std::uint64_t, static_cast<std::size_t>(warp_stall::count)>& stalls);
warp_state_counts warp_states_of(const std::array<std::uint64_t, static_cast<std::size_t>(warp_stall::count)>& cycles);

}  // namespace heddle
