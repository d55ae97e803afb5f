// SPDX-License-Identifier: MIT
#include "heddle/metrics/run_metrics.h"

namespace heddle {

void profiler_metrics::set_stalls(const warp_cycle_counts& counts) {
  const double stalled = static_cast<double>(counts.active - counts.selected);
  auto share = [stalled](std::uint64_t n) { return stalled > 0 ? static_cast<double>(n) / stalled : 0.0; };
  stall_not_selected = share(counts.not_selected);
  stall_inst_fetch = share(counts.inst_fetch);
  stall_exec_dependency = share(counts.exec_dependency);
  stall_memory_dependency = share(counts.memory_dependency);
  stall_memory_throttle = share(counts.memory_throttle);
  stall_pipe_busy = share(counts.pipe_busy);
  stall_sync = share(counts.sync);
  stall_constant_memory_dependency = share(counts.constant_memory_dependency);
  stall_texture = share(counts.texture);
  stall_sleeping = share(counts.sleeping);
  stall_other = share(counts.other);
}

}  // namespace heddle
