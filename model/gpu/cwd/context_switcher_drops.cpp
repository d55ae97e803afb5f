// SPDX-License-Identifier: MIT
// Blocks that leave their SMs as for the preemption mode flush and do not return: of launches that the host ends, as a
// driver does for a process that has gone, and all of them in a reset.
#include <algorithm>

#include "heddle/gpu/cwd/context_switcher.h"

namespace heddle {

// A request to the SM that is none of the preemptions that are counted.
context_in_flight& context_switcher::last_request(unsigned sm, cycle_t cycle) {
  context_in_flight& c = *last_requests_.emplace_back(std::make_unique<context_in_flight>());
  c.sm = sm;
  c.mode = preemption_mode::flush;
  c.request_cycle = cycle;
  ++switches_;
  return c;
}

void context_switcher::drop_terminated(cycle_t cycle) {
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
    context_in_flight& c = last_request(sm, cycle);
    c.drops = true;
    c.leaving = std::move(leaving[sm]);
    if (together[sm]) join_group(group, c);
    send(c, cta_phase::preempt, cycle);
  }
}

void context_switcher::dropped(context_in_flight& c, cycle_t cycle) {
  sm_account& a = accounts_[c.sm];
  for (const switched_block& b : c.blocks) {
    auto& block = *static_cast<block_in_flight*>(b.transaction);
    a.room.give_back(block.allocation);
    --a.blocks;
    host_.block_dropped(block);
    block.resident = block.sent_early = false;
    block.recording.reset();
    blocks_.give_back(block);
  }
  --switches_;
  leave_group(c);
  if (a.draining != nullptr && a.blocks == 0) end_draining(a, cycle);
}

void context_switcher::abandon() {
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
}

// Drops the blocks that have left the SM, but for those that are being restored.
void context_switcher::drop_swapped_out(sm_account& a) {
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

bool context_switcher::drive_abandonment(cycle_t cycle) {
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
    context_in_flight& c = last_request(sm, cycle);
    c.first = &c;  // not one of the preemptions that are counted
    send(c, cta_phase::preempt, cycle);
  }
  return left;
}

}  // namespace heddle
