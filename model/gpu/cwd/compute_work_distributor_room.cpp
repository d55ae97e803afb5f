// SPDX-License-Identifier: MIT
// Makes room by preemption: less urgent blocks for a launch of higher priority, and streams for each other after a time
// slice.
#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/gpu/cwd/compute_work_distributor.h"

namespace heddle {

std::vector<compute_work_distributor::residents> compute_work_distributor::all_residents() const {
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

bool compute_work_distributor::may_be_asked(const sm_account& a) const {
  return a.blocks != 0 && !a.switching && a.draining == nullptr && a.requests.empty();
}

cycle_t compute_work_distributor::slice_end(const sm_account& a) const {
  return a.slice_start + config_.context.time_slice_cycles;
}

// Called when the blocks of some grid fit nowhere.
void compute_work_distributor::make_room(const front_end& f, cycle_t cycle) {
  const bool by_priority = config_.context.priority_preemption != choice::priority_preemption::none;
  const bool by_slice = config_.context.time_slice_cycles != 0;
  if (!by_priority && !by_slice) return;
  const std::vector<residents> on = all_residents();
  for (const std::uint32_t id : f.candidates) {
    const grid_record& g = grids_[id];
    if (g.waiting() == 0 || g.ready_cycle > cycle || g.early) continue;
    if (by_priority) make_room_by_priority(g, on, cycle);
    if (by_slice) make_room_by_slice(g, on, cycle);
  }
}

// Preempts as many SMs as the launch's blocks need: among those with only less urgent blocks, the ones with fewest
// blocks.
void compute_work_distributor::make_room_by_priority(const grid_record& g, const std::vector<residents>& on,
                                                     cycle_t cycle) {
  const std::uint64_t per_sm = std::max(1u, g.footprint.limits.least());
  std::uint64_t needed = (g.waiting() + per_sm - 1) / per_sm;
  std::vector<bool> asked(accounts_.size());
  for (const auto& c : contexts_)
    if (c->waits_for == g.launch->launch_id && !c->saved) asked[c->sm] = true;
  needed -= std::min<std::uint64_t>(needed, static_cast<std::uint64_t>(std::count(asked.begin(), asked.end(), true)));
  std::vector<unsigned> chosen;
  for (unsigned sm = 0; sm < accounts_.size(); ++sm)
    if (on[sm].any && on[sm].most_urgent < g.launch->priority && may_be_asked(accounts_[sm]) && may_use(sm, g))
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
  for (const unsigned sm : chosen) ask(sm, mode, cycle, 0, g.launch->launch_id);
}

// Preempts all SMs on which only blocks of other streams, none more urgent, have used up their time slice.
void compute_work_distributor::make_room_by_slice(const grid_record& g, const std::vector<residents>& on,
                                                  cycle_t cycle) {
  for (unsigned sm = 0; sm < accounts_.size(); ++sm) {
    const residents& r = on[sm];
    const bool there = std::find(r.streams.begin(), r.streams.end(), g.launch->stream_key()) != r.streams.end();
    if (!r.any || there || r.most_urgent > g.launch->priority || !may_be_asked(accounts_[sm]) ||
        cycle < slice_end(accounts_[sm]) || !may_use(sm, g))
      continue;
    ask(sm, preemption_mode::context_switch, cycle, config_.context.time_slice_cycles, context_in_flight::no_launch);
  }
}

std::string compute_work_distributor::waiting_blocks_text() const {
  std::string text;
  for (const sm_account& a : accounts_)
    for (const context_in_flight* c : a.swapped_out) {
      if (!wanted_back(a, *c, clock_.cycle()) || c->mode == preemption_mode::drain) continue;
      const switched_block& first = c->blocks.front();
      const bool more = c->blocks.size() > 1;
      text += "\n  block " + std::to_string(first.block) + " of kernel '" +
              grids_[first.launch].launch->program->kernel + "'";
      if (more) text += " and " + std::to_string(c->blocks.size() - 1) + " more";
      text += ", which left sm " + std::to_string(c->sm) + " in cycle " + std::to_string(c->saved_cycle) + " (launch " +
              std::to_string(first.launch) + ") and " +
              (more ? "are to be restored, wait" : "is to be restored, waits") + " for the blocks there to end";
    }
  std::vector<std::uint32_t> waiting;
  for (const front_end& f : fronts_) waiting.insert(waiting.end(), f.candidates.begin(), f.candidates.end());
  for (const std::uint32_t id : waiting) {
    const grid_record& g = grids_[id];
    if (g.waiting() == 0 || g.ready_cycle > clock_.cycle()) continue;
    const unsigned cluster = g.launch->cluster_blocks();
    text += "\n  " + std::to_string(g.waiting()) + " blocks of kernel '" + g.launch->program->kernel + "' (launch " +
            std::to_string(id) + ", stream " + std::to_string(g.launch->stream) + ") wait for " +
            (cluster > 1 ? "places in one GPC for a cluster of " + std::to_string(cluster) : "a place on an SM");
  }
  return text;
}

}  // namespace heddle
