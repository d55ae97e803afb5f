// SPDX-License-Identifier: MIT
// What it would cost to free an SM: each estimate is the cycles of the SM that are lost. After Park, Park, Mahlke, "Chimera:
// Collaborative Preemption for Multitasking on a Shared GPU", ASPLOS 2015, which estimates by the same quantities.
#include <algorithm>

#include "gpu/compute_work_distributor.h"

namespace heddle {

bool compute_work_distributor::can_flush(unsigned sm) const {
  return config_.context.preemption == "instruction" &&
         std::all_of(blocks_.begin(), blocks_.end(), [&](const auto& b) {
           return !b->resident || b->sm != sm || listener_.idempotent(*grids_[b->launch->launch_id].launch);
         });
}

// Out and back, at the rate of the SM's port or its share of the memory's, when all SMs that are asked now share it.
double compute_work_distributor::switch_cycles(unsigned sm) const {
  double bytes = 0;
  for (const auto& b : blocks_)
    if (b->resident && b->sm == sm)
      bytes += 128.0 * b->launch->warps_per_block() * b->launch->program->registers + b->launch->shared_bytes;
  unsigned sharing = 1;
  for (unsigned k = 0; k < accounts_.size(); ++k)
    if (k != sm && (accounts_[k].switching || !accounts_[k].requests.empty())) ++sharing;
  const double port = config_.interconnect.request_bytes_per_cycle * config_.interconnect.clock_mhz / config_.gpu.core_clock_mhz;
  const double memory = config_.memory.bytes_per_cycle * config_.memory.channels / sharing;
  return 2 * bytes / std::max(1e-9, std::min(port, memory));
}

// drain: until the last block has ended, if as long as the mean of those of its grid that have; unknown while none has. flush: what
// the oldest block has run. Of equal estimates the first counts.
preemption_mode compute_work_distributor::cheapest(unsigned sm, cycle_t now) const {
  if (config_.context.preemption != "instruction") return preemption_mode::drain;
  double drain = 0, flush = 0;
  bool known = true;
  for (const auto& b : blocks_) {
    if (!b->resident || b->sm != sm) continue;
    const grid_record& g = grids_[b->launch->launch_id];
    const double age = static_cast<double>(now - b->since);
    flush = std::max(flush, age);
    known = known && g.completed != 0;
    if (g.completed != 0)
      drain = std::max(drain, static_cast<double>(g.block_cycles) / static_cast<double>(g.completed) - age);
  }
  const double through_memory = switch_cycles(sm);
  if (known && drain <= through_memory && (drain <= flush || !can_flush(sm))) return preemption_mode::drain;
  return flush <= through_memory && can_flush(sm) ? preemption_mode::flush : preemption_mode::context_switch;
}

}  // namespace heddle
