// SPDX-License-Identifier: MIT
// Programmatic dependent launch: a launch whose blocks are dispatched when all blocks of the launch before it in its
// stream have allowed that or are complete, before that launch has ended. Source: PTX ISA, griddepcontrol; CUDA C++
// Programming Guide, "Programmatic Dependent Launch and Synchronization".
#include <algorithm>

#include "heddle/gpu/cwd/block_sampler.h"
#include "heddle/gpu/cwd/compute_work_distributor.h"

namespace heddle {

void compute_work_distributor::released(block_in_flight& b) {
  if (b.released) return;
  b.released = true;
  grid_record& g = grids_[b.launch->launch_id];
  if (++g.released != g.blocks() || abandoning_) return;
  const auto& stream = stream_of(g);
  if (stream.size() > 1 && stream.front() == g.launch->launch_id && grids_[stream[1]].launch->programmatic)
    refresh_candidates(g.launch->partition);
}

// All blocks of the first launch have been dispatched, so none of them waits for a place that the second one takes.
// That holds for two launches: a third one waits until the first has ended.
void compute_work_distributor::admit_early(front_end& f, std::deque<std::uint32_t>& stream) {
  const grid_record& first = grids_[stream[0]];
  grid_record& second = grids_[stream[1]];
  if (!may_be_early_ || !second.launch->programmatic || first.released != first.blocks()) return;
  f.candidates.push_back(stream[1]);
  if (second.early) return;
  if (first.sampler != nullptr) first.sampler->close();
  second.early = true;
  ++early_grids_;
  second.ready_cycle = std::max(second.ready_cycle, clock_.cycle() + config_.cwd.launch_latency_cycles);
}

// The launch before `g` has ended.
void compute_work_distributor::meet_prerequisite(grid_record& g, cycle_t cycle) {
  g.early = false;
  g.prerequisite_cycle = cycle;
  --early_grids_;
  for (const auto& b : blocks_.all()) {
    if (!b->sent_early || b->launch != g.launch.get()) continue;
    b->sent_early = false;
    if (!b->resident) {  // it learns of that when it returns
      b->early = false;
      continue;
    }
    cta_phase phase = cta_phase::met;
    sc_core::sc_time delay = clock_.domain().delay_until(cycle + config_.cwd.dispatch_latency_cycles - 1);
    cta_socket[b->sm]->nb_transport_fw(*b, phase, delay);
  }
}

}  // namespace heddle
