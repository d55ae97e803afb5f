// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/stream/instruction_stream.h"

#include "heddle/config/error.h"
#include "heddle/simt/warp/divergence.h"
#include "heddle/sub_partition/account/stall_account.h"

namespace heddle {

void instruction_stream::issue_branch(unsigned slot, simt::lane_mask mask, cycle_t cycle, unsigned latency) const {
  warp_slot& w = s_.warps[slot];
  const decoded_instruction& d = *w.next;
  const std::uint32_t fall_through = w.state.pc + 1;
  const bool diverged = branch(w, mask);
  if (d.edge != back_edge::none && mask != 0)
    simt::take_back_edge(w.state, d.edge == back_edge::waits, s_.config.sub_partition.convergence_patience_iterations);
  ++w.counters->branches;
  w.counters->divergent_branches += diverged;
  // A branch target is known when the branch is resolved; the fall-through path is already buffered.
  const cycle_t resolved = cycle + latency;
  const cycle_t at = w.state.pc == fall_through
                         ? s_.fetch.next(slot, w.program->code_address, w.state.pc, resolved)
                         : s_.fetch.redirect(slot, w.program->code_address, w.state.pc, resolved);
  s_.control.settle(slot, cycle + 1, at, true);
}

void instruction_stream::exited(unsigned slot, simt::lane_mask mask, cycle_t cycle) const {
  warp_slot& w = s_.warps[slot];
  w.phase = warp_phase::exited;
  s_.scheduler.set_waiting(slot);
  s_.supervisor.lanes_exited(w.state.slot, mask, cycle);
  if (!s_.faults.halted() && w.loads + w.queued == 0) s_.control.set_timer(slot, cycle + 1);
}

void instruction_stream::exchange_state(warp_slot& w, simt::context_image& image) {
  image(w.state);
  image(w.stopped_in);
  image(w.rest);
  image(w.sequence);
  if (w.launch->program->most_registers != 0) image(w.registers);
}

bool instruction_stream::known_wait(const warp_slot& w) {
  return w.stopped_in == warp_phase::waiting || w.stopped_in == warp_phase::at_barrier ||
         w.stopped_in == warp_phase::at_fence || w.stopped_in == warp_phase::sleeping;
}

void instruction_stream::restored(warp_slot& w, bool plausible) {
  if (!plausible) throw program_error("a context that was swapped out came back damaged from memory");
  w.state.predicates[isa::pt] = simt::all_lanes;
  stall_account::set_next(w, w.state.pc);
}

std::string position_of(const warp_slot& w) { return w.stream->place_of(w, *w.next->instruction); }

std::string owner_of(const warp_slot& w) {
  const simt::dim3& b = w.state.block->index;
  return "block (" + std::to_string(b.x) + "," + std::to_string(b.y) + "," + std::to_string(b.z) + ") of kernel '" +
         w.launch->program->kernel + "'";
}

}  // namespace heddle
