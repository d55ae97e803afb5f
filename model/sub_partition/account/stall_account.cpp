// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/account/stall_account.h"

#include <algorithm>
#include <functional>

#include "heddle/config/error.h"
#include "heddle/isa/set_bits.h"

namespace heddle {

stall_account::stall_account(warp_table& warps, unsigned counted_slots, unsigned sub_partitions)
    : states_by_slot(counted_slots), warps_(warps), by_warp_(counted_slots != 0), sub_partitions_(sub_partitions) {}

void stall_account::placed(warp_slot& w, cycle_t cycle) {
  w.counters = &counters[w.launch->launch_id];
  w.profile = &(*profiles_)[w.launch->launch_id];
  w.profile->begin(w.launch->decoded);
  w.placed_at = cycle;
  w.executed = 0;
}

void stall_account::forget(const launch_profile& profile) {
  const std::less<> before;
  const profile_line *const first = profile.lines(), *const end = first + profile.size();
  for (unsigned slot = 0; slot < warps_.size(); ++slot) {
    warp_slot& w = warps_[slot];
    if (before(w.line, first) || !before(w.line, end)) continue;
    invariant(w.phase == warp_phase::empty, "the profile of a warp was dropped");
    w.line = nullptr;
  }
}

void stall_account::attach(warp_slot& w) {
  w.counters = &counters[w.launch->launch_id];
  w.profile = &(*profiles_)[w.launch->launch_id];
}

void stall_account::settle(warp_slot& w, cycle_t until) {
  if (until <= w.mark) return;
  const cycle_t from = w.mark;
  w.mark = until;
  if (w.phase == warp_phase::replaying) w.counters->inst_issued1 += until - from;
  conditions(w, from, until,
             [&](warp_condition condition, cycle_t first, cycle_t end) { add(w, condition, end - first); });
}

void stall_account::settle_ready(warp_slot& w, const ready_wait& wait, cycle_t until) {
  w.mark = until;
  const auto spent = [&](unit_input input, cycle_t cycles) {
    if (cycles != 0) add(w, condition_of_ready(input, *w.next), cycles);
  };
  const std::uint64_t held_up = wait.throttled + wait.busy + wait.stalled;
  if (held_up != 0) {
    spent(unit_input::throttled, wait.throttled);
    spent(unit_input::busy, wait.busy);
    spent(unit_input::stalled, wait.stalled);
  }
  const cycle_t total = until > wait.ready_since ? until - wait.ready_since : 0;
  spent(unit_input::open, total - held_up);
}

// Warps that wait for the texture path are settled up to now first, so that its state changes at most once in the part
// of a warp's cycles that is not settled yet.
void stall_account::set_texture_full(bool full, cycle_t from, cycle_t now) {
  for (const unsigned slot : set_bits(warps_.active())) {
    warp_slot& w = warps_[slot];
    if (w.phase == warp_phase::waiting && w.next->unit == isa::unit::texture) settle(w, std::min(from, now));
  }
  texture_full_ = full;
  texture_changed_ = from;
}

void stall_account::exchange(state_image& image, const launch_finder& launches) {
  image(counters);
  image.each(states_by_slot);
  image(texture_full_, texture_changed_);
  own_profiles_.exchange(
      image, [&](std::uint32_t launch, launch_profile& profile) { profile.exchange(image, launches(launch)); });
}

void stall_account::check_invariants(bool dual_issue, cycle_t cycle) const {
  std::uint64_t selected = 0;
  for (std::uint32_t launch = 0; launch < counters.end(); ++launch) {
    if (counters.find(launch) == nullptr) continue;
    const issue_totals c = counters.find(launch)->totals();
    std::uint64_t cycles = 0, stalls = 0;
    for (const auto v : c.warp_cycles) cycles += v;
    for (const auto v : c.warp_stalls) stalls += v;
    // A warp's active cycles are added when it leaves, its states as they change; resident warps are added here.
    std::uint64_t active = c.active_warp_cycles;
    for (const unsigned slot : set_bits(warps_.active())) {
      const warp_slot& w = warps_[slot];
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
