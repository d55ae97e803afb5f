// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/stream/executed_stream.h"

#include "heddle/config/error.h"
#include "heddle/memory/l1/coalescer.h"
#include "heddle/simt/execute.h"
#include "heddle/simt/warp/divergence.h"
#include "heddle/simt/warp/fault_text.h"
#include "heddle/sub_partition/warp/copy_groups.h"
#include "heddle/tlm/kernel/prefetch.h"

namespace heddle {

executed_stream::executed_stream(const surroundings& s)
    : instruction_stream(s), independent_(s.config.sub_partition.divergence == choice::divergence::independent) {}

void executed_stream::begin(warp_slot& w) const {
  w.barrier_lanes = 0;
  w.jumps = independent_;
}

void executed_stream::prefetch_sources(const warp_slot& w) const {
  for (const isa::operand& o : w.next->instruction->src)
    if (o.is_reg())
      host_prefetch(w.state.regs + o.reg * isa::warp_size, o.count * isa::warp_size * sizeof(std::uint32_t));
}

void executed_stream::advance(warp_slot& w) const { simt::advance(w.state); }

bool executed_stream::branch(warp_slot& w, simt::lane_mask mask) const {
  return simt::branch(*w.next->instruction, w.state, mask);
}

void executed_stream::issue_exit(unsigned slot, simt::lane_mask mask, cycle_t cycle, unsigned latency) const {
  warp_slot& w = s_.warps[slot];
  const std::uint32_t fall_through = w.state.pc + 1;
  if (mask == 0) simt::advance(w.state);
  else simt::exit_lanes(w.state, mask);
  if (w.state.live == 0) return exited(slot, mask, cycle);
  if (independent_ && mask != 0) return lanes_exit(slot, mask, fall_through, cycle);
  const cycle_t resolved = cycle + latency;
  const cycle_t at = w.state.pc == fall_through
                         ? s_.fetch.next(slot, w.program->code_address, w.state.pc, cycle + 1)
                         : s_.fetch.redirect(slot, w.program->code_address, w.state.pc, resolved);
  s_.control.settle(slot, cycle + 1, at, true);
}

void executed_stream::issue_barrier(unsigned slot, simt::lane_mask mask, cycle_t cycle) const {
  warp_slot& w = s_.warps[slot];
  if (mask == 0) {
    const std::uint32_t sequence = w.state.pc + 1;
    simt::advance(w.state);
    s_.control.settle(slot, cycle + 1, fetched(slot, sequence, cycle + 1), false);
    return;
  }
  if (independent_) return lanes_at_barrier(slot, mask, cycle);
  w.timer = never;
  w.phase = warp_phase::at_barrier;
  // A waiting warp stays at its BAR until resume advances it: a reducing barrier writes its result through that
  // instruction.
  const bool waits = s_.supervisor.barrier_arrive(w.state.slot, *w.next->instruction, mask, cycle);
  if (waits) s_.scheduler.set_waiting(slot);
  if (s_.faults.halted() || waits) return;
  simt::advance(w.state);
  s_.control.settle(slot, cycle + 1, s_.fetch.next(slot, w.program->code_address, w.state.pc, cycle + 1), false);
}

bool executed_stream::multiply(unsigned slot, simt::lane_mask mask) const {
  warp_slot& w = s_.warps[slot];
  try {
    w.next->execute(*w.next->instruction, w.state, mask);
  } catch (const program_error& e) {
    s_.faults.report(w, *w.next, static_cast<unsigned>(__builtin_ctz(mask)), e.what());
    return false;
  }
  return true;
}

// NANOSLEEP sets no minimum duration, so lanes that can execute run first.
bool executed_stream::yields(unsigned slot, simt::lane_mask mask, cycle_t cycle) const {
  warp_slot& w = s_.warps[slot];
  if (!w.state.independent || mask == 0 || !simt::yield_to_other_path(w.state)) return false;
  continue_with(slot, w.sequence, cycle);
  return true;
}

void executed_stream::leave_barrier(warp_slot& w, unsigned number) const {
  if (independent_) simt::leave_barrier(w.state, number);
  else invariant(w.phase == warp_phase::at_barrier, "a barrier released a warp that does not wait at it");
}

void executed_stream::write_reduction(warp_slot& w, unsigned number, std::uint32_t count, std::uint32_t threads) const {
  if (!independent_) return simt::write_reduction(*w.next->instruction, w.state, w.state.active, count, threads);
  for (const simt::lane_path& p : w.state.paths) {
    if (p.wait == simt::path_wait::barrier && p.wanted == number)
      simt::write_reduction(*w.program->code[p.pc].instruction, w.state, p.mask, count, threads);
  }
}

std::uint32_t executed_stream::resume(warp_slot& w) const {
  const std::uint32_t sequence = w.state.pc + 1;
  if (all_wait(w)) end_mbarrier_waits(w, false);
  independent_ ? simt::run_next(w.state) : simt::advance(w.state);
  invariant(w.state.active != 0, "a warp whose lanes all wait was resumed");
  return sequence;
}

bool executed_stream::addresses(unsigned slot, simt::lane_mask mask, lsu_transaction& t) const {
  const warp_slot& w = s_.warps[slot];
  const isa::instruction& i = *t.instruction;
  simt::lane_addresses(i, w.state, mask, t.own_addresses);
  if (__builtin_expect(i.has_policy(), 0)) {
    const auto first = static_cast<unsigned>(__builtin_ctz(mask));
    t.policy = static_cast<std::uint32_t>(simt::lane_value(i.src[3], w.state, first));
  }
  if (t.kind != lsu_kind::constant_load) return true;
  // All lanes must read within their constant bank; the first lane that does not is reported.
  const std::uint64_t bytes = t.launch->banks[i.sub].size();
  const unsigned lane = simt::outside_bank(t.addresses(), mask, t.bytes_per_lane, bytes);
  if (lane == isa::warp_size) return true;
  s_.faults.report(w, *t.decoded, lane, simt::constant_fault(t.addresses()[lane], t.bytes_per_lane, bytes));
  return false;
}

bool executed_stream::access_shared(unsigned slot, lsu_transaction& t) const {
  const isa::instruction& i = *t.instruction;
  unsigned bad_lane = 0;
  t.differing_bits = differing_bits(t.own_addresses, t.shared_mask);  // the addresses are in the host's cache now
  try {
    t.atomic_changes = static_cast<std::uint8_t>(
        simt::shared_access(i, s_.warps[slot].state, t.shared_mask, t.own_addresses, bad_lane));
  } catch (const program_error& e) {
    s_.faults.report(s_.warps[slot], *t.decoded, bad_lane, e.what());
    return false;
  }
  if (i.op == isa::opcode::ldsm) t.shared_mask = simt::matrix_rows(i);  // these accesses take time
  return true;
}

bool executed_stream::copy_target_of(unsigned slot, lsu_transaction& t, copy_target& to) const {
  const warp_slot& w = s_.warps[slot];
  unsigned bad_lane = 0;
  t.global_mask = simt::copying_lanes(*t.instruction, w.state, to.lanes);
  try {
    simt::copy_targets(*t.instruction, w.state, to.lanes, to.offsets, bad_lane);
  } catch (const program_error& e) {
    s_.faults.report(w, *t.decoded, bad_lane, e.what());
    return false;
  }
  return true;
}

void executed_stream::write_copy(const warp_slot& w, lsu_transaction& t) const {
  unsigned bad_lane = 0;  // the offsets were checked when the copy issued
  t.differing_bits = differing_bits(t.own_addresses, t.shared_mask);
  simt::remote_shared_access(*t.instruction, *w.state.block, t.shared_mask, t.own_addresses, t.words, bad_lane);
}

void executed_stream::store_data(const warp_slot& w, lsu_transaction& t) const {
  simt::lane_store_data(*t.instruction, w.state, t.words);
}

void executed_stream::write_back(const decoded_instruction& d, warp_slot& w, simt::lane_mask mask,
                                 const std::uint32_t (*words)[isa::warp_size]) const {
  simt::lane_write_back(*d.instruction, w.state, mask, words);
}

void executed_stream::exchange(warp_slot& w, simt::context_image& image) const {
  const std::size_t instructions = w.program->code.size();
  if (w.program->live.empty())
    image.exchange(w.state.regs, std::size_t{w.launch->program->stored_registers()} * isa::warp_size);
  exchange_state(w, image);
  if (image.reading()) {
    const bool runs = w.stopped_in != warp_phase::at_barrier;
    restored(w, known_wait(w) && simt::plausible(w.state, instructions) && w.state.independent == independent_ &&
                    (!runs || w.state.active != 0));
  }
  if (!w.program->live.empty()) exchange_live(w, image);
}

// Live registers are those that a thread may still read from its current position.
void executed_stream::exchange_live(warp_slot& w, simt::context_image& image) {
  const auto& live = w.program->live;
  isa::register_set needed = live[w.state.pc];
  for (const simt::stack_entry& e : w.state.stack) needed |= live[e.pc];
  for (const simt::lane_path& p : w.state.paths) needed |= live[p.pc];
  for (const simt::convergence_frame& f : w.state.frames)
    if (f.participants != 0) needed |= live[f.resume];
  // A warp that waits at its BAR only for the barrier's latency already holds the barrier's result, so registers that
  // are live after the BAR are kept, too.
  if (w.stopped_in == warp_phase::at_barrier && w.state.pc + 1 < live.size()) needed |= live[w.state.pc + 1];
  image.align(context_line_words);
  for (std::size_t r = 0; r < w.launch->program->stored_registers(); ++r)
    if (needed[r]) image.exchange(w.state.regs + r * isa::warp_size, isa::warp_size);
}

std::string executed_stream::place_of(const warp_slot& w, const isa::instruction& i) const {
  return isa::place_of(*w.launch->program, i);
}

std::vector<std::string> executed_stream::lane_places(const warp_slot& w, unsigned barrier) const {
  const std::uint32_t number = barrier;
  return simt::lane_places_of(w.state, w.phase == warp_phase::at_barrier ? &number : nullptr,
                              [&](std::uint32_t pc) { return place_of(w, *w.program->code[pc].instruction); });
}

}  // namespace heddle
