// SPDX-License-Identifier: MIT
// Context switches as the CWD sees them: which SM is freed of its blocks, and when they come back.
#include <algorithm>

#include "config/error.h"
#include "gpu/compute_work_distributor.h"

namespace heddle {

void compute_work_distributor::preempt(const preempt_request& request) {
  const cycle_t now = clock_.cycle();
  for (const unsigned sm : request.sms) ask(sm, request.mode, now, request.resume_after, context_in_flight::no_launch);
}

void compute_work_distributor::ask(unsigned sm, preemption_mode mode, cycle_t now, cycle_t resume_after, std::uint32_t waits_for) {
  auto c = std::make_unique<context_in_flight>();
  c->sm = sm;
  c->mode = mode;
  c->request_cycle = now;
  c->resume_after = resume_after;
  c->waits_for = waits_for;
  accounts_[sm].requests.push_back(c.get());
  contexts_.push_back(std::move(c));
  ++switches_;
  clock_.wake_at(now + 1);
}

void compute_work_distributor::drive_switches(cycle_t cycle) {
  for (unsigned sm = 0; sm < accounts_.size(); ++sm) {
    sm_account& a = accounts_[sm];
    // A request takes out what is resident now; who is away and wanted back comes after it.
    while (!a.switching && a.draining == nullptr) {
      if (!a.requests.empty())
        begin_switch(sm, cycle);
      else if (!bring_back(sm, cycle))
        break;
    }
  }
}

// Begins the oldest preemption of the SM that has been asked for; one that finds no blocks is dropped.
void compute_work_distributor::begin_switch(unsigned sm, cycle_t cycle) {
  sm_account& a = accounts_[sm];
  context_in_flight& c = *a.requests.front();
  a.requests.pop_front();
  if (a.blocks == 0) {
    --switches_;
    blocked_ = false;
    const auto at = std::find_if(contexts_.begin(), contexts_.end(), [&](const auto& p) { return p.get() == &c; });
    contexts_.erase(at);
    return;
  }
  if (c.mode == preemption_mode::automatic) c.mode = cheapest(sm, cycle);
  // A launch that came after the request was checked may not be dropped: it runs to its end.
  if (c.mode == preemption_mode::flush && !can_flush(sm)) c.mode = preemption_mode::drain;
  if (c.mode == preemption_mode::drain) {
    a.draining = &c;
    return;
  }
  tell(sm, c, cta_phase::preempt, cycle);
}

void compute_work_distributor::tell(unsigned sm, context_in_flight& c, cta_phase phase, cycle_t cycle) {
  accounts_[sm].switching = true;
  sc_core::sc_time delay = clock_.domain().delay_until(cycle + config_.cwd.dispatch_latency_cycles - 1);
  cta_socket[sm]->nb_transport_fw(c, phase, delay);
}

void compute_work_distributor::saved(context_in_flight& c, cycle_t cycle) {
  sm_account& a = accounts_[c.sm];
  a.switching = false;
  blocked_ = false;
  c.saved = true;
  for (const switched_block& b : c.blocks) {
    auto& block = *static_cast<block_in_flight*>(b.transaction);
    a.resources.give_back(block.allocation);
    block.resident = false;
    --a.blocks;
  }
  set_resume_cycle(c, c.saved_cycle, cycle);
  if (c.blocks.empty()) {   // they ended before they could be stopped
    c.resumed = true;
    --switches_;
  } else {
    a.away.push_back(&c);
  }
}

// A block of an SM that is being drained has ended.
void compute_work_distributor::note_drained(sm_account& a, const block_in_flight& b, cycle_t cycle) {
  context_in_flight& c = *a.draining;
  switched_block record;
  record.launch = b.launch->launch_id;
  record.block = b.block;
  record.warp_ids = b.warp_ids;
  c.blocks.push_back(std::move(record));
  if (a.blocks != 0) return;
  a.draining = nullptr;
  c.quiesced_cycle = c.saved_cycle = cycle;
  c.saved = true;
  set_resume_cycle(c, cycle, cycle);
  a.away.push_back(&c);
}

// Blocks that made room for a launch are wanted back once that has been dispatched, all others after their time.
void compute_work_distributor::set_resume_cycle(context_in_flight& c, cycle_t saved, cycle_t now) {
  if (c.waits_for == context_in_flight::no_launch) {
    c.resume_cycle = saved + c.resume_after;
  } else {
    const grid_record& g = grids_[c.waits_for];
    c.resume_cycle = g.dispatched == g.blocks() ? now : never;
  }
}

// Calls blocks back that are wanted, the last that left first, as soon as there is room for them. False: nothing to do now.
bool compute_work_distributor::bring_back(unsigned sm, cycle_t cycle) {
  sm_account& a = accounts_[sm];
  const auto is_wanted = [cycle](const auto* c) { return c->resume_cycle <= cycle; };
  const auto last = std::find_if(a.away.rbegin(), a.away.rend(), is_wanted);
  if (last == a.away.rend()) return false;
  // Time slices go round: who left first comes back first.
  context_in_flight& c = config_.context.time_slice_cycles != 0 ? **std::find_if(a.away.begin(), a.away.end(), is_wanted) : **last;
  if (c.mode == preemption_mode::drain) {
    c.restore_cycle = c.resumed_cycle = cycle;
    resumed(c, cycle);
    return true;
  }
  sm_resources trial = a.resources;
  for (const switched_block& b : c.blocks) {
    block_allocation allocation = static_cast<block_in_flight*>(b.transaction)->allocation;
    if (!trial.fits_again(allocation)) {
      if (config_.context.time_slice_cycles == 0 || a.blocks == 0 || cycle < slice_end(a)) return false;
      ask(sm, preemption_mode::context_switch, cycle, config_.context.time_slice_cycles, context_in_flight::no_launch);
      begin_switch(sm, cycle);
      return true;
    }
    trial.take_again(allocation);
  }
  for (const switched_block& b : c.blocks) {
    auto& block = *static_cast<block_in_flight*>(b.transaction);
    a.resources.take_again(block.allocation);
    block.resident = true;
  }
  a.blocks += c.blocks.size();
  tell(sm, c, cta_phase::restore, cycle);
  return true;
}

void compute_work_distributor::resumed(context_in_flight& c, cycle_t cycle) {
  sm_account& a = accounts_[c.sm];
  if (c.mode != preemption_mode::drain) a.slice_start = cycle;
  for (const switched_block& b : c.blocks) {
    if (c.mode == preemption_mode::drain) break;
    auto& block = *static_cast<block_in_flight*>(b.transaction);
    block.since = c.mode == preemption_mode::flush ? cycle : block.since + (c.resumed_cycle - c.quiesced_cycle);
  }
  a.switching = false;
  blocked_ = false;
  c.resumed = true;
  --switches_;
  a.away.erase(std::find(a.away.begin(), a.away.end(), &c));
}

// Blocks that are away are wanted back at a known time; all else is begun by a message or a request.
cycle_t compute_work_distributor::next_switch(cycle_t cycle) const {
  cycle_t at = never;
  for (const sm_account& a : accounts_)
    for (const context_in_flight* c : a.away)
      if (c->resume_cycle > cycle)
        at = std::min(at, c->resume_cycle);
      else if (config_.context.time_slice_cycles != 0 && may_be_asked(a) && slice_end(a) > cycle)
        at = std::min(at, slice_end(a));   // wanted back, and others have the room until then
  return at;
}

}  // namespace heddle
