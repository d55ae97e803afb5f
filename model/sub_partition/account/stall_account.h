// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "heddle/isa/opcode.h"
#include "heddle/memory/common/per_launch.h"
#include "heddle/sub_partition/account/issue_counters.h"
#include "heddle/sub_partition/account/launch_finder.h"
#include "heddle/sub_partition/account/launch_profile.h"
#include "heddle/sub_partition/dependence/decoded_program.h"
#include "heddle/sub_partition/warp/warp_table.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

/// Since when a warp was ready, and for how many cycles its unit's input was closed since then, by reason.
struct ready_wait {
  cycle_t ready_since;
  std::uint64_t busy;
  std::uint64_t stalled;
  std::uint64_t throttled;
};

/// Counts every active warp-cycle of a sub-partition in exactly one state, for its launch and for the warp's next
/// instruction. It counts by interval: the cycles since warp_slot::mark are added when the warp leaves a state.
class stall_account {
 public:
  /// `counted_slots`: slots whose states are also counted one by one, all or 0. `sub_partitions`: of the SM; warp id w
  /// has slot w / sub_partitions.
  stall_account(warp_table& warps, unsigned counted_slots, unsigned sub_partitions);

  per_launch<issue_counters> counters;
  /// By slot, the states of all warps that it has held. Empty unless counted.
  std::vector<state_counts> states_by_slot;

  /// Profiles by instruction are counted in `profiles` from now on, together with the SM's other sub-partitions.
  /// Without this call the sub-partition keeps its own.
  void share_profiles(per_launch<launch_profile>& profiles) { profiles_ = &profiles; }
  [[nodiscard]] const per_launch<launch_profile>& profiles() const { return *profiles_; }
  /// The slot holds a new warp from `cycle` on. Its launch and its program are set.
  void placed(warp_slot& w, cycle_t cycle);
  /// The profile is about to be dropped: empty slots, which keep what their last warp had, point to its lines no more.
  void forget(const launch_profile& profile);
  /// The slot's launch, program and next instruction were read from a state image: finds where they are counted.
  void attach(warp_slot& w);
  /// Sets the warp's next instruction to the one at `pc`.
  static void set_next(warp_slot& w, std::uint32_t pc) {
    w.next = &w.program->code[pc];
    w.line = w.profile->lines() + pc;
  }
  void add(warp_slot& w, warp_condition condition, std::uint64_t cycles) {
    if (cycles == 0) return;
    const unsigned state = state_of(condition.cycle, condition.stall);
    w.profile->add(*w.line, launch_profile::what(state), cycles);
    if (__builtin_expect(by_warp_, 0)) add_state(states_by_slot[w.state.slot / sub_partitions_], state, cycles);
    w.counters->states[state] += cycles;
  }
  /// Adds the cycles [w.mark, until) to the states that the warp was in. Not for ready warps.
  void settle(warp_slot& w, cycle_t until);
  /// A ready warp issues, or is stopped, in `until`: adds why it did not issue since it became ready.
  void settle_ready(warp_slot& w, const ready_wait& wait, cycle_t until);
  /// Adds the cycles until `cycle` to the active ones of the warp's launch; its states are settled up to there.
  static void settle_active(warp_slot& w, cycle_t cycle) {
    w.counters->active_warp_cycles += cycle - w.placed_at;
    w.placed_at = cycle;
  }

  /// Sets whether the texture path is full from cycle `from` on. `now`: the current cycle.
  void set_texture_full(bool full, cycle_t from, cycle_t now);
  [[nodiscard]] bool texture_full() const { return texture_full_; }

