// SPDX-License-Identifier: MIT
// Models: the warp scheduler of a sub-partition: which warps are ready, which of those are eligible (their unit's input
//   is open), and which one the policy selects.
// Sockets: none; it is a part of the sub-partition's issue stage.
// One cycle: selects one warp among the eligible ones. Events update the bit masks of ready warps; slots are not
// scanned.
// Parameters: sub_partition.scheduler, starvation_cycles. Source: docs/model/scheduling.md; the policies name their
// papers.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <systemc>

#include "heddle/config/parameters.h"
#include "heddle/isa/opcode.h"
#include "heddle/isa/set_bits.h"
#include "heddle/sub_partition/account/stall_account.h"
#include "heddle/sub_partition/issue/issue_gate.h"
#include "heddle/sub_partition/policies/scheduling_policy.h"
#include "heddle/tlm/kernel/prefetch.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/kernel/trace_observer.h"
#include "heddle/tlm/port/module_part.h"

namespace heddle {

class warp_scheduler final : public module_part {
 public:
  warp_scheduler(const part_name& name, const sub_partition_parameters& parameters, const policy_place& place);

  /// The gate of a unit. Const for observers: updating a gate's sums does not change its state.
  [[nodiscard]] issue_gate& gate(isa::unit u) const {
    const unsigned n = static_cast<unsigned>(u);
    if (__builtin_expect((gates_in_use_ >> n & 1) == 0, 0)) {
      gates_in_use_ |= 1u << n;
      hot_.gates[n].stall(stalled_from_, stalled_until_);
    }
    return hot_.gates[n];
  }

  /// From `cycle` on, the warp's next instruction needs only its unit.
  void add_ready(unsigned slot, isa::unit u, cycle_t cycle) {
    hot_.ready[static_cast<unsigned>(u)] |= std::uint64_t{1} << slot;
    hot_.ready_units |= 1u << static_cast<unsigned>(u);
    hot_.all_ready |= std::uint64_t{1} << slot;
    hot_.waiting &= ~(std::uint64_t{1} << slot);
    hot_.since[slot] = {cycle, cycle, gate(u).until(cycle)};
  }
  /// Removes a ready warp that issues in `cycle` or is stopped. Returns since when it was ready, and for how many
  /// cycles its gate was closed, by reason.
  ready_wait remove_ready(unsigned slot, isa::unit u, cycle_t cycle) {
    if ((hot_.ready[static_cast<unsigned>(u)] &= ~(std::uint64_t{1} << slot)) == 0)
      hot_.ready_units &= ~(1u << static_cast<unsigned>(u));
    hot_.all_ready &= ~(std::uint64_t{1} << slot);
    return waited(slot, u, cycle);
  }

  /// A ready warp issues, or is stopped, in `until`: it leaves the ready warps, and `account` learns why it did not
  /// issue before.
  void leave_ready(unsigned slot, warp_slot& w, cycle_t until, stall_account& account) {
    account.settle_ready(w, remove_ready(slot, w.next->unit, until), until);
  }

  /// `account` learns why a warp that stays ready did not issue before `until`.
  void settle_ready(unsigned slot, warp_slot& w, cycle_t until, stall_account& account) {
    account.settle_ready(w, waited(slot, w.next->unit, until), until);
    hot_.since[slot].settled = until;
    hot_.since[slot].closed = gate(w.next->unit).until(until);
  }

  /// Nothing issues in [cycle, until).
  void stall(cycle_t cycle, cycle_t until) {
    stalled_from_ = cycle;
    stalled_until_ = until;
    for (const unsigned unit : set_bits(gates_in_use_)) hot_.gates[unit].stall(cycle, until);
  }

