// SPDX-License-Identifier: MIT
// The issue stage of a sub-partition: selection to dispatch, dual issue, control flow.
#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/simt/warp/fault_text.h"
#include "heddle/sub_partition/sub_partition.h"

namespace heddle {

namespace {

constexpr bool tells_time(isa::special s) { return s >= isa::special::clock && s <= isa::special::globaltimer; }

// Replaces `execute` for instructions that do not compute at issue: their unit or the memory system does.
void execute_elsewhere(const isa::instruction&, simt::warp_state&, simt::lane_mask) {}

void check_undelayed(const sc_core::sc_time& delay) {
  invariant(delay.value() == 0, "an execution unit delayed its answer instead of annotating latency_cycles");
}

// The lanes that the warp started with. The scoreboard tracks registers, not lanes: on one arm of a branch it also
// waits for results of the other arm. So it is compared with control codes only while all lanes are active.
simt::lane_mask all_threads(const simt::warp_state& w) {
  const unsigned threads =
      std::min(w.block->launch->threads_per_block() - w.warp_in_block * isa::warp_size, isa::warp_size);
  return threads == isa::warp_size ? simt::all_lanes : (1u << threads) - 1;
}
}  // namespace

void sub_partition::issue_from(unsigned slot, cycle_t cycle) {
  invariant(hot_.issued_at != cycle, "two warps were selected in one cycle");
  hot_.issued_at = cycle;
  warp_slot& w = hot_.warps[slot];
  account_ready(slot, cycle);
  account.add(w, {warp_cycle::selected, warp_stall::selected}, 1);
  w.mark = cycle + 1;
  const decoded_instruction& first = *w.next;
  hot_.issued_warp = w.state.slot;
  hot_.issued_pc = w.state.pc;
  hot_.issued_mask = w.state.active;
  hot_.issued = 1;
  issue_counters& c = *w.counters;
  bool in_sequence = issue_one(slot, cycle);
  if (in_sequence && hot_.pairing_rule != pairing::none && pairs(first, slot, cycle)) {
    ++c.inst_issued2;
    hot_.issued = 2;
    in_sequence = issue_one(slot, cycle);
  } else {
    ++c.inst_issued1;
  }
  if (hot_.halted && w.phase == warp_phase::ready)
    w.phase = warp_phase::waiting;  // it failed, and has already been removed from the ready warps
  if (!in_sequence) return;
  const std::uint32_t sequence = hot_.issued_pc + hot_.issued;
  if (__builtin_expect(memory.replays(), 0)) return replay(slot, sequence, cycle);
  settle(slot, cycle + 1, instruction_stream::fetched(fetch, slot, w, sequence, cycle + 1), w.leaves(sequence));
}

// Up to Kepler a memory instruction performs one pass per issue. Each further pass is issued again: the replays of the
// slot's warp take the next issue slots, and the warp continues after them.
void sub_partition::replay(unsigned slot, std::uint32_t sequence, cycle_t cycle) {
  warp_slot& w = hot_.warps[slot];
  hot_.replays_until = cycle + 1 + memory.take_replays();
  w.sequence = sequence;
  w.phase = warp_phase::replaying;
  set_timer(slot, hot_.replays_until);
}

// True if the instruction now at the slot's pc may issue together with `first`, which was issued in this cycle.
bool sub_partition::pairs(const decoded_instruction& first, unsigned slot, cycle_t cycle) {
  warp_slot& w = hot_.warps[slot];
  if (w.leaves(hot_.issued_pc + 1) || w.barrier_lanes != 0) return false;
  const decoded_instruction& second = w.program->code[w.state.pc];
  // A policy that holds back memory accesses decides on the first instruction of a warp only. This one is first in the
  // next cycle.
  if (second.global_access && scheduler.holds_memory()) return false;
  if (second.kind != issue_kind::arithmetic && second.kind != issue_kind::memory) return false;
  const bool shared = first.unit == second.unit;
  if (shared && (hot_.fp32_lanes == nullptr || std::max(first.shared_use, second.shared_use) == lane_use::none))
    return false;
  if (hot_.pairing_rule == pairing::maxwell && !first.partner && !second.partner) return false;
  if (hot_.fp64_alone && (first.unit == isa::unit::fp64 || second.unit == isa::unit::fp64)) return false;
  if (!shared && !scheduler.gate(second.unit).open(cycle)) return false;
  if (fetch.next(slot, w.program->code_address, w.state.pc, cycle) > cycle) return false;
  if (second.has_constant &&
      immediate_constants.access(w.launch->launch_id, second.constant_bank, second.constant_offset, cycle) > cycle)
    return false;
  if (operands(slot, second).cycle > cycle) return false;
  if (shared) {
    if (!hot_.fp32_lanes->grant(hot_.index, std::max(first.shared_use, second.shared_use), cycle)) return false;
    hot_.to_shared =
        first.shared_use > second.shared_use ? &first : &second;  // the other one uses the sub-partition's own lanes
  }
  stall_account::set_next(w, w.state.pc);
  return true;
}

bool sub_partition::issue_one(unsigned slot, cycle_t cycle) {
  warp_slot& w = hot_.warps[slot];
  const decoded_instruction& d = *w.next;
  const simt::lane_mask mask = simt::guarded(d.guard, w.state);
  if (__builtin_expect(d.synchronises, 0) && !w.stream->lanes_present(slot, mask, cycle)) return false;
  if (w.program->control_codes) {
    if (__builtin_expect(dependence.checks_codes(), 0) && w.state.active == all_threads(w.state))
      dependence.check_codes(slot, d, cycle);
    dependence.counters.issued(slot, d, cycle);
  }
  fetch.issued(slot, cycle);
  issue_counters& c = *w.counters;
  ++c.inst_executed;
  w.profile->add(*w.line, launch_profile::executed, 1);
  c.thread_inst += static_cast<unsigned>(__builtin_popcount(w.state.active));
  c.nonpred_thread_inst += static_cast<unsigned>(__builtin_popcount(mask));
  unsigned latency = 0;  // as the unit answers
  switch (d.kind) {
    case issue_kind::arithmetic:
      latency = dispatch(slot, d, mask, cycle);
      if (__builtin_expect(latency > d.latency_cycles, 0)) check_stall_counts(*w.program, d);
      if (__builtin_expect(d.bank_conflicts != 0, 0)) {
        issue_conflicting(slot, d, cycle, latency);
      } else {
        set_ready(slot, d, cycle + latency);
      }
      if (write_ports_.limited() && d.instruction->dst != isa::rz)
        write_ports_.reserve(d.instruction->dst, d.instruction->dst_count, cycle + latency, cycle);
      hot_.reuses = &d + 1;
      hot_.last_slot = slot;
      w.stream->advance(w);
      return true;
    case issue_kind::memory:
      dispatch(slot, d, 0, cycle);
      memory.issue(slot, mask, cycle);
      w.stream->advance(w);
      return !hot_.halted;
    case issue_kind::branch:
      latency = dispatch(slot, d, 0, cycle);
      w.stream->issue_branch(slot, mask, cycle, latency);
      return false;
    case issue_kind::exit:
      latency = dispatch(slot, d, 0, cycle);
      w.stream->issue_exit(slot, mask, cycle, latency);
      return false;
    case issue_kind::barrier:
      dispatch(slot, d, 0, cycle);
      w.stream->issue_barrier(slot, mask, cycle);
      return false;
    case issue_kind::fence: issue_fence(slot, cycle); return false;
    case issue_kind::sleep: issue_sleep(slot, mask, cycle); return false;
    case issue_kind::system_call: issue_system(slot, mask, cycle); return !hot_.halted;
    case issue_kind::trap: issue_trap(slot, mask); return !hot_.halted;
  }
  return false;
}

// Sources of an arithmetic instruction conflict in a register bank. A collector gathers them while other instructions
// issue; with a fixed read window nothing issues until they are read.
void sub_partition::issue_conflicting(unsigned slot, const decoded_instruction& d, cycle_t cycle, unsigned latency) {
  const bool behind = hot_.last_slot == slot && hot_.reuses == &d;  // no other warp's operands came in between
  const unsigned conflicts = behind ? d.bank_conflicts_after : d.bank_conflicts;
  if (hot_.warps[slot].program->control_codes) dependence.counters.issued(slot, d, cycle + conflicts);
  set_ready(slot, d, cycle + latency + conflicts);
  conflicts_ = conflicts;
  conflicts_at_ = cycle;
  if (hot_.read_window && conflicts != 0) scheduler.stall(cycle + 1, cycle + 1 + conflicts);
}

// Stall counts are fixed in the program's code. They hold only up to the latency that they were made for.
void sub_partition::check_stall_counts(const decoded_program& p, const decoded_instruction& d) {
  invariant(!p.control_codes || d.counter != no_counter,
            "an execution unit answered a longer latency than the stall counts of the program's control codes allow");
}

// Sends the instruction to its unit, which executes it on the lanes of `mask`. Returns the latency that it answers.
unsigned sub_partition::dispatch(unsigned slot, const decoded_instruction& d, simt::lane_mask mask, cycle_t cycle) {
  warp_slot& w = hot_.warps[slot];
  const unsigned u = static_cast<unsigned>(d.unit);
  // Only instructions that read the time put it into the warp's state. Otherwise the states of two iterations of a
  // waiting loop would differ (fingerprint).
  if (d.timing == isa::op_class::special_register && tells_time(static_cast<isa::special>(d.instruction->sub))) {
    w.state.cycle = cycle;
    w.state.clock_low = static_cast<std::uint32_t>(cycle);
    w.state.time_ns = hot_.clock.domain().nanoseconds_at(cycle);
  }
  issue_transaction packet;  // on the stack, so that it is in the host's cache
  packet.instruction = d.instruction;
  packet.execute = d.kind == issue_kind::arithmetic ? d.execute : execute_elsewhere;
  packet.warp = &w.state;
  packet.mask = mask;
  packet.cycle = cycle;
  packet.initiation_cycles = d.initiation_cycles;
  packet.latency_cycles = d.latency_cycles;
  sc_core::sc_time delay;
  if (hot_.to_shared != nullptr) {
    const bool first_to_shared = hot_.to_shared != &d;
    hot_.to_shared = nullptr;
    shared_dispatch_socket[0]->b_transport(packet, delay);
    hot_.fp32_lanes->take(cycle, first_to_shared ? initiation_cycles_ : packet.initiation_cycles);
    if (first_to_shared) scheduler.gate(d.unit).take(cycle, packet.initiation_cycles);
    check_undelayed(delay);
    return packet.latency_cycles;
  }
  hot_.dispatch_to[u]->b_transport(packet, delay);
  check_undelayed(delay);
  initiation_cycles_ = packet.initiation_cycles;
  if (__builtin_expect(hot_.fp64_alone, 0) && d.unit == isa::unit::fp64)
    hot_.supervisor.issued_alone(hot_.index, cycle);
  scheduler.gate(d.unit).take(cycle, packet.initiation_cycles);
  if (__builtin_expect(hot_.shared_units >> u & 1, 0))
    hot_.supervisor.shared_unit_taken(d.unit, hot_.index, cycle, cycle + packet.initiation_cycles);
  return packet.latency_cycles;
}

void sub_partition::issue_fence(unsigned slot, cycle_t cycle) {
  warp_slot& w = hot_.warps[slot];
  const decoded_instruction& d = *w.next;
  const unsigned latency = dispatch(slot, d, 0, cycle);
  w.fence_scope = d.instruction->sub;
  w.fence_begun = false;
  w.sequence = w.state.pc + 1;
  w.stream->advance(w);
  stall_account::set_next(w, w.state.pc);
  w.timer = never;
  w.phase = warp_phase::at_fence;
  scheduler.set_waiting(slot);
  if (!w.outstanding()) set_timer(slot, cycle + latency);
}

void sub_partition::issue_sleep(unsigned slot, simt::lane_mask mask, cycle_t cycle) {
  warp_slot& w = hot_.warps[slot];
  const decoded_instruction& d = *w.next;
  dispatch(slot, d, 0, cycle);
  w.sequence = w.state.pc + 1;
  w.stream->advance(w);
  if (w.stream->gives_way(slot, mask, cycle)) return;
  const cycle_t cycles = hot_.clock.domain().cycles_in(d.instruction->src[0].value);
  stall_account::set_next(w, w.state.pc);
  w.phase = warp_phase::sleeping;
  scheduler.set_waiting(slot);
  set_timer(slot, cycle + 1 + cycles);
}

// `details` are appended to `what`.
void sub_partition::fault_with(unsigned slot, const decoded_instruction& d, unsigned lane, const std::string& what,
                               fault_details details) {
  const warp_slot& w = hot_.warps[slot];
  report_fault(*w.launch, w.state.block->index, w.state.thread(lane), d, what, std::move(details));
}

void sub_partition::report_fault(const resident_launch& launch, const simt::dim3& b, std::uint32_t t,
                                 const decoded_instruction& d, const std::string& what, fault_details details) {
  hot_.halted = true;
  const simt::fault_text f = simt::describe_fault(launch, b, t, *d.instruction, what);
  if (details.pieces.empty()) return hot_.supervisor.program_fault(f.text);
  details.at = f.front;
  hot_.supervisor.program_fault_with(f.text, details);
}

}  // namespace heddle
