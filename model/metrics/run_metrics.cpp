// SPDX-License-Identifier: MIT
#include "heddle/metrics/run_metrics.h"

namespace heddle {

void profiler_metrics::set_stalls(const warp_cycle_counts& counts) {
  const double stalled = static_cast<double>(counts.active - counts[warp_cycle::selected]);
  auto share = [stalled](std::uint64_t n) { return stalled > 0 ? static_cast<double>(n) / stalled : 0.0; };
  stall_not_selected = share(counts[warp_cycle::not_selected]);
  stall_inst_fetch = share(counts[warp_cycle::inst_fetch]);
  stall_exec_dependency = share(counts[warp_cycle::exec_dependency]);
  stall_memory_dependency = share(counts[warp_cycle::memory_dependency]);
  stall_memory_throttle = share(counts[warp_cycle::memory_throttle]);
  stall_pipe_busy = share(counts[warp_cycle::pipe_busy]);
  stall_sync = share(counts[warp_cycle::sync]);
  stall_constant_memory_dependency = share(counts[warp_cycle::constant_memory_dependency]);
  stall_texture = share(counts[warp_cycle::texture]);
  stall_sleeping = share(counts[warp_cycle::sleeping]);
  stall_other = share(counts[warp_cycle::other]);
}

}  // namespace heddle
