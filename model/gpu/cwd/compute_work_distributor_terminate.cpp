// SPDX-License-Identifier: MIT
// Launches that the host ends, as a driver does for a process that has gone: their blocks leave the SMs as for the
// preemption mode flush, and do not return.
#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/gpu/cwd/compute_work_distributor.h"

namespace heddle {

void compute_work_distributor::terminate(const std::vector<std::uint32_t>& launches) {
  const cycle_t now = clock_.cycle();
  for (const std::uint32_t id : launches) {
    grid_record& g = grids_.at(id);
    if (g.finished || g.terminated) continue;
    const bool all = g.waiting() == 0;
    blocks_submitted_ -= g.waiting();
    g.terminated = true;
    g.next_block.reset();
    if (!all) all_dispatched(g, now);
    terminated_.push_back(id);
  }
  clock_.wake_at(now + 1);
}

void compute_work_distributor::end_terminated(cycle_t cycle) {
  const std::vector<std::uint32_t> ending = std::move(terminated_);
  terminated_.clear();
  for (const std::uint32_t id : ending) {
    const cycle_t ends = grids_[id].ends_cycle;
    if (ends > cycle) clock_.wake_at(ends);
    else finish_if_done(grids_[id], cycle);
    if (!grids_[id].finished) terminated_.push_back(id);
  }
}

void compute_work_distributor::block_dropped(const block_in_flight& b) {
  count_client(*b.launch, b.sm, false);
  ++grids_[b.launch->launch_id].dropped;
  --blocks_submitted_;
}

}  // namespace heddle
