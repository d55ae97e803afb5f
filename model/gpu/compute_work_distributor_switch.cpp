// SPDX-License-Identifier: MIT
// Context switches as the CWD sees them: which SM is freed of its blocks, and when they come back.
#include <algorithm>

#include "config/error.h"
#include "gpu/compute_work_distributor.h"

namespace heddle {

void compute_work_distributor::preempt(const preempt_request& request) {
  const cycle_t now = clock_.cycle();
  for (const unsigned sm : request.sms) {
    auto c = std::make_unique<context_in_flight>();
    c->sm = sm;
    c->mode = request.mode;
    c->request_cycle = now;
    c->resume_after = request.resume_after;
    accounts_[sm].requests.push_back(c.get());
    contexts_.push_back(std::move(c));
    ++switches_;
  }
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

void compute_work_distributor::saved(context_in_flight& c, cycle_t) {
  sm_account& a = accounts_[c.sm];
  a.switching = false;
  blocked_ = false;
  c.saved = true;
  for (const switched_block& b : c.blocks) {
    a.resources.give_back(static_cast<block_in_flight*>(b.transaction)->allocation);
    --a.blocks;
  }
  c.resume_cycle = c.saved_cycle + c.resume_after;
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
  c.resume_cycle = cycle + c.resume_after;
  a.away.push_back(&c);
}

// Calls blocks back that are wanted, the last that left first, as soon as there is room for them. False: nothing to do now.
bool compute_work_distributor::bring_back(unsigned sm, cycle_t cycle) {
  sm_account& a = accounts_[sm];
  const auto wanted = std::find_if(a.away.rbegin(), a.away.rend(), [cycle](const auto* c) { return c->resume_cycle <= cycle; });
  if (wanted == a.away.rend()) return false;
  context_in_flight& c = **wanted;
  if (c.mode == preemption_mode::drain) {
    c.restore_cycle = c.resumed_cycle = cycle;
    resumed(c, cycle);
    return true;
  }
  sm_resources trial = a.resources;
  for (const switched_block& b : c.blocks) {
    block_allocation allocation = static_cast<block_in_flight*>(b.transaction)->allocation;
    if (!trial.fits_again(allocation)) return false;
    trial.take_again(allocation);
  }
  for (const switched_block& b : c.blocks) a.resources.take_again(static_cast<block_in_flight*>(b.transaction)->allocation);
  a.blocks += c.blocks.size();
  tell(sm, c, cta_phase::restore, cycle);
  return true;
}

void compute_work_distributor::resumed(context_in_flight& c, cycle_t) {
  sm_account& a = accounts_[c.sm];
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
      if (c->resume_cycle > cycle) at = std::min(at, c->resume_cycle);
  return at;
}

}  // namespace heddle
