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
  for (sm_account& a : accounts_) {
    // Preemptions that have not begun are dropped, and draining blocks are flushed.
    for (const context_in_flight* c : a.requests) {
      const auto at = std::find_if(contexts_.begin(), contexts_.end(), [&](const auto& p) { return p.get() == c; });
      contexts_.erase(at);
      --switches_;
    }
    a.requests.clear();
    a.drains_next = nullptr;
    if (a.draining != nullptr) --switches_;
    a.draining = nullptr;
    drop_swapped_out(a);
  }
  clock_.wake_at(clock_.cycle() + 1);
}

// Drops the blocks that have left the SM, but for those that are being restored.
void compute_work_distributor::drop_swapped_out(sm_account& a) {
  const auto returns = [](const context_in_flight* c) {
    return c->mode != preemption_mode::drain && static_cast<block_in_flight*>(c->blocks.front().transaction)->resident;
  };
  for (context_in_flight* c : a.swapped_out) {
    if (returns(c)) continue;
    --switches_;
    if (c->mode == preemption_mode::drain) continue;
    for (const switched_block& b : c->blocks) {
      auto& block = *static_cast<block_in_flight*>(b.transaction);
      block.recording.reset();
      blocks_.give_back(block);
    }
  }
  a.swapped_out.erase(
      std::remove_if(a.swapped_out.begin(), a.swapped_out.end(), [&](const auto* c) { return !returns(c); }),
      a.swapped_out.end());
}

void compute_work_distributor::drive_abandonment(cycle_t cycle) {
  bool left = false;
  for (unsigned sm = 0; sm < accounts_.size(); ++sm) {
    sm_account& a = accounts_[sm];
    if (a.switching) {
      left = true;
      continue;
    }
    drop_swapped_out(a);
    if (a.blocks == 0) continue;
    left = true;
    auto c = std::make_unique<context_in_flight>();
    c->sm = sm;
    c->mode = preemption_mode::flush;
    c->request_cycle = cycle;
    c->first = c.get();  // not one of the preemptions that are counted
    ++switches_;
    send(sm, *c, cta_phase::preempt, cycle);
    last_requests_.push_back(std::move(c));
  }
  for (const grid_record& g : grids_) left = left || (!g.finished && g.unsettled != 0);
  if (!left) return end_grids(cycle);
  cycle_t at = never;
  for (const arrival& a : arrivals_) at = std::min(at, a.cycle);
  for (const auto& [number, g] : groups_) at = std::min(at, std::max(g.proceeds, cycle + 1));
  if (at != never) clock_.wake_at(at);
}

void compute_work_distributor::end_grids(cycle_t cycle) {
  for (grid_record& g : grids_) {
    if (g.finished) continue;
    end(g, cycle);
    g.abandoned = true;
    g.next_block.reset();
  }
  invariant(unfinished_ == 0 && switches_ == 0, "a reset left something in the CWD");
  for (front_end& f : fronts_) f.streams.clear();
  groups_.clear();
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
