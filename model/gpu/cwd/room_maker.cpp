// SPDX-License-Identifier: MIT
#include "heddle/gpu/cwd/room_maker.h"

#include <algorithm>

#include "heddle/gpu/cwd/context_switcher.h"

namespace heddle {

std::vector<room_maker::residents> room_maker::all_residents() const {
  std::vector<residents> on(accounts_.size());
  for (const auto& b : blocks_.all()) {
    if (!b->resident) continue;
    residents& r = on[b->sm];
    r.most_urgent = r.any ? std::max(r.most_urgent, b->launch->priority) : b->launch->priority;
    r.any = true;
    if (std::find(r.streams.begin(), r.streams.end(), b->launch->stream_key()) == r.streams.end())
      r.streams.push_back(b->launch->stream_key());
  }
  return on;
}

void room_maker::make_room(const std::vector<std::uint32_t>& waiting, cycle_t cycle) {
  const bool by_priority = config_.context.priority_preemption != choice::priority_preemption::none;
  const bool by_slice = config_.context.time_slice_cycles != 0;
  if (!by_priority && !by_slice) return;
  const std::vector<residents> on = all_residents();
  for (const std::uint32_t id : waiting) {
    const grid_record& g = grids_[id];
    if (g.waiting() == 0 || g.ready_cycle > cycle || g.early) continue;
    if (by_priority) make_by_priority(g, on, cycle);
    if (by_slice) make_by_slice(g, on, cycle);
  }
}

// Preempts as many SMs as the launch's blocks need: among those with only less urgent blocks, the ones with fewest
// blocks.
void room_maker::make_by_priority(const grid_record& g, const std::vector<residents>& on, cycle_t cycle) {
  const std::uint64_t per_sm = std::max(1u, g.footprint.limits.least());
  std::uint64_t needed = (g.waiting() + per_sm - 1) / per_sm;
  std::vector<bool> asked(accounts_.size());
  for (const auto& c : contexts_)
    if (c->waits_for == g.launch->launch_id && !c->saved) asked[c->sm] = true;
  needed -= std::min<std::uint64_t>(needed, static_cast<std::uint64_t>(std::count(asked.begin(), asked.end(), true)));
  std::vector<unsigned> chosen;
  for (unsigned sm = 0; sm < accounts_.size(); ++sm)
    if (on[sm].any && on[sm].most_urgent < g.launch->priority && context_switcher::may_be_asked(accounts_[sm]) &&
        shares_.may_use(sm, g))
      chosen.push_back(sm);
  std::stable_sort(chosen.begin(), chosen.end(),
                   [this](unsigned a, unsigned b) { return accounts_[a].blocks < accounts_[b].blocks; });
  if (chosen.size() > needed) chosen.resize(needed);
  using policy = choice::priority_preemption;
  const policy how = config_.context.priority_preemption;
  const preemption_mode mode = how == policy::drain   ? preemption_mode::drain
                               : how == policy::flush ? preemption_mode::flush
                               : how == policy::auto_ ? preemption_mode::automatic
                                                      : preemption_mode::context_switch;
  for (const unsigned sm : chosen) switcher_.ask(sm, mode, cycle, 0, g.launch->launch_id);
}

// Preempts all SMs on which only blocks of other streams, none more urgent, have used up their time slice.
void room_maker::make_by_slice(const grid_record& g, const std::vector<residents>& on, cycle_t cycle) {
  for (unsigned sm = 0; sm < accounts_.size(); ++sm) {
    const residents& r = on[sm];
    const bool there = std::find(r.streams.begin(), r.streams.end(), g.launch->stream_key()) != r.streams.end();
    if (!r.any || there || r.most_urgent > g.launch->priority || !context_switcher::may_be_asked(accounts_[sm]) ||
        cycle < switcher_.slice_end(accounts_[sm]) || !shares_.may_use(sm, g))
      continue;
    switcher_.ask(sm, preemption_mode::context_switch, cycle, config_.context.time_slice_cycles);
  }
}

}  // namespace heddle
