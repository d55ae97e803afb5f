// SPDX-License-Identifier: MIT
// The CWD's side of a reset: all launches are dropped. Blocks leave the SMs as for the preemption mode flush, and do
// not return.
#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/gpu/cwd/compute_work_distributor.h"

namespace heddle {

void compute_work_distributor::abandon() {
  halted_ = false;
  abandoning_ = true;
  for (front_end& f : fronts_) {
    f.candidates.clear();
    f.late_ends.clear();
  }
  terminated_.clear();
  switcher_.abandon();
  clock_.wake_at(clock_.cycle() + 1);
}

void compute_work_distributor::drive_abandonment(cycle_t cycle) {
  bool left = switcher_.drive_abandonment(cycle);
  for (const grid_record& g : grids_) left = left || (!g.finished && g.unsettled != 0);
  if (!left) return end_grids(cycle);
  cycle_t at = switcher_.next_group(cycle);
  for (const arrival& a : arrivals_) at = std::min(at, a.cycle);
  if (at != never) clock_.wake_at(at);
}

void compute_work_distributor::end_grids(cycle_t cycle) {
  for (grid_record& g : grids_) {
    if (g.finished) continue;
    end(g, cycle);
    g.abandoned = true;
    g.next_block.reset();
  }
  invariant(unfinished_ == 0 && !switcher_.is_busy(), "a reset left something in the CWD");
  for (front_end& f : fronts_) f.streams.clear();
  switcher_.end_abandonment();
  early_grids_ = 0;
  with_runtime_ = 0;
  abandoning_ = false;
}

void compute_work_distributor::restart() {
  arrivals_.clear();  // late reports of faults
  last_requests_.clear();
  accounts_.clear();
  for (unsigned i = 0; i < config_.gpu.sm_count; ++i) accounts_.emplace_back(config_);
  for (front_end& f : fronts_) {
    f.placement = make_placement_policy(config_.cwd.placement);
    f.next_dispatch = 0;
    f.dispatch_free = 0;
    f.ends = f.ends_free = 0;
  }
  for (auto& [client, use] : clients_) {
    use.sms = 0;
    std::fill(use.blocks.begin(), use.blocks.end(), 0);
  }
  for (unsigned partition = 0; partition < fronts_.size(); ++partition) refresh_candidates(partition);
}

}  // namespace heddle
