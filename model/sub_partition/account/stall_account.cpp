// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/account/stall_account.h"

#include <algorithm>

#include "heddle/config/error.h"

namespace heddle {

stall_account::stall_account(warp_table& warps, unsigned counted_slots, unsigned sub_partitions)
    : states_by_slot(counted_slots), warps_(warps), by_warp_(counted_slots != 0), sub_partitions_(sub_partitions) {}

void stall_account::placed(warp_slot& w, cycle_t cycle) {
  w.counters = &counters[w.launch->launch_id];
  w.profile = &(*profiles_)[w.launch->launch_id];
  w.profile->begin(w.launch->decoded);
  w.placed_at = cycle;
}

void stall_account::settle(warp_slot& w, cycle_t until) {
  if (until <= w.mark) return;
  cycle_t c = w.mark;
  w.mark = until;
  switch (w.phase) {
    case warp_phase::waiting: {
      const cycle_t fetched = std::clamp(w.fetch_at, c, until);
      add(w, warp_cycle::inst_fetch, w.redirected ? warp_stall::branch_resolving : warp_stall::no_instruction,
          fetched - c);
      const cycle_t constant = std::clamp(w.constant_at, fetched, until);
      add(w, warp_cycle::constant_memory_dependency, warp_stall::imc_miss, constant - fetched);
      constexpr warp_stall stall[] = {warp_stall::wait, warp_stall::short_scoreboard, warp_stall::long_scoreboard};
      // While the texture path is full, a warp that needs it is counted as waiting for it first.
      const cycle_t changed = std::clamp(texture_changed_, constant, until);
      const cycle_t full = w.next->unit != isa::unit::texture ? 0
                           : texture_full_                    ? until - changed
                                                              : changed - constant;
      add(w, warp_cycle::texture, warp_stall::tex_throttle, full);
      add(w, warp_cycle::exec_dependency, stall[static_cast<unsigned>(w.waits_for)], until - constant - full);
      break;
    }
    case warp_phase::at_barrier: add(w, warp_cycle::sync, warp_stall::barrier, until - c); break;
    case warp_phase::at_fence: add(w, warp_cycle::other, warp_stall::membar, until - c); break;
    case warp_phase::replaying:
      add(w, warp_cycle::selected, warp_stall::selected, until - c);
      w.counters->inst_issued1 += until - c;
      break;
    case warp_phase::sleeping: add(w, warp_cycle::sleeping, warp_stall::sleeping, until - c); break;
    case warp_phase::exited: add(w, warp_cycle::other, warp_stall::drain, until - c); break;
    case warp_phase::held: add(w, warp_cycle::other, warp_stall::dispatch_stall, until - c); break;
    case warp_phase::stopped: add(w, warp_cycle::other, warp_stall::misc, until - c); break;
    case warp_phase::ready:
    case warp_phase::empty: break;
  }
}

void stall_account::settle_ready(warp_slot& w, const ready_wait& wait, cycle_t until) {
  const isa::unit u = w.next->unit;
  if (wait.throttled != 0) add(w, warp_cycle::memory_throttle, warp_stall::lg_throttle, wait.throttled);
  if (wait.busy != 0) {
    const warp_cycle cause = u == isa::unit::texture ? warp_cycle::texture
                             : u == isa::unit::ldst  ? warp_cycle::memory_dependency
                                                     : warp_cycle::pipe_busy;
    add(w, cause, busy_stall(*w.next), wait.busy);
  }
  if (wait.stalled != 0) add(w, warp_cycle::other, warp_stall::dispatch_stall, wait.stalled);
  const cycle_t total = until > wait.ready_since ? until - wait.ready_since : 0;
  add(w, warp_cycle::not_selected, warp_stall::not_selected, total - wait.busy - wait.stalled - wait.throttled);
  w.mark = until;
}

// Warps that wait for the texture path are settled up to now first, so that its state changes at most once in the part
// of a warp's cycles that is not settled yet.
void stall_account::set_texture_full(bool full, cycle_t from, cycle_t now) {
  for (std::uint64_t a = warps_.active(); a != 0; a &= a - 1) {
    warp_slot& w = warps_[static_cast<unsigned>(__builtin_ctzll(a))];
    if (w.phase == warp_phase::waiting && w.next->unit == isa::unit::texture) settle(w, std::min(from, now));
  }
  texture_full_ = full;
  texture_changed_ = from;
}

void stall_account::check_invariants(bool dual_issue, cycle_t cycle) const {
  std::uint64_t selected = 0;
  for (std::uint32_t launch = 0; launch < counters.end(); ++launch) {
    const issue_totals c = counters.at(launch).totals();
    std::uint64_t cycles = 0, stalls = 0;
    for (const auto v : c.warp_cycles) cycles += v;
    for (const auto v : c.warp_stalls) stalls += v;
    // A warp's active cycles are added when it leaves, its states as they change; resident warps are added here.
    std::uint64_t active = c.active_warp_cycles;
    for (std::uint64_t a = warps_.active(); a != 0; a &= a - 1) {
      const warp_slot& w = warps_[static_cast<unsigned>(__builtin_ctzll(a))];
      if (w.launch->launch_id == launch) active += w.mark - w.placed_at;
    }
    invariant(cycles == active, "warp-cycle states do not partition active warp-cycles");
    invariant(stalls == active, "warp stall states do not partition active warp-cycles");
    invariant(c.inst_issued1 + 2 * c.inst_issued2 >= c.inst_executed, "fewer instructions issued than executed");
    invariant(dual_issue || c.inst_issued2 == 0, "more instructions issued in a cycle than the issue width");
    selected += c.warp_cycles[static_cast<unsigned>(warp_cycle::selected)];
  }
  invariant(selected <= cycle + 1, "more warps were selected than there were cycles");
}

}  // namespace heddle
