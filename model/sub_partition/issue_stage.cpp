// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/issue_stage.h"

#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/sub_partition/stream/instruction_stream.h"
#include "heddle/sub_partition/stream/step_recorder.h"
#include "heddle/tlm/kernel/prefetch.h"

namespace heddle {

namespace {

// The lanes that the warp started with. The scoreboard tracks registers, not lanes: on one arm of a branch it also
// waits for results of the other arm. So it is compared with control codes only while all lanes are active.
simt::lane_mask all_threads(const simt::warp_state& w) {
  const unsigned threads =
      std::min(w.block->launch->threads_per_block() - w.warp_in_block * isa::warp_size, isa::warp_size);
  return threads == isa::warp_size ? simt::all_lanes : (1u << threads) - 1;
}

}  // namespace

issue_stage::pairing issue_stage::pairing_of(const sub_partition_parameters& p) {
  if (p.issue_width < 2 || p.dual_issue == choice::dual_issue::none) return pairing::none;
  return p.dual_issue == choice::dual_issue::maxwell ? pairing::maxwell : pairing::any;
}

issue_stage::hot_state::hot_state(const surroundings& s, const gpu_config& config, unsigned index,
                                  warp_supervisor& supervisor)
    : surroundings(s),
      dispatch(config, index, s.scheduler, supervisor, s.clock.domain()),
      pairing_rule(pairing_of(config.sub_partition)),
      read_window(config.sub_partition.operand_read == choice::operand_read::window),
      hold(s.warps, s.scheduler, s.account, supervisor) {}

issue_stage::issue_stage(const surroundings& s, const gpu_config& config, unsigned index, warp_supervisor& supervisor)
    : hot_(s, config, index, supervisor),
      fence_latency_(config.ldst.fence_latency_cycles),
      fence_interval_(config.ldst.fence_interval_cycles) {}

void issue_stage::issue_from(unsigned slot, cycle_t cycle) {
  invariant(hot_.last.cycle != cycle, "two warps were selected in one cycle");
  hot_.last.cycle = cycle;
  warp_slot& w = hot_.warps[slot];
  hot_.scheduler.leave_ready(slot, w, cycle, hot_.account);
  hot_.account.add(w, {warp_cycle::selected, warp_stall::selected}, 1);
  w.mark = cycle + 1;
  const decoded_instruction& first = *w.next;
  hot_.last.warp = w.state.slot;
  hot_.last.pc = w.state.pc;
  hot_.last.lanes = w.state.active;
  hot_.last.count = 1;
  issue_counters& c = *w.counters;
  bool in_sequence = issue_one(slot, w, cycle);
  if (in_sequence && hot_.pairing_rule != pairing::none && pairs(first, slot, w, cycle)) {
    ++c.inst_issued2;
    hot_.last.count = 2;
    in_sequence = issue_one(slot, w, cycle);
  } else {
    ++c.inst_issued1;
  }
  if (hot_.faults.halted() && w.phase == warp_phase::ready)
    w.phase = warp_phase::waiting;  // it failed, and has already been removed from the ready warps
  if (!in_sequence) return;
  const std::uint32_t sequence = hot_.last.pc + hot_.last.count;
  if (__builtin_expect(hot_.memory.replays(), 0)) return replay(slot, w, sequence, cycle);
  hot_.waits.settle(slot, cycle + 1, instruction_stream::fetched(hot_.fetch, slot, w, sequence, cycle + 1),
                    w.leaves(sequence));
}

// Up to Kepler a memory instruction performs one pass per issue. Each further pass is issued again: the replays of the
// slot's warp take the next issue slots, and the warp continues after them.
void issue_stage::replay(unsigned slot, warp_slot& w, std::uint32_t sequence, cycle_t cycle) {
  hot_.replays_until = cycle + 1 + hot_.memory.take_replays();
  w.sequence = sequence;
  w.phase = warp_phase::replaying;
  hot_.waits.set_timer(slot, hot_.replays_until);
}

// True if the instruction now at the warp's pc may issue together with `first`, which was issued in this cycle.
bool issue_stage::pairs(const decoded_instruction& first, unsigned slot, warp_slot& w, cycle_t cycle) {
  if (w.leaves(hot_.last.pc + 1) || w.barrier_lanes != 0) return false;
  const decoded_instruction& second = w.program->code[w.state.pc];
  // A policy that holds back memory accesses decides on the first instruction of a warp only. This one is first in the
  // next cycle.
  if (second.global_access && hot_.scheduler.holds_memory()) return false;
  if (second.kind != issue_kind::arithmetic && second.kind != issue_kind::memory) return false;
  const bool shared = first.unit == second.unit;
  if (shared && !hot_.dispatch.shares(first, second)) return false;
  if (hot_.pairing_rule == pairing::maxwell && !first.partner && !second.partner) return false;
  if (hot_.dispatch.fp64_alone() && (first.unit == isa::unit::fp64 || second.unit == isa::unit::fp64)) return false;
  if (!shared && !hot_.scheduler.gate(second.unit).open(cycle)) return false;
  if (hot_.fetch.next(slot, w.program->code_address, w.state.pc, cycle) > cycle) return false;
  if (second.has_constant &&
      hot_.immediate_constants.access(w.launch->launch_id, second.constant_bank, second.constant_offset, cycle) > cycle)
    return false;
  if (hot_.dependence.probe(slot, *w.program, second).cycle > cycle) return false;
  if (shared && !hot_.dispatch.grant_shared(first, second, cycle)) return false;
  stall_account::set_next(w, w.state.pc);
  return true;
}

// Nearly every instruction comes here, so without a call.
[[gnu::always_inline]] inline void issue_stage::issue_arithmetic(unsigned slot, warp_slot& w, simt::lane_mask mask,
                                                                 cycle_t cycle) {
  const decoded_instruction& d = *w.next;
  const unsigned latency = send(w, mask, cycle);
  if (__builtin_expect(latency > d.latency_cycles, 0))
    invariant(hot_.dependence.allows_longer(*w.program, d),
              "an execution unit answered a longer latency than the stall counts of the program's control codes allow");
  if (__builtin_expect(d.bank_conflicts != 0, 0)) issue_conflicting(slot, w, cycle, latency);
  else hot_.dependence.set_ready(slot, *w.program, d, cycle + latency);
  if (hot_.ports.limited() && d.instruction->dst != isa::rz)
    hot_.ports.reserve(d.instruction->dst, d.instruction->dst_count, cycle + latency, cycle);
  hot_.reuses = &d + 1;
  hot_.last_slot = slot;
  w.stream->advance(w);
}

// Nearly every instruction comes here where launches may be flushed.
[[gnu::always_inline]] inline void issue_stage::count_apart(const warp_slot& w, simt::lane_mask mask, unsigned lanes) {
  if (w.steps != nullptr) w.steps->add(w.state.pc, mask, w.state.active);
  if (w.counts != nullptr) w.counts->add(w.state.pc, lanes);
}

bool issue_stage::issue_one(unsigned slot, warp_slot& w, cycle_t cycle) {
  const decoded_instruction& d = *w.next;
  const simt::lane_mask mask = simt::guarded(d.guard, w.state);
  if (__builtin_expect(d.synchronises, 0) && !w.stream->lanes_present(slot, mask, cycle)) return false;
  if (hot_.dependence.checks(*w.program) && w.state.active == all_threads(w.state))
    hot_.dependence.check(slot, d, cycle);
  hot_.dependence.issued(slot, *w.program, d, cycle);
  hot_.fetch.issued(slot, cycle);
  issue_counters& c = *w.counters;
  ++c.inst_executed;
  ++w.executed;
  w.profile->add(*w.line, launch_profile::executed, 1);
  c.thread_inst += static_cast<unsigned>(__builtin_popcount(w.state.active));
  const unsigned lanes = static_cast<unsigned>(__builtin_popcount(mask));
  c.nonpred_thread_inst += lanes;
  w.profile->add(*w.line, launch_profile::lanes, lanes);
  if (__builtin_expect(w.counted, 0)) count_apart(w, mask, lanes);
  unsigned latency = 0;  // as the unit answers
  switch (d.kind) {
    case issue_kind::arithmetic: issue_arithmetic(slot, w, mask, cycle); return true;
    case issue_kind::memory:
      send(w, 0, cycle);
      hot_.memory.issue(slot, mask, cycle);
      w.stream->advance(w);
      return !hot_.faults.halted();
    case issue_kind::branch:
      latency = send(w, 0, cycle);
      w.stream->issue_branch(slot, mask, cycle, latency);
      return false;
    case issue_kind::exit:
      latency = send(w, 0, cycle);
      w.stream->issue_exit(slot, mask, cycle, latency);
      return false;
    case issue_kind::barrier:
      send(w, 0, cycle);
      w.stream->issue_barrier(slot, mask, cycle);
      return false;
    case issue_kind::fence: issue_fence(slot, w, cycle); return false;
    case issue_kind::sleep: issue_sleep(slot, w, mask, cycle); return false;
    case issue_kind::system_call:
      latency = send(w, 0, cycle);
      hot_.dependence.set_ready(slot, *w.program, d, cycle + latency);
      hot_.calls.call(w, mask);
      return !hot_.faults.halted();
    case issue_kind::copy_commit:
    case issue_kind::bulk_copy:
    case issue_kind::copy_wait:
    case issue_kind::product:
    case issue_kind::product_fence:
    case issue_kind::product_commit:
    case issue_kind::product_wait:
    case issue_kind::register_change: return issue_asynchronous(slot, w, mask, cycle);
    case issue_kind::trap: hot_.calls.trap(w, mask); return !hot_.faults.halted();
  }
  return false;
}

// Copies and products of a warpgroup, for which the warp does not wait, and their groups.
bool issue_stage::issue_asynchronous(unsigned slot, warp_slot& w, simt::lane_mask mask, cycle_t cycle) {
  const decoded_instruction& d = *w.next;
  send(w, 0, cycle);
  if (d.kind == issue_kind::bulk_copy) w.stream->issue_bulk(slot, mask, cycle);
  if (d.instruction->op == isa::opcode::utmacmdflush) w.bulk.commit();
  else if (d.kind == issue_kind::copy_commit) w.copies.commit();
  if (d.kind == issue_kind::product_commit) w.products.commit();
  if (d.kind == issue_kind::register_change && mask != 0) hot_.waits.change_registers(slot, cycle);
  if (d.kind == issue_kind::product_fence) memory_issue::close_recorded_group(w);
  if (d.kind == issue_kind::product) {
    hot_.dependence.set_ready(slot, *w.program, d, cycle + 1);
    if (mask != 0) {
      if (!w.stream->multiply(slot, mask)) return false;
      hot_.memory.issue_product(slot, cycle);
    }
  }
  w.stream->advance(w);
  return !hot_.faults.halted();
}

// Sources of an arithmetic instruction conflict in a register bank. A collector gathers them while other instructions
// issue; with a fixed read window nothing issues until they are read.
void issue_stage::issue_conflicting(unsigned slot, const warp_slot& w, cycle_t cycle, unsigned latency) {
  const decoded_instruction& d = *w.next;
  const bool behind = hot_.last_slot == slot && hot_.reuses == &d;  // no other warp's operands came in between
  const unsigned conflicts = behind ? d.bank_conflicts_after : d.bank_conflicts;
  hot_.dependence.issued(slot, *w.program, d, cycle + conflicts);
  hot_.dependence.set_ready(slot, *w.program, d, cycle + latency + conflicts);
  hot_.last.conflicts = conflicts;
  hot_.last.conflicts_at = cycle;
  if (hot_.read_window && conflicts != 0) hot_.scheduler.stall(cycle + 1, cycle + 1 + conflicts);
}

// The sub-partition begins one releasing fence after another, in the order of issue.
void issue_stage::issue_fence(unsigned slot, warp_slot& w, cycle_t cycle) {
  const decoded_instruction& d = *w.next;
  const unsigned latency = send(w, 0, cycle);
  w.fence_scope = d.instruction->sub & ~isa::membar_acquires;
  const bool releases = w.fence_scope != 0 && w.fence_scope == d.instruction->sub;
  cycle_t begin = cycle;
  if (releases) {
    begin = std::max(cycle, next_fence_);
    next_fence_ = begin + fence_interval_;
  }
  w.fence_until = begin + (releases ? std::max(latency, fence_latency_) : latency);
  w.fence_begun = false;
  w.sequence = w.state.pc + 1;
  w.stream->advance(w);
  stall_account::set_next(w, w.state.pc);
  w.timer = never;
  w.phase = warp_phase::at_fence;
  hot_.scheduler.set_waiting(slot);
  if (!w.holds_fence()) hot_.waits.set_timer(slot, w.fence_until);
}

void issue_stage::issue_sleep(unsigned slot, warp_slot& w, simt::lane_mask mask, cycle_t cycle) {
  const decoded_instruction& d = *w.next;
  send(w, 0, cycle);
  w.sequence = w.state.pc + 1;
  w.stream->advance(w);
  if (w.stream->yields(slot, mask, cycle)) return;
  const cycle_t cycles = hot_.clock.domain().cycles_in(d.instruction->src[0].value);
  stall_account::set_next(w, w.state.pc);
  w.phase = warp_phase::sleeping;
  hot_.scheduler.set_waiting(slot);
  hot_.waits.set_timer(slot, cycle + 1 + cycles);
}

void issue_stage::prefetch() const { host_prefetch(&hot_, sizeof hot_); }

}  // namespace heddle
