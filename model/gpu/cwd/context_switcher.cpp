// SPDX-License-Identifier: MIT
#include "heddle/gpu/cwd/context_switcher.h"

#include <algorithm>

namespace heddle {

context_switcher::context_switcher(const gpu_config& config, clock_port& clock, const cwd_records& records,
                                   grid_observer& observer, switch_host& host)
    : config_(config),
      clock_(clock),
      accounts_(records.sms),
      blocks_(records.blocks),
      grids_(records.grids),
      contexts_(records.contexts),
      last_requests_(records.last_requests),
      counts_(records.counts),
      host_(host),
      cost_(config, records, observer) {}

void context_switcher::ask(unsigned sm, preemption_mode mode, cycle_t now, cycle_t resume_after,
                           std::uint32_t waits_for) {
  auto c = std::make_unique<context_in_flight>();
  c->sm = sm;
  c->mode = mode;
  c->request_cycle = now;
  c->resume_after = resume_after;
  c->waits_for = waits_for;
  accounts_[sm].requests.push_back(c.get());
  contexts_.push_back(std::move(c));
  ++counts_.asked;
  ++switches_;
  clock_.wake_at(now + 1);
}

void context_switcher::drive(cycle_t cycle) {
  for (unsigned sm = 0; sm < accounts_.size(); ++sm) {
    sm_account& a = accounts_[sm];
    // A request takes out the blocks that are resident now; blocks due to return are restored after it.
    while (!a.switching && a.draining == nullptr) {
      if (!(a.requests.empty() ? restore_next(sm, cycle) : begin_switch(sm, cycle))) break;
    }
  }
}

// Begins the oldest requested preemption of the SM, or drops it if the SM has no blocks.
bool context_switcher::begin_switch(unsigned sm, cycle_t cycle) {
  if (leaves_with_clusters(sm)) return begin_group(sm, cycle);
  sm_account& a = accounts_[sm];
  context_in_flight& c = *a.requests.front();
  a.requests.pop_front();
  if (a.drains_next == &c) {
    a.drains_next = nullptr;
    a.draining = &c;
    if (a.blocks == 0) end_draining(a, cycle);
    return true;
  }
  if (a.blocks == 0) {
    drop_request(c, cycle);
    return true;
  }
  set_mode(c, cycle);
  if (c.mode == preemption_mode::drain) a.draining = &c;
  else send(c, cta_phase::preempt, cycle);
  return true;
}

void context_switcher::drop_request(context_in_flight& c, cycle_t cycle) {
  if (c.first == nullptr) ++counts_.found_no_blocks;  // not for a further part of a divided request
  --switches_;
  host_.room_changed(c.sm);
  set_resume_cycle(accounts_[c.sm], c, cycle, cycle);  // for the request's other parts
  const auto at = std::find_if(contexts_.begin(), contexts_.end(), [&](const auto& p) { return p.get() == &c; });
  contexts_.erase(at);
}

void context_switcher::set_mode(context_in_flight& c, cycle_t cycle) {
  // Blocks of a cluster are not run anew.
  if (c.mode != preemption_mode::drain && c.leaving.empty() && holds_cluster(c.sm)) c.mode = preemption_mode::drain;
  // A block that waits for the launch before does not drain while blocks of that launch are away.
  if (c.mode == preemption_mode::automatic && holds_early(c.sm))
    c.mode = config_.context.preemption == choice::preemption::instruction ? preemption_mode::context_switch
                                                                           : preemption_mode::drain;
  if (c.mode == preemption_mode::automatic) divide(c, cycle);
  // A launch that arrived after the request was checked may not allow flush: it is drained then.
  if (c.mode == preemption_mode::flush && c.leaving.empty() && !cost_.can_flush(c.sm)) c.mode = preemption_mode::drain;
}

// Assigns each block the mode with the least estimated cost. Flushed blocks leave first, since that takes no time, then
// switched ones; draining blocks run meanwhile. Each mode after the first becomes a further part of the request.
void context_switcher::divide(context_in_flight& c, cycle_t cycle) {
  sm_account& a = accounts_[c.sm];
  const std::vector<switch_cost::block_choice> choice = cost_.cheapest(c.sm, cycle);
  auto place = std::find_if(contexts_.begin(), contexts_.end(), [&](const auto& p) { return p.get() == &c; }) -
               contexts_.begin();
  context_in_flight* part = nullptr;
  std::vector<context_in_flight*> more;
  for (const preemption_mode mode : {preemption_mode::flush, preemption_mode::context_switch, preemption_mode::drain}) {
    std::vector<const cta_transaction*> leaving;
    for (const switch_cost::block_choice& b : choice)
      if (b.mode == mode) leaving.push_back(b.block);
    if (leaving.empty()) continue;
    if (part == nullptr) {
      part = &c;
    } else {
      auto fresh = std::make_unique<context_in_flight>();
      part = fresh.get();
      part->sm = c.sm;
      part->request_cycle = c.request_cycle;
      part->resume_after = c.resume_after;
      part->waits_for = c.waits_for;
      part->first = c.first = &c;
      contexts_.insert(contexts_.begin() + ++place, std::move(fresh));
      ++switches_;
      more.push_back(part);
    }
    part->mode = mode;
    if (leaving.size() != choice.size()) part->leaving = std::move(leaving);
  }
  a.requests.insert(a.requests.begin(), more.begin(), more.end());
  if (!more.empty() && part->mode == preemption_mode::drain) a.drains_next = part;
}

void context_switcher::send(context_in_flight& c, cta_phase phase, cycle_t cycle) {
  accounts_[c.sm].switching = true;
  host_.send(c, phase, cycle);
}

void context_switcher::saved(context_in_flight& c, cycle_t cycle) {
  sm_account& a = accounts_[c.sm];
  a.switching = false;
  host_.room_changed(c.sm);
  c.saved = true;
  if (c.drops) return dropped(c, cycle);
  for (const switched_block& b : c.blocks) {
    auto& block = *static_cast<block_in_flight*>(b.transaction);
    if (c.mode == preemption_mode::flush) c.lost_cycles.push_back(c.saved_cycle - std::min(c.saved_cycle, block.since));
    a.room.give_back(block.allocation);
    block.resident = false;
    --a.blocks;
  }
  if (c.blocks.empty()) {  // they ended before they could be stopped
    c.resumed = true;
    if (c.first == nullptr && !c.joined) ++counts_.found_no_blocks;
    --switches_;
    leave_group(c);
  } else {
    a.swapped_out.push_back(&c);
  }
  set_resume_cycle(a, c, c.saved_cycle, cycle);
}

void context_switcher::block_completed(const block_in_flight& b, cycle_t cycle) {
  sm_account& a = accounts_[b.sm];
  if (a.draining != nullptr || a.drains_next != nullptr) note_drained(a, b, cycle);
}

// Records the end of a block on a draining SM.
void context_switcher::note_drained(sm_account& a, const block_in_flight& b, cycle_t cycle) {
  context_in_flight& c = a.draining != nullptr ? *a.draining : *a.drains_next;
  if (!c.leaving.empty() && std::find(c.leaving.begin(), c.leaving.end(), &b) == c.leaving.end()) return;
  switched_block record;
  record.launch = b.launch->launch_id;
  record.block = b.block;
  record.warp_ids = b.warp_ids;
  c.blocks.push_back(std::move(record));
  if (a.draining != nullptr && a.blocks == 0) end_draining(a, cycle);
}

void context_switcher::end_draining(sm_account& a, cycle_t cycle) {
  context_in_flight& c = *a.draining;
  a.draining = nullptr;
  c.quiesced_cycle = c.saved_cycle = cycle;
  c.saved = true;
  a.swapped_out.push_back(&c);
  set_resume_cycle(a, c, cycle, cycle);
}

// Blocks that made room for a launch are due to return once that launch has been dispatched, others after their time,
// which begins when the last part of the request has left the SM.
void context_switcher::set_resume_cycle(sm_account& a, context_in_flight& c, cycle_t saved, cycle_t now) {
  const bool more = c.first != nullptr && !a.requests.empty() && a.requests.front()->first == c.first;
  cycle_t at = never;
  if (more) at = never;
  else if (c.waits_for == context_in_flight::no_launch) at = saved + c.resume_after;
  else if (grids_[c.waits_for].waiting() == 0) at = now;
  c.resume_cycle = at;
  for (context_in_flight* other : a.swapped_out)
    if (c.first != nullptr && other->first == c.first) other->resume_cycle = at;
}

// Flushed blocks wait for switched blocks of their launch, which return under their old warp ids: local memory is
// addressed by warp id.
bool context_switcher::wanted_back(const sm_account& a, const context_in_flight& c, cycle_t cycle) const {
  if (c.resume_cycle > cycle) return false;
  if (c.mode != preemption_mode::flush) return true;
  return std::none_of(a.swapped_out.begin(), a.swapped_out.end(), [&](const context_in_flight* other) {
    if (other->mode != preemption_mode::context_switch) return false;
    return std::any_of(other->blocks.begin(), other->blocks.end(), [&](const switched_block& b) {
      return std::any_of(c.blocks.begin(), c.blocks.end(),
                         [&](const switched_block& own) { return own.launch == b.launch; });
    });
  });
}

// Restores blocks that are due to return, those that left last first, as soon as they fit. Returns false if nothing can
// be done now.
bool context_switcher::restore_next(unsigned sm, cycle_t cycle) {
  sm_account& a = accounts_[sm];
  // Clusters need room on other SMs, too. Without time slices the blocks there may wait for what left this SM earlier,
  // which is then restored before.
  const auto is_wanted = [&](const auto* c) {
    if (c->group == 0) return wanted_back(a, *c, cycle);
    const switch_group& g = groups_.at(c->group);
    return is_due(g, cycle) && (config_.context.time_slice_cycles != 0 || fits(g));
  };
  const auto last = std::find_if(a.swapped_out.rbegin(), a.swapped_out.rend(), is_wanted);
  if (last == a.swapped_out.rend()) return false;
  // Time slices rotate: the blocks that left first return first.
  context_in_flight& c = config_.context.time_slice_cycles != 0
                             ? **std::find_if(a.swapped_out.begin(), a.swapped_out.end(), is_wanted)
                             : **last;
  if (c.mode == preemption_mode::drain) {
    c.restore_cycle = c.resumed_cycle = cycle;
    resumed(c, cycle);
    return true;
  }
  if (!fits(c)) {
    if (config_.context.time_slice_cycles == 0 || a.blocks == 0 || cycle < slice_end(a)) return false;
    ask(sm, preemption_mode::context_switch, cycle, config_.context.time_slice_cycles);
    return begin_switch(sm, cycle);
  }
  if (c.group == 0) {
    restore_context(c, cycle);
    return true;
  }
  const switch_group& g = groups_.at(c.group);
  if (!fits(g)) return false;
  for (context_in_flight* m : g.members) restore_context(*m, cycle);
  return true;
}

bool context_switcher::fits(const context_in_flight& c) const {
  sm_resources trial = accounts_[c.sm].room.free();
  for (const switched_block& b : c.blocks) {
    block_allocation allocation = static_cast<block_in_flight*>(b.transaction)->allocation;
    if (!trial.fits_again(allocation)) return false;
    trial.take_again(allocation);
  }
  return true;
}

void context_switcher::restore_context(context_in_flight& c, cycle_t cycle) {
  sm_account& a = accounts_[c.sm];
  for (const switched_block& b : c.blocks) {
    auto& block = *static_cast<block_in_flight*>(b.transaction);
    a.room.take_again(block.allocation);
    block.resident = true;
  }
  a.blocks += c.blocks.size();
  send(c, cta_phase::restore, cycle);
}

void context_switcher::resumed(context_in_flight& c, cycle_t cycle) {
  sm_account& a = accounts_[c.sm];
  if (c.mode != preemption_mode::drain) a.slice_start = cycle;
  for (const switched_block& b : c.blocks) {
    if (c.mode == preemption_mode::drain) break;
    auto& block = *static_cast<block_in_flight*>(b.transaction);
    block.since = c.mode == preemption_mode::flush ? cycle : block.since + (c.resumed_cycle - c.quiesced_cycle);
  }
  a.switching = false;
  host_.room_changed(c.sm);
  c.resumed = true;
  --switches_;
  a.swapped_out.erase(std::find(a.swapped_out.begin(), a.swapped_out.end(), &c));
  leave_group(c);
}

bool context_switcher::waits_for_time(cycle_t now) const {
  for (const sm_account& a : accounts_)
    for (const context_in_flight* c : a.swapped_out)
      if (c->resume_cycle > now && c->resume_cycle != never) return true;
  return false;
}

// Blocks that have made room for the grid are due to return.
void context_switcher::all_dispatched(std::uint32_t launch, cycle_t cycle) {
  for (sm_account& a : accounts_)
    for (context_in_flight* c : a.swapped_out)
      if (c->waits_for == launch) c->resume_cycle = cycle + 1;
}

// Blocks that are swapped out are due at a known time; everything else begins with a message or a request.
cycle_t context_switcher::next(cycle_t cycle) const {
  cycle_t at = never;
  for (const auto& [number, g] : groups_)
    if (g.proceeds > cycle) at = std::min(at, g.proceeds);
  for (const sm_account& a : accounts_)
    for (const context_in_flight* c : a.swapped_out)
      if (c->resume_cycle > cycle) at = std::min(at, c->resume_cycle);
      else if (config_.context.time_slice_cycles != 0 && may_be_asked(a) && slice_end(a) > cycle)
        at = std::min(at, slice_end(a));  // they are due, but other blocks may use up their time slice
  return at;
}

bool context_switcher::may_be_asked(const sm_account& a) {
  return a.blocks != 0 && !a.switching && a.draining == nullptr && a.requests.empty();
}

cycle_t context_switcher::slice_end(const sm_account& a) const {
  return a.slice_start + config_.context.time_slice_cycles;
}

bool context_switcher::holds_early(unsigned sm) const {
  return std::any_of(blocks_.all().begin(), blocks_.all().end(),
                     [&](const auto& b) { return b->resident && b->sent_early && b->sm == sm; });
}

}  // namespace heddle
