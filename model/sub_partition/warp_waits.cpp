// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/warp_waits.h"

#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/isa/set_bits.h"
#include "heddle/sub_partition/memory/memory_issue.h"
#include "heddle/sub_partition/stream/instruction_stream.h"
#include "heddle/tlm/kernel/prefetch.h"

namespace heddle {

void warp_waits::start(unsigned slot, cycle_t cycle) {
  const warp_slot& w = hot_.warps[slot];
  settle(slot, cycle, hot_.fetch.redirect(slot, w.program->code_address, w.state.pc, cycle), false);
}

void warp_waits::make_ready(unsigned slot, warp_slot& w, cycle_t cycle) {
  // The warp may issue at once, and registers are the largest state of a chip.
  w.stream->prefetch_sources(w);
  hot_.account.settle(w, cycle);
  w.phase = warp_phase::ready;
  w.timer = never;
  hot_.scheduler.add_ready(slot, w.next->unit, cycle);
}

// SETMAXREG: a warp may take the registers that others of its block on this sub-partition have given back, also by
// their exit.
bool warp_waits::registers_free(const warp_slot& w) const {
  const unsigned wanted = 8u * w.next->instruction->sub;
  if (wanted <= w.registers) return true;
  std::uint64_t held = wanted - w.registers;
  for (const unsigned slot : set_bits(hot_.warps.active())) {
    const warp_slot& other = hot_.warps[slot];
    if (other.state.block == w.state.block) held += other.registers;
  }
  return held <= std::uint64_t{hot_.supervisor.block_warps_beside(w.state.slot)} * w.launch->program->registers;
}

void warp_waits::change_registers(unsigned slot, cycle_t cycle) {
  warp_slot& w = hot_.warps[slot];
  w.registers = 8u * w.next->instruction->sub;
  registers_given_back(w.state.block, cycle);
}

void warp_waits::finish(unsigned slot, cycle_t cycle) {
  const warp_slot& w = hot_.warps[slot];
  const simt::block_context* const block = w.launch->program->most_registers != 0 ? w.state.block : nullptr;
  hot_.residence.finish(slot, cycle);
  if (block != nullptr) registers_given_back(block, cycle);
}

void warp_waits::registers_given_back(const simt::block_context* block, cycle_t cycle) {
  for (const unsigned k : set_bits(hot_.warps.active())) {
    warp_slot& w = hot_.warps[k];
    if (w.phase != warp_phase::waiting || w.timer != never || w.state.block != block) continue;
    if (w.next->kind != issue_kind::register_change) continue;
    hot_.account.settle(w, cycle);
    evaluate(k, w, cycle + 1);
  }
}

// The groups of which the warp's next instruction lets some be in flight.
static const copy_groups& groups_of_wait(const warp_slot& w) {
  if (w.next->kind == issue_kind::product_wait) return w.products;
  switch (w.next->instruction->offset) {
    case isa::copies::of_threads: return w.copies;
    case isa::copies::of_unit: return w.bulk.written;
    default: return w.bulk.read;
  }
}

// The warp's next instruction waits for accesses of the warp itself, or for registers.
bool warp_waits::accesses_hold(unsigned slot, warp_slot& w) const {
  if (w.next->kind == issue_kind::barrier) {
    w.waits_for = producer::short_latency;  // until the load/store unit has taken its accesses
    return w.not_taken != 0;
  }
  w.waits_for = producer::long_latency;
  const isa::instruction& i = *w.next->instruction;
  if (w.next->kind == issue_kind::register_change) return !registers_free(w);
  if (w.next->kind == issue_kind::product_wait) memory_issue::close_recorded_group(w);
  if (groups_of_wait(w).pending() <= i.sub) return false;
  hot_.scheduler.set_waiting(slot);
  return true;
}

// The warp's operands are available now, at a known time, or it is not yet known when. After every issue, so without a
// call.
[[gnu::always_inline]] inline void warp_waits::evaluate(unsigned slot, warp_slot& w, cycle_t cycle) {
  if (__builtin_expect(waits_for_accesses(w.next->kind), 0) && accesses_hold(slot, w)) return;
  const auto answer = hot_.dependence.probe(slot, *w.program, *w.next);
  w.waits_for = answer.kind;
  if (answer.cycle == never) {
    if (answer.kind == producer::long_latency) hot_.scheduler.set_waiting(slot);
    return;
  }
  const cycle_t at = std::max(answer.cycle, w.constant_at);
  if (at <= cycle) make_ready(slot, w, cycle);
  else if (at != never) set_timer(slot, w, at);
}

// After every issue, so without a call.
[[gnu::always_inline]] inline void warp_waits::look_up_constant(warp_slot& w) {
  w.constant_at = w.fetch_at;
  if (w.next->has_constant && w.fetch_at != never)
    w.constant_at = hot_.immediate_constants.access(w.launch->launch_id, w.next->constant_bank, w.next->constant_offset,
                                                    w.fetch_at);
}

// The warp waits for its next instruction from `from` on. Computes when the wait ends, if that is known.
void warp_waits::settle(unsigned slot, cycle_t from, cycle_t fetch_at, bool redirected) {
  warp_slot& w = hot_.warps[slot];
  stall_account::set_next(w, w.state.pc);
  w.mark = from;
  w.fetch_at = std::max(from, fetch_at);
  w.redirected = redirected;
  if (__builtin_expect(w.barrier_lanes != 0, 0) && !w.stream->lanes_go_on(w)) {
    w.phase = warp_phase::at_barrier;
    w.timer = never;
    w.sequence = w.state.pc;
    hot_.scheduler.set_waiting(slot);
    return;
  }
  if (redirected) hot_.dependence.redirected(slot, *w.program);
  look_up_constant(w);
  w.phase = warp_phase::waiting;
  w.timer = never;
  evaluate(slot, w, from);
}

void warp_waits::reconsider(unsigned slot, cycle_t cycle) { evaluate(slot, hot_.warps[slot], cycle); }

void warp_waits::instructions_arrived(unsigned slot, cycle_t cycle) {
  warp_slot& w = hot_.warps[slot];
  if (w.phase != warp_phase::waiting || w.fetch_at != never) return;
  w.fetch_at = hot_.fetch.next(slot, w.program->code_address, w.state.pc, cycle);
  look_up_constant(w);
  evaluate(slot, w, cycle);
  if (w.phase == warp_phase::ready) hot_.clock.wake_at(cycle);
  else if (w.timer != never) hot_.clock.wake_at(w.timer);
}

void warp_waits::run_timers(cycle_t cycle) {
  for (const unsigned slot : set_bits(hot_.timers.take(cycle, timer_of()))) {
    warp_slot& w = hot_.warps[slot];
    if (w.timer == cycle) on_timer(slot, w, cycle);
  }
}

void warp_waits::on_timer(unsigned slot, warp_slot& w, cycle_t cycle) {
  switch (w.phase) {
    case warp_phase::waiting: make_ready(slot, w, cycle); break;
    case warp_phase::exited: finish(slot, cycle); break;
    case warp_phase::at_barrier:
    case warp_phase::at_fence:
    case warp_phase::replaying:
    case warp_phase::sleeping: {
      if (w.phase == warp_phase::at_fence && w.fence_scope >= system_scope && !w.fence_begun &&
          hot_.supervisor.begin_system_fence(w.state.slot, w.launch->launch_id, cycle)) {
        w.fence_begun = true;
        w.timer = never;
        ++w.loads;  // the fence itself counts as an outstanding access
        break;
      }
      hot_.account.settle(w, cycle);
      if (w.phase == warp_phase::at_fence) hot_.supervisor.fence_passed(w.fence_scope);
      const std::uint32_t sequence = w.phase == warp_phase::at_barrier ? w.stream->resume(w) : w.sequence;
      settle(slot, cycle, instruction_stream::fetched(hot_.fetch, slot, w, sequence, cycle), w.leaves(sequence));
      break;
    }
    default: throw internal_error("a timer of a warp that waits for nothing");
  }
}

void warp_waits::system_fence_performed(unsigned slot, cycle_t cycle) {
  warp_slot& w = hot_.warps[slot];
  --w.loads;
  if (w.phase == warp_phase::stopped) return hot_.supervisor.warp_quiet(w.state.slot);
  if (w.phase != warp_phase::at_fence) return;  // the simulated program has failed
  set_timer(slot, w, cycle + 1);
  hot_.clock.wake_at(w.timer);
}

void warp_waits::stop_at_barrier(unsigned slot, simt::lane_mask mask, unsigned number) {
  hot_.warps[slot].stream->wait_at_barrier(slot, mask, number);
}

void warp_waits::deliver_reduction(unsigned slot, unsigned number, std::uint32_t count, std::uint32_t threads) {
  warp_slot& w = hot_.warps[slot];
  w.stream->write_reduction(w, number, count, threads);
}

void warp_waits::resume_from_barrier(unsigned slot, unsigned number, cycle_t cycle) {
  warp_slot& w = hot_.warps[slot];
  const bool resumes = w.timer == never || w.stream->all_wait(w);
  w.stream->leave_barrier(w, number);
  if (resumes) resume_waiting(slot, w, cycle);
}

// If other lanes of the warp run already, or another barrier has just released some, the released lanes only wait until
// they are selected.
void warp_waits::resume_waiting(unsigned slot, warp_slot& w, cycle_t cycle) {
  if (w.phase == warp_phase::stopped && w.stopped_in == warp_phase::at_barrier) w.rest = std::min<cycle_t>(w.rest, 1);
  if (w.phase != warp_phase::at_barrier) return;
  set_timer(slot, w, cycle);
  hot_.clock.wake_at(cycle);
}

void warp_waits::resume_from_mbarrier(unsigned slot, cycle_t cycle) {
  warp_slot& w = hot_.warps[slot];
  const bool resumes = w.timer == never || w.stream->all_wait(w);
  if (w.stream->end_mbarrier_waits(w, true) && resumes) resume_waiting(slot, w, cycle);
}

void warp_waits::limit_mbarrier_wait(unsigned slot, cycle_t cycle) {
  warp_slot& w = hot_.warps[slot];
  if (w.phase != warp_phase::at_barrier || w.timer != never) return;
  set_timer(slot, w, cycle);
  hot_.clock.wake_at(cycle);
}

// Both counts begin with the same copy, so their groups have the same numbers.
std::uint32_t warp_waits::bulk_begun(unsigned slot) {
  bulk_groups& groups = hot_.warps[slot].bulk;
  groups.read.add();
  return groups.written.add();
}

void warp_waits::bulk_answered(unsigned slot, std::uint16_t residency, std::uint32_t group, bool read, cycle_t cycle) {
  warp_slot& w = hot_.warps[slot];
  if (residency != w.residency || w.phase == warp_phase::empty) return;
  (read ? w.bulk.read : w.bulk.written).completed(group);
  if (w.phase != warp_phase::waiting || w.timer != never || w.next->kind != issue_kind::copy_wait) return;
  hot_.account.settle(w, cycle);
  evaluate(slot, w, cycle);
  if (w.phase == warp_phase::ready) hot_.clock.wake_at(cycle);
  else if (w.timer != never) hot_.clock.wake_at(w.timer);
}

void warp_waits::prefetch(cycle_t cycle) const {
  host_prefetch(&hot_, hot_bytes);
  host_prefetch(&hot_.timers.bucket(cycle), 1);
}

void warp_waits::prefetch_warps(cycle_t cycle) const {
  std::uint64_t soon = hot_.timers.bucket(cycle);
  for (unsigned k = 0; k < 2 && soon != 0; ++k) prefetch_warp(take_first(soon));
  if (hot_.scheduler.ready() != 0) prefetch_warp(first_bit(hot_.scheduler.ready()));
}

void warp_waits::prefetch_warp(unsigned slot) const {
  host_prefetch(&hot_.warps[slot], warp_slot_hot_bytes);
  hot_.dependence.prefetch(slot);
}

}  // namespace heddle
