// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/context_switch.h"

#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/hash/splitmix64.h"
#include "heddle/sub_partition/stream/instruction_stream.h"

namespace heddle {

namespace {
// Fills the registers and state of a swapped-out warp, so that a program that read them would compute wrong results.
constexpr std::uint32_t erased_word = 0xdeadbeef;
}  // namespace

void context_switch::stop(unsigned slot, cycle_t cycle) {
  warp_slot& w = s_.warps[slot];
  if (w.phase == warp_phase::empty || w.phase == warp_phase::exited || w.phase == warp_phase::stopped) return;
  if (w.phase == warp_phase::ready) s_.scheduler.leave_ready(slot, w, std::max(cycle, w.mark), s_.account);
  else s_.account.settle(w, cycle);
  // A warp that waits for operands, its unit or its replays re-evaluates its instruction when it resumes. Other waits
  // continue where they stopped.
  const bool reevaluates = w.phase == warp_phase::ready || w.phase == warp_phase::waiting ||
                           w.phase == warp_phase::held || w.phase == warp_phase::replaying;
  s_.issue.stopped(slot);
  w.stopped_in = reevaluates ? warp_phase::waiting : w.phase;
  w.rest = reevaluates || w.timer == never ? never : w.timer - std::min(w.timer, cycle);
  w.phase = warp_phase::stopped;
  w.timer = never;
}

void context_switch::exchange(unsigned slot, simt::context_image& image) {
  warp_slot& w = s_.warps[slot];
  invariant(w.phase == warp_phase::stopped, "the context of a running warp was requested");
  image.align(context_line_words);
  w.stream->exchange(w, image);
}

std::uint64_t context_switch::fingerprint(unsigned slot) {
  warp_slot& w = s_.warps[slot];
  simt::context_image image;
  image.write();
  image.exchange(w.state.regs, std::size_t{w.stream->registers_kept(*w.launch)} * isa::warp_size);
  image(w.state);
  std::uint64_t hash = 0;
  for (const std::uint32_t word : image.words()) hash = hash_with(hash, word);
  return hash;
}

std::uint64_t context_switch::swap_out(unsigned slot, cycle_t cycle) {
  warp_slot& w = s_.warps[slot];
  invariant(w.phase == warp_phase::stopped && !w.outstanding(), "a warp was swapped out that was not at rest");
  const std::uint64_t executed = s_.residence.vacate(slot, cycle);
  std::fill_n(w.state.regs, std::size_t{w.stream->registers_kept(*w.launch)} * isa::warp_size, erased_word);
  const std::uint32_t id = w.state.slot;
  w.state = simt::warp_state{};
  w.state.slot = id;
  w.state.predicates.fill(erased_word);
  w.state.pc = erased_word;
  return executed;
}

void context_switch::swap_in(unsigned slot, const resident_launch& launch, const simt::block_context& block,
                             unsigned warp_in_block, unsigned allocated_registers, cycle_t cycle) {
  s_.residence.occupy(slot, launch, block, warp_in_block, allocated_registers, cycle);
  s_.issue.placed(slot);
  warp_slot& w = s_.warps[slot];
  w.stream->begin(w);
  std::fill_n(w.state.regs, std::size_t{w.stream->registers_kept(launch)} * isa::warp_size, erased_word);
  stall_account::set_next(w, 0);
  w.mark = cycle;
  w.timer = never;
  w.phase = warp_phase::stopped;
  w.fence_begun = false;
  w.fence_scope = ~0u;  // if it resumes at a fence, the fence is treated as one of the widest scope
}

void context_switch::resume(unsigned slot, cycle_t cycle) {
  warp_slot& w = s_.warps[slot];
  s_.account.settle(w, cycle);
  w.phase = w.stopped_in;
  if (w.phase != warp_phase::waiting) s_.scheduler.set_waiting(slot);
  switch (w.phase) {
    case warp_phase::waiting: s_.waits.start(slot, cycle); break;
    case warp_phase::at_barrier:
      if (w.rest != never) s_.waits.set_timer(slot, cycle + std::max<cycle_t>(w.rest, 1));
      break;
    case warp_phase::at_fence: s_.waits.set_timer(slot, cycle + 1); break;  // nothing is outstanding
    default: s_.waits.set_timer(slot, cycle + std::max<cycle_t>(std::min(w.rest, cycle_t{1} << 40), 1)); break;
  }
  s_.issue.wake_after(cycle);
}

}  // namespace heddle
