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

// Blocks that have been switched out, or are on the way, are dropped once they are resident again.
void compute_work_distributor::drop_blocks(cycle_t cycle) {
  std::vector<std::vector<const cta_transaction*>> leaving(accounts_.size());
  std::vector<bool> together(accounts_.size());
  const auto may_leave = [this](const block_in_flight* b) { return !accounts_[b->sm].switching; };
  for (const auto& b : blocks_.all()) {
    if (!b->resident || !grids_[b->launch->launch_id].terminated) continue;
    const bool alone = b->launch->cluster_blocks() == 1;
    const std::vector<block_in_flight*> others = alone ? std::vector<block_in_flight*>() : cluster_blocks_of(*b);
    if (!may_leave(b.get()) || !std::all_of(others.begin(), others.end(), may_leave)) continue;
    leaving[b->sm].push_back(b.get());
    if (!alone) together[b->sm] = true;
  }
  const std::uint32_t group = std::count(together.begin(), together.end(), true) == 0 ? 0 : ++groups_begun_;
  for (unsigned sm = 0; sm < accounts_.size(); ++sm) {
    if (leaving[sm].empty()) continue;
    auto c = std::make_unique<context_in_flight>();
    c->sm = sm;
    c->mode = preemption_mode::flush;
    c->drops = true;
    c->leaving = std::move(leaving[sm]);
    c->request_cycle = cycle;
    if (together[sm]) join_group(group, *c);
    ++switches_;
    send(sm, *c, cta_phase::preempt, cycle);
    last_requests_.push_back(std::move(c));
  }
  const std::vector<std::uint32_t> ending = std::move(terminated_);
  terminated_.clear();
  for (const std::uint32_t id : ending) {
    const cycle_t ends = grids_[id].ends_cycle;
    if (ends > cycle) clock_.wake_at(ends);
    else finish_if_done(grids_[id], cycle);
    if (!grids_[id].finished) terminated_.push_back(id);
  }
}

void compute_work_distributor::dropped(context_in_flight& c, cycle_t cycle) {
  sm_account& a = accounts_[c.sm];
  for (const switched_block& b : c.blocks) {
    auto& block = *static_cast<block_in_flight*>(b.transaction);
    grid_record& g = grids_[block.launch->launch_id];
    a.room.give_back(block.allocation);
    --a.blocks;
    count_client(*block.launch, c.sm, false);
    block.resident = block.sent_early = false;
    block.recording.reset();
    blocks_.give_back(block);
    ++g.dropped;
    --blocks_submitted_;
  }
  --switches_;
  leave_group(c);
  if (a.draining != nullptr && a.blocks == 0) end_draining(a, cycle);
}

}  // namespace heddle