  /// Ready warps whose unit is open in `cycle`.
  [[nodiscard]] std::uint64_t eligible(cycle_t cycle) const {
    std::uint64_t e = 0;
    for (const unsigned u : set_bits(hot_.ready_units)) {
      if (hot_.gates[u].open(cycle)) e |= hot_.ready[u];
    }
    return e;
  }
  /// First cycle from `cycle` on in which a ready warp can be eligible; `never` if there is none.
  [[nodiscard]] cycle_t next_eligible(cycle_t cycle) const {
    cycle_t best = never;
    for (const unsigned unit : set_bits(hot_.ready_units)) best = std::min(best, hot_.gates[unit].opens_at());
    return best == never ? never : std::max(best, cycle);
  }
  unsigned select(std::uint64_t eligible, cycle_t cycle) {
    if (__builtin_expect(cycle >= hot_.starves_at, 0)) {
      if (const unsigned slot = longest_starved(eligible, cycle); slot != no_slot) return slot;
    }
    return hot_.policy->select({eligible, hot_.waiting, cycle});
  }
  scheduling_policy& policy() { return *hot_.policy; }
  /// Replaces the policy by one that has no name in the configuration. Call before the first warp is placed.
  void use(std::unique_ptr<scheduling_policy> policy);
  [[nodiscard]] std::uint64_t ready() const { return hot_.all_ready; }
  [[nodiscard]] std::uint64_t ready(isa::unit u) const { return hot_.ready[static_cast<unsigned>(u)]; }
  /// The warp will not be ready soon; it counts as waiting until add_ready().
  void set_waiting(unsigned slot) { hot_.waiting |= std::uint64_t{1} << slot; }
  [[nodiscard]] std::uint64_t waiting() const { return hot_.waiting; }
  /// A warp was placed in a slot, or left it.
  void placed(unsigned slot, cycle_t cycle) {
    hot_.waiting &= ~(std::uint64_t{1} << slot);
    hot_.policy->placed(slot, cycle);
  }
  void removed(unsigned slot) {
    hot_.waiting &= ~(std::uint64_t{1} << slot);
    hot_.policy->removed(slot);
  }
  [[nodiscard]] bool holds_memory() const { return hot_.holds_memory; }
  /// Masks of warp slots in this cycle; updated only while traced.
  struct signals {
    std::uint64_t ready = 0;
    std::uint64_t eligible = 0;
    std::uint64_t selected = 0;
  };
  mutable signals traced;
  void observe(const trace_observer* observer) { traced_by_ = observer; }
  void trace(sc_core::sc_trace_file* file) const override;
  void prefetch() const { host_prefetch(&hot_, sizeof hot_); }
  void exchange(state_image& image);

 private:
  static constexpr unsigned units = static_cast<unsigned>(isa::unit::count);
  static constexpr unsigned no_slot = ~0u;
  unsigned longest_starved(std::uint64_t eligible, cycle_t cycle);
  struct mark {
    cycle_t ready = 0;                 // since this cycle
    cycle_t settled = 0;               // accounted up to this cycle
    issue_gate::closed_cycles closed;  // until then
    void exchange(state_image& image) { image(ready, settled, closed); }
  };
  [[nodiscard]] ready_wait waited(unsigned slot, isa::unit u, cycle_t cycle) const {
    const auto closed = hot_.gates[static_cast<unsigned>(u)].until(cycle);
    const mark& m = hot_.since[slot];
    return {m.settled, closed.busy - m.closed.busy, closed.stalled - m.closed.stalled,
            closed.throttled - m.closed.throttled};
  }
  /// What every instruction touches.
  struct alignas(64) hot_state {
    hot_state(std::unique_ptr<scheduling_policy> chosen, unsigned slots, cycle_t starvation)
        : policy(std::move(chosen)),
          since(std::make_unique<mark[]>(slots)),
          starves_at(starvation),
          holds_memory(policy->holds_memory()) {}

    std::array<std::uint64_t, units> ready{};
    std::uint64_t all_ready = 0;
    unsigned ready_units = 0;   // bit per unit for which a warp is ready
    std::uint64_t waiting = 0;  // cannot issue soon: global memory, barriers, fences, sleep
    std::unique_ptr<scheduling_policy> policy;
    std::unique_ptr<mark[]> since;  // by slot
    cycle_t starves_at;             // no ready warp has waited too long before
    bool holds_memory;
    mutable std::array<issue_gate, units> gates;
  };
  static_assert(sizeof(hot_state) == 640, "ten cache lines");
  hot_state hot_;
  const int slots_;
  static constexpr cycle_t fair_share = 4;  // of the time in which a warp starves: the longest-waiting one issues
  const cycle_t starvation_;                // sub_partition.starvation_cycles; never: 0
  cycle_t fair_until_ = 0;
  mutable unsigned gates_in_use_ = 0;  // bit per unit; gates not in use have not received the last stall
  cycle_t stalled_from_ = 0;
  cycle_t stalled_until_ = 0;
  const trace_observer* traced_by_ = nullptr;
};

}  // namespace heddle