  /// Calls f(warp_condition, from, until) for each of the warp's conditions in [from, until), in their order; some of
  /// the intervals are empty. Not for ready warps. This and condition_of_ready() classify all warp-cycles: what is
  /// counted, and what a waveform shows.
  template <class F>
  void conditions(const warp_slot& w, cycle_t from, cycle_t until, F&& f) const;
  /// The condition of a ready warp with this next instruction that does not issue, by its unit's input.
  static warp_condition condition_of_ready(unit_input input, const decoded_instruction& next);
  /// Throws internal_error if the states do not partition the active warp-cycles. `dual_issue`: two instructions may
  /// issue in a cycle. `cycle`: the current one.
  void check_invariants(bool dual_issue, cycle_t cycle) const;
  /// Without profiles that are shared.
  void exchange(state_image& image, const launch_finder& launches);

 private:
  warp_table& warps_;
  const bool by_warp_;
  const unsigned sub_partitions_;
  bool texture_full_ = false;  // state of the texture path from texture_changed_ on; before that cycle, the opposite
  cycle_t texture_changed_ = 0;
  per_launch<launch_profile> own_profiles_;
  per_launch<launch_profile>* profiles_ = &own_profiles_;
};

template <class F>
void stall_account::conditions(const warp_slot& w, cycle_t from, cycle_t until, F&& f) const {
  using c = warp_cycle;
  using s = warp_stall;
  switch (w.phase) {
    case warp_phase::waiting: {
      const cycle_t fetched = std::clamp(w.fetch_at, from, until);
      f(warp_condition{c::inst_fetch, w.redirected ? s::branch_resolving : s::no_instruction}, from, fetched);
      const cycle_t constant = std::clamp(w.constant_at, fetched, until);
      f(warp_condition{c::constant_memory_dependency, s::imc_miss}, fetched, constant);
      constexpr s by_producer[] = {s::wait, s::short_scoreboard, s::long_scoreboard};
      const warp_condition operand{c::exec_dependency, by_producer[static_cast<unsigned>(w.waits_for)]};
      if (w.next->unit != isa::unit::texture) {
        f(operand, constant, until);
        break;
      }
      // While the texture path is full, a warp that needs it is counted as waiting for it first.
      const warp_condition full{c::texture, s::tex_throttle};
      const cycle_t changed = std::clamp(texture_changed_, constant, until);
      f(texture_full_ ? operand : full, constant, changed);
      f(texture_full_ ? full : operand, changed, until);
      break;
    }
    case warp_phase::at_barrier: {
      const isa::opcode op = w.next->instruction->op;
      const s at = op == isa::opcode::ucgabar_wait ? s::cluster_barrier
                   : op == isa::opcode::syncs      ? s::mbarrier
                   : op == isa::opcode::acqbulk    ? s::grid_dependency
                                                   : s::barrier;
      f(warp_condition{c::sync, at}, from, until);
      break;
    }
    case warp_phase::at_fence: f(warp_condition{c::other, s::membar}, from, until); break;
    case warp_phase::replaying: f(warp_condition{c::selected, s::selected}, from, until); break;
    case warp_phase::sleeping: f(warp_condition{c::sleeping, s::sleeping}, from, until); break;
    case warp_phase::exited: f(warp_condition{c::other, s::drain}, from, until); break;
    case warp_phase::held: f(warp_condition{c::other, s::dispatch_stall}, from, until); break;
    case warp_phase::stopped: f(warp_condition{c::other, s::misc}, from, until); break;
    case warp_phase::ready:
    case warp_phase::empty: break;
  }
}

inline warp_condition stall_account::condition_of_ready(unit_input input, const decoded_instruction& next) {
  using c = warp_cycle;
  using s = warp_stall;
  switch (input) {
    case unit_input::throttled: return {c::memory_throttle, s::lg_throttle};
    case unit_input::stalled: return {c::other, s::dispatch_stall};
    case unit_input::open: return {c::not_selected, s::not_selected};
    case unit_input::busy: break;
  }
  if (next.unit == isa::unit::texture) return {c::texture, s::tex_throttle};
  if (next.unit != isa::unit::ldst) return {c::pipe_busy, s::math_pipe_throttle};
  return {c::memory_dependency, next.global_access ? s::lg_throttle : s::mio_throttle};
}

}  // namespace heddle
