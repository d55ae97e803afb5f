// SPDX-License-Identifier: MIT
// The lookahead of an SM towards the CWD: what the CWD may still send to it, and when that arrives.
#include <algorithm>
#include <cmath>

#include "heddle/gpu/cwd/compute_work_distributor.h"

namespace heddle {

cycle_t compute_work_distributor::nothing_arrives_until(unsigned sm, cycle_t now, bool requests) const {
  // Calls of the device runtime access state that all SMs share, so SMs must make them in order of time.
  if (with_runtime_ != 0) return now;
  const cycle_t latency = config_.cwd.dispatch_latency_cycles;
  cycle_t until = now + latency;  // any message is sent in the next cycle at the earliest
  const front_end& f = fronts_[partition_of_sm_[sm]];
  const bool makes_room = config_.context.time_slice_cycles != 0 ||
                          (config_.context.priority_preemption != choice::priority_preemption::none && unfinished_ > 1);
  if (!requests && !makes_room && early_grids_ == 0 && !switcher_.is_busy() && terminated_.empty() &&
      f.streams.size() <= config_.cwd.max_resident_grids) {
    // A grid whose blocks do not fit this SM now must wait for one of the SM's own blocks to end. A grid that is
    // submitted later is not ready before its launch latency has passed.
    const sm_account& a = accounts_[sm];
    until = now + std::max(1u, config_.cwd.launch_latency_cycles) + latency - 1;
    cycle_t next_block = never;
    for (const std::uint32_t id : f.candidates) {
      const grid_record& g = grids_[id];
      if (g.waiting() != 0 && a.room.free().fits(g.footprint)) next_block = std::min(next_block, g.ready_cycle);
    }
    if (next_block != never) {
      // The SMs before this one may get blocks of other grids from now on.
      const double interval = config_.cwd.dispatch_interval_cycles, before = blocks_before(sm) * interval;
      // The first dispatch may have been rounded up, or be one of several in its cycle.
      const bool rounded = before != std::floor(before) || interval < 1;
      const cycle_t own_dispatch =
          std::max(now + 1, f.next_dispatch) + static_cast<cycle_t>(before) - (rounded && before >= 1 ? 1 : 0);
      until = std::min(until, std::max(next_block, own_dispatch) + latency - 1);
    }
    for (const arrival& m : arrivals_)
      if (m.transaction->sm == sm) until = std::min(until, m.cycle + latency - 1);
  }
  for (const arrival& m : arrivals_)
    if (m.phase == cta_phase::fault) until = std::min(until, m.cycle - 1);
  return until;
}

// True if the next block fits on the SM, whichever grid it comes from.
bool compute_work_distributor::takes_all(unsigned sm) const {
  const sm_account& a = accounts_[sm];
  const front_end& f = fronts_[partition_of_sm_[sm]];
  return a.room.takes_all(waiting_set(f), [&] {
    return std::all_of(f.candidates.begin(), f.candidates.end(), [&](std::uint32_t id) {
      const grid_record& g = grids_[id];
      return g.waiting() == 0 || a.room.free().fits(g.footprint);
    });
  });
}

// The number, counted up to `enough`, of other SMs that certainly get a block before this one: they come first in
// placement order, and any block fits them.
unsigned compute_work_distributor::blocks_before(unsigned sm) const {
  constexpr unsigned enough = 16;
  const unsigned partition = partition_of_sm_[sm];
  const front_end& f = fronts_[partition];
  // A cluster takes SMs of a GPC that has room for all its blocks, which may be this one first. A client with a share
  // of the SMs may be refused by others, and have blocks on this one.
  for (const std::uint32_t id : f.candidates) {
    const resident_launch& l = *grids_[id].launch;
    if (grids_[id].waiting() != 0 && (l.cluster_blocks() > 1 || l.client_sms != 0)) return 0;
  }
  return f.placement->served_before(sm, static_cast<unsigned>(accounts_.size()), enough,
                                    [&](unsigned i) { return partition_of_sm_[i] == partition && takes_all(i); });
}

std::string compute_work_distributor::waiting_blocks_text() const {
  std::string text;
  for (const sm_account& a : accounts_)
    for (const context_in_flight* c : a.swapped_out) {
      if (!switcher_.wanted_back(a, *c, clock_.cycle()) || c->mode == preemption_mode::drain) continue;
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
