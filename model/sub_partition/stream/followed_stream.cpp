// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/stream/followed_stream.h"

#include <algorithm>
#include <cstring>

#include "heddle/memory/l1/coalescer.h"
#include "heddle/simt/execute.h"
#include "heddle/sub_partition/warp/copy_groups.h"

namespace heddle {

followed_stream::followed_stream(const surroundings& s)
    : instruction_stream(s), independent_(s.config.sub_partition.divergence == choice::divergence::independent) {}

void followed_stream::begin(warp_slot& w) const {
  w.barrier_lanes = 0;
  w.jumps = independent_;
  seek(w, 0);
  w.state.independent = false;
  take_step(w);
}

bool followed_stream::seek(warp_slot& w, std::uint64_t position) {
  auto segment = w.state.block->recording->segment(w.state.warp_in_block, position);
  if (!segment) return false;
  w.segment = std::move(segment);
  w.record = w.segment->first + (position - w.segment->position);
  w.last_record = w.segment->last;
  return true;
}

void followed_stream::to_next(warp_slot& w) {
  ++w.record;
  if (__builtin_expect(w.record == w.last_record, 0) && !w.segment->ends) seek(w, position(w));
}

void followed_stream::next_record(warp_slot& w) {
  to_next(w);
  take_step(w);
}

// The guard passes as recorded.
void followed_stream::take_step(warp_slot& w) {
  const isa::execution_record* more = nullptr;
  for (; (w.record->instruction & isa::step::precedes) != 0; to_next(w)) more = w.record;
  const bool guarded = more != nullptr && (more->instruction & isa::step::precedes) == isa::step::lanes;
  w.state.active = guarded ? more->mask : w.record->mask;
  w.state.pc = w.record->instruction & isa::step::index;
  const isa::predicate guard = w.program->code[w.state.pc].guard;
  if (guard.reg != isa::pt) w.state.predicates[guard.reg] = guard.negate ? ~w.record->mask : w.record->mask;
}

bool followed_stream::branch(warp_slot& w, simt::lane_mask) const {
  const bool diverges = (w.record->instruction & isa::step::diverges) != 0;
  next_record(w);
  return diverges;
}

bool followed_stream::lanes_present(unsigned slot, simt::lane_mask, cycle_t cycle) const {
  warp_slot& w = s_.warps[slot];
  if ((w.record->instruction & isa::step::waits) == 0) return true;
  const std::uint32_t sequence = w.state.pc + 1;
  next_record(w);
  continue_with(slot, sequence, cycle);
  return false;
}

// Some lanes have stopped in `cycle`. The warp continues with others, or waits if the next ones are at a barrier.
void followed_stream::continue_with(unsigned slot, std::uint32_t sequence, cycle_t cycle) const {
  warp_slot& w = s_.warps[slot];
  w.sequence = sequence;
  if (w.barrier_lanes != 0 && !lanes_go_on(w)) {
    w.phase = warp_phase::at_barrier;
    w.timer = never;
    s_.scheduler.set_waiting(slot);
    return;
  }
  const bool redirected = w.state.pc != sequence;
  const cycle_t known = redirected ? cycle + s_.config.branch.latency_cycles : cycle + 1;
  s_.control.settle(slot, cycle + 1, fetched(slot, sequence, known), redirected);
}

void followed_stream::issue_exit(unsigned slot, simt::lane_mask mask, cycle_t cycle, unsigned latency) const {
  warp_slot& w = s_.warps[slot];
  const bool last = w.record == w.last_record;
  const simt::lane_mask gone = last ? w.state.live : mask & w.state.live;
  w.state.live &= ~gone;
  if (last || w.state.live == 0) return exited(slot, gone, cycle);
  const std::uint32_t fall_through = w.state.pc + 1;
  next_record(w);
  if (independent_ && gone != 0) {
    w.sequence = fall_through;
    w.phase = lanes_go_on(w) ? warp_phase::waiting : warp_phase::at_barrier;
    w.timer = never;
    s_.supervisor.lanes_exited(w.state.slot, gone, cycle);
    if (!s_.faults.halted() && w.phase == warp_phase::waiting) continue_with(slot, fall_through, cycle);
    return;
  }
  const cycle_t at = w.state.pc == fall_through
                         ? s_.fetch.next(slot, w.program->code_address, w.state.pc, cycle + 1)
                         : s_.fetch.redirect(slot, w.program->code_address, w.state.pc, cycle + latency);
  s_.control.settle(slot, cycle + 1, at, true);
}

// The BAR of the present record, with what it computes in its place.
isa::instruction followed_stream::known_barrier(const warp_slot& w) {
  isa::instruction bar = *w.next->instruction;
  if (!isa::computes_barrier(bar)) return bar;
  std::uint64_t both[isa::warp_size];
  w.segment->addresses(*w.record, both);
  const std::uint64_t value = both[__builtin_ctz(w.record->mask)];
  bar.src[0] = isa::make_immediate(value & 0xffffffffu);
  if (bar.src[1].kind != isa::operand_kind::none) bar.src[1] = isa::make_immediate(value >> 32);
  return bar;
}

void followed_stream::issue_barrier(unsigned slot, simt::lane_mask mask, cycle_t cycle) const {
  warp_slot& w = s_.warps[slot];
  const std::uint32_t sequence = w.state.pc + 1;
  if (mask == 0) {
    next_record(w);
    s_.control.settle(slot, cycle + 1, fetched(slot, sequence, cycle + 1), false);
    return;
  }
  const isa::instruction bar = known_barrier(w);
  w.sequence = sequence;
  next_record(w);
  w.timer = never;
  w.phase = independent_ ? warp_phase::waiting : warp_phase::at_barrier;
  const bool waits = s_.supervisor.barrier_arrive(w.state.slot, bar, mask, cycle);
  if (independent_) {
    if (!s_.faults.halted() && w.phase == warp_phase::waiting) continue_with(slot, sequence, cycle);
    return;
  }
  if (waits) s_.scheduler.set_waiting(slot);
  if (s_.faults.halted() || waits) return;
  s_.control.settle(slot, cycle + 1, s_.fetch.next(slot, w.program->code_address, w.state.pc, cycle + 1), false);
}

void followed_stream::wait_at_barrier(unsigned slot, simt::lane_mask mask, unsigned) const {
  warp_slot& w = s_.warps[slot];
  w.barrier_lanes |= mask;
  w.phase = lanes_go_on(w) ? warp_phase::waiting : warp_phase::at_barrier;
  if (w.phase == warp_phase::at_barrier) s_.scheduler.set_waiting(slot);
}

// The step before the present one.
const isa::execution_record& followed_stream::taken(const warp_slot& w) {
  const isa::execution_record* r = w.record - 1;
  while ((r->instruction & isa::step::precedes) != 0) --r;
  return *r;
}

bool followed_stream::yields(unsigned slot, simt::lane_mask, cycle_t cycle) const {
  warp_slot& w = s_.warps[slot];
  if (!(taken(w).instruction & isa::step::yields)) return false;
  continue_with(slot, w.sequence, cycle);
  return true;
}

std::uint32_t followed_stream::resume(warp_slot& w) const { return w.sequence; }

bool followed_stream::addresses(unsigned slot, simt::lane_mask, lsu_transaction& t) const {
  const warp_slot& w = s_.warps[slot];
  t.data = false;
  w.segment->addresses(*w.record, t.own_addresses);
  return true;
}

bool followed_stream::access_shared(unsigned, lsu_transaction& t) const {
  const isa::instruction& i = *t.instruction;
  t.differing_bits = differing_bits(t.own_addresses, t.shared_mask);
  if (i.op == isa::opcode::ldsm) t.shared_mask = simt::matrix_rows(i);
  return true;
}

bool followed_stream::copy_target_of(unsigned slot, lsu_transaction& t, copy_target& to) const {
  const warp_slot& w = s_.warps[slot];
  const isa::execution_record* target = w.record - 1;
  if ((target->instruction & isa::step::target) == 0) --target;
  t.global_mask = target[-1].mask & to.lanes;
  w.segment->addresses(*target, to.offsets);
  return true;
}

void followed_stream::write_copy(const warp_slot&, lsu_transaction& t) const {
  t.differing_bits = differing_bits(t.own_addresses, t.shared_mask);
}

void followed_stream::store_data(const warp_slot&, lsu_transaction& t) const {
  std::memset(t.words, 0, sizeof t.words[0] * std::max(1, t.bytes_per_lane / 4));
}

void followed_stream::exchange(warp_slot& w, simt::context_image& image) const {
  image.blank(std::size_t{w.launch->program->stored_registers()} * isa::warp_size);
  exchange_state(w, image);
  std::uint64_t at = position(w);
  image(at);
  image(w.barrier_lanes);
  if (image.reading())
    restored(w, known_wait(w) && seek(w, at) && w.state.pc == (w.record->instruction & isa::step::index));
}

std::string followed_stream::place_of(const warp_slot& w, const isa::instruction& i) const {
  return isa::place_of(*w.launch->program, i);
}

std::vector<std::string> followed_stream::lane_places(const warp_slot& w, unsigned barrier) const {
  return {(w.phase == warp_phase::at_barrier ? "waits at barrier " + std::to_string(barrier) + ", " : "is at ") +
          place_of(w, *w.next->instruction)};
}

}  // namespace heddle
