// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/partition_signals.h"

#include <algorithm>

#include "heddle/sub_partition/account/stall_account.h"
#include "heddle/sub_partition/dependence/dependence.h"
#include "heddle/sub_partition/fetch/fetch.h"
#include "heddle/sub_partition/issue/execution_unit.h"
#include "heddle/sub_partition/issue/last_issue.h"
#include "heddle/sub_partition/issue/register_file.h"
#include "heddle/sub_partition/issue/warp_scheduler.h"
#include "heddle/sub_partition/stream/instruction_stream.h"
#include "heddle/sub_partition/warp/warp_table.h"

namespace heddle {

namespace {
using closure = issue_gate::closure;
}

const char* partition_signals::name_of(state s) {
  return s == no_warp ? "empty" : heddle::name_of(static_cast<warp_stall>(s - 1));
}

partition_signals::partition_signals(const sampled_partition& partition, unit_clock& clock)
    : states(partition.warps.size(), no_warp), partition_(partition), clock_(clock) {
  clock_.observe(*this);
}

partition_signals::~partition_signals() { clock_.ignore(*this); }

void partition_signals::only_in(cycle_t first, cycle_t last) {
  const bool wanted = first_ <= last_;
  first_ = wanted ? std::min(first_, first) : first;
  last_ = wanted ? std::max(last_, last) : last;
}

partition_signals::warp_place partition_signals::at(unsigned slot) const {
  const warp_slot& w = partition_.warps[slot];
  return {w.program, w.state.block, w.state.warp_in_block, w.state.pc, w.stream->recorded()};
}

void partition_signals::after_cycle() {
  const cycle_t cycle = clock_.cycle();
  // The cycle before the observed range is sampled, too: it gives the units' input states at its start. If nothing
  // works at its start, the last state before it is the one that it begins with.
  const bool lasts = cycle < first_ && clock_.next_wake() > first_;
  if ((cycle + 1 < first_ && !lasts) || cycle > last_) {
    sampled_ = false;
    return;
  }
  if (!sampled_) gates_ = {};
  sampled_ = true;
  next_ = never;
  show_issue(cycle);
  show_units(cycle);
  show_warps(cycle);
  if (next_ != never && next_ <= last_) clock_.sample_at(next_);
}

void partition_signals::show_issue(cycle_t cycle) {
  const sampled_partition& p = partition_;
  issued = p.last.cycle == cycle ? p.last.count : 0;
  replaying = false;
  if (issued != 0) sample_again_at(cycle + 1);
  for (unsigned k = 0; k < slots.size(); ++k) {
    issue_slot& s = slots[k];
    s.operation = 0;
    if (k >= issued) continue;
    const warp_slot& w = p.warps[p.last.warp / p.partitions];
    s.pc = p.last.pc + k;
    s.warp = p.last.warp;
    s.lanes = p.last.lanes;
    s.operation = static_cast<std::uint8_t>(1 + static_cast<unsigned>(w.program->code[s.pc].timing));
  }
  p.register_file.conflict_cycles = p.last.conflicts_at == cycle ? p.last.conflicts : 0;
}

// State of the unit's input in `cycle`: derived from the increase of its counts since the last sample, less the cycles
// in between that were expected to count.
issue_gate::closure partition_signals::closure_in(isa::unit u, cycle_t cycle) {
  issue_gate& gate = partition_.scheduler.gate(u);
  gate_record& r = gates_[static_cast<unsigned>(u)];
  const issue_gate::closed_cycles counted = gate.until(cycle + 1);
  const std::uint64_t between = cycle - std::min(cycle, r.counted_to);
  const auto here = [&](closure c, std::uint64_t before, std::uint64_t after) {
    return after - before > (r.coming == c ? between : 0);
  };
  closure now = closure::open;
  if (r.counted_to == 0) now = gate.closure_at(cycle);
  else if (here(closure::throttled, r.counted.throttled, counted.throttled)) now = closure::throttled;
  else if (here(closure::busy, r.counted.busy, counted.busy)) now = closure::busy;
  else if (here(closure::stalled, r.counted.stalled, counted.stalled)) now = closure::stalled;
  r.counted = counted;
  r.counted_to = cycle + 1;
  r.coming = gate.closure_at(cycle + 1);
  sample_again_at(gate.changes_after(cycle + 1));
  if (r.coming != now) sample_again_at(cycle + 1);
  return now;
}

void partition_signals::show_units(cycle_t cycle) {
  for (unsigned u = 0; u < units; ++u) {
    gates_[u].now = closure_in(static_cast<isa::unit>(u), cycle);
    const execution_unit& unit = partition_.units[u];
    unit.busy = unit.input.free_at > cycle;
    if (unit.busy) sample_again_at(unit.input.free_at);
  }
  for (const execution_unit& unit : partition_.shared_unit) {
    unit.busy = unit.input.free_at > cycle;
    if (unit.busy) sample_again_at(unit.input.free_at);
  }
}

void partition_signals::show_warps(cycle_t cycle) {
  const sampled_partition& p = partition_;
  std::uint64_t ready = 0, eligible = 0, selected = 0, buffered = 0;
  for (unsigned s = 0; s < states.size(); ++s) {
    if (states[s] == no_warp && (p.warps.active() >> s & 1) == 0) continue;
    const std::uint64_t bit = std::uint64_t{1} << s;
    states[s] = state_in(s, cycle);
    const warp_slot& w = p.warps[s];
    if (states[s] == state_of(warp_stall::selected)) {
      selected |= bit;
      if (w.phase == warp_phase::replaying && w.mark <= cycle) replaying = true;
    }
    if (states[s] == state_of(warp_stall::selected) || states[s] == state_of(warp_stall::not_selected)) eligible |= bit;
    if ((eligible & bit) != 0 || (w.phase == warp_phase::ready && w.mark <= cycle)) ready |= bit;
    if (w.phase != warp_phase::empty && w.fetch_at <= cycle) buffered |= bit;
    if (p.warps.active() >> s & 1) p.dependence.sample(s, *w.program, w.launch->program->stored_registers(), cycle);
  }
  p.scheduler.traced = {ready, eligible, selected};
  p.fetch.buffered = buffered;
}

partition_signals::state partition_signals::state_in(unsigned slot, cycle_t cycle) {
  const sampled_partition& p = partition_;
  const warp_slot& w = p.warps[slot];
  if (w.phase == warp_phase::empty) return no_warp;
  if (issued != 0 && p.last.warp == w.state.slot) return state_of(warp_stall::selected);
  if (w.mark > cycle) {  // its current state begins in a later cycle
    sample_again_at(w.mark);
    return w.placed_at > cycle ? no_warp : state_of(warp_stall::misc);
  }
  if (w.phase == warp_phase::ready) {
    const unit_input input = gates_[static_cast<unsigned>(w.next->unit)].now;
    return state_of(stall_account::condition_of_ready(input, *w.next).stall);
  }
  state now = no_warp;
  p.account.conditions(w, cycle, never, [&](warp_condition condition, cycle_t from, cycle_t until) {
    if (now != no_warp || from == until) return;
    now = state_of(condition.stall);
    sample_again_at(until);
  });
  return now;
}

}  // namespace heddle
