// SPDX-License-Identifier: MIT
// Context switch in a sub-partition: its warps are stopped between two instructions, written out, and restored.
#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/sub_partition/sub_partition.h"

namespace heddle {

namespace {
// Fills the registers and state of a swapped-out warp, so that a program that read them would compute wrong results.
constexpr std::uint32_t poison = 0xdeadbeef;
constexpr unsigned line_words = 32;
}  // namespace

void sub_partition::stop(unsigned slot, cycle_t cycle) {
  warp_slot& w = slots_[slot];
  if (w.phase == warp_phase::empty || w.phase == warp_phase::exited || w.phase == warp_phase::stopped) return;
  if (w.phase == warp_phase::ready) account_ready(slot, std::max(cycle, w.mark));
  else account(slot, cycle);
  // A warp that waits for operands, its unit or its replays re-evaluates its instruction when it resumes. Other waits
  // continue where they stopped.
  const bool looks_anew = w.phase == warp_phase::ready || w.phase == warp_phase::waiting ||
                          w.phase == warp_phase::held || w.phase == warp_phase::replaying;
  held_ &= ~(std::uint64_t{1} << slot);
  w.stopped_in = looks_anew ? warp_phase::waiting : w.phase;
  w.rest = looks_anew || w.timer == never ? never : w.timer - std::min(w.timer, cycle);
  w.phase = warp_phase::stopped;
  w.timer = never;
}

void sub_partition::exchange(unsigned slot, simt::context_image& image) {
  warp_slot& w = slots_[slot];
  invariant(w.phase == warp_phase::stopped, "the context of a warp that runs was asked for");
  image.align(line_words);  // a register of a warp is one memory line
  if (w.step != nullptr) image.blank(std::size_t{w.launch->program->registers} * isa::warp_size);
  else if (w.program->live.empty())
    image.exchange(w.state.regs, std::size_t{w.launch->program->registers} * isa::warp_size);
  image(w.state);
  image(w.stopped_in);
  image(w.rest);
  image(w.sequence);
  std::uint64_t step = 0;  // position of a trace-driven warp
  if (w.step != nullptr) {
    step = w.piece->position + static_cast<std::uint64_t>(w.step - w.piece->first);
    image(step);
    image(w.barrier_lanes);
  }
  if (image.reading()) resume_at(slot, step);
  if (!w.program->live.empty()) exchange_live(w, image);
}

// Accepts a restored state only if the warp can run with it.
void sub_partition::resume_at(unsigned slot, std::uint64_t step) {
  warp_slot& w = slots_[slot];
  const bool known = w.stopped_in == warp_phase::waiting || w.stopped_in == warp_phase::at_barrier ||
                     w.stopped_in == warp_phase::at_fence || w.stopped_in == warp_phase::sleeping;
  const std::size_t instructions = w.program->code.size();
  const bool runs = w.stopped_in != warp_phase::at_barrier;
  bool plausible = known;
  if (w.step != nullptr) plausible = plausible && seek(w, step) && w.state.pc == w.step->instruction;
  else
    plausible = plausible && simt::plausible(w.state, instructions) && w.state.independent == independent_ &&
                (!runs || w.state.active != 0);
  if (!plausible) throw program_error("a context that was swapped out came back damaged from memory");
  w.state.predicates[isa::pt] = simt::all_lanes;
  look_at(w, w.state.pc);
}

// Live registers are those that a thread may still read from its current position.
void sub_partition::exchange_live(warp_slot& w, simt::context_image& image) {
  const auto& live = w.program->live;
  isa::register_set needed = live[w.state.pc];
  for (const simt::stack_entry& e : w.state.stack) needed |= live[e.pc];
  for (const simt::lane_path& p : w.state.paths) needed |= live[p.pc];
  for (const simt::convergence_frame& f : w.state.frames)
    if (f.participants != 0) needed |= live[f.resume];
  // A warp that waits at its BAR only for the barrier's latency already holds the barrier's result, so registers that
  // are live after the BAR are kept, too.
  if (w.stopped_in == warp_phase::at_barrier && w.state.pc + 1 < live.size()) needed |= live[w.state.pc + 1];
  image.align(line_words);
  for (std::size_t r = 0; r < w.launch->program->registers; ++r)
    if (needed[r]) image.exchange(w.state.regs + r * isa::warp_size, isa::warp_size);
}

std::uint64_t sub_partition::fingerprint(unsigned slot) {
  warp_slot& w = slots_[slot];
  simt::context_image image;
  image.write();
  image.exchange(w.state.regs, std::size_t{registers_kept(*w.launch)} * isa::warp_size);
  image(w.state);
  std::uint64_t hash = 0;
  for (const std::uint32_t word : image.words()) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return hash;
}

void sub_partition::swap_out(unsigned slot, cycle_t cycle) {
  warp_slot& w = slots_[slot];
  invariant(w.phase == warp_phase::stopped && !outstanding(slot), "a warp was swapped out that was not at rest");
  vacate(slot, cycle);
  std::fill_n(w.state.regs, std::size_t{registers_kept(*w.launch)} * isa::warp_size, poison);
  const std::uint32_t id = w.state.slot;
  w.state = simt::warp_state{};
  w.state.slot = id;
  w.state.predicates.fill(poison);
  w.state.pc = poison;
}

void sub_partition::swap_in(unsigned slot, const resident_launch& launch, const simt::block_context& block,
                            unsigned warp_in_block, unsigned allocated_registers, cycle_t cycle) {
  occupy(slot, launch, block, warp_in_block, allocated_registers, cycle);
  warp_slot& w = slots_[slot];
  follow(w, block.recording);
  std::fill_n(w.state.regs, std::size_t{registers_kept(launch)} * isa::warp_size, poison);
  look_at(w, 0);
  w.mark = cycle;
  w.timer = never;
  w.phase = warp_phase::stopped;
  w.fence_begun = false;
  w.fence_scope = ~0u;  // if it resumes at a fence, the fence is treated as one of the widest scope
}

void sub_partition::resume(unsigned slot, cycle_t cycle) {
  warp_slot& w = slots_[slot];
  account(slot, cycle);
  w.phase = w.stopped_in;
  if (w.phase != warp_phase::waiting) scheduler.set_waiting(slot);
  switch (w.phase) {
    case warp_phase::waiting:
      settle(slot, cycle, fetch.redirect(slot, w.program->code_address, w.state.pc, cycle), false);
      break;
    case warp_phase::at_barrier:
      if (w.rest != never) set_timer(slot, cycle + std::max<cycle_t>(w.rest, 1));
      break;
    case warp_phase::at_fence: set_timer(slot, cycle + 1); break;  // nothing is outstanding
    default: set_timer(slot, cycle + std::max<cycle_t>(std::min(w.rest, cycle_t{1} << 40), 1)); break;
  }
  schedule(cycle);
}

}  // namespace heddle
