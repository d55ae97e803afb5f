// SPDX-License-Identifier: MIT
// Models: the warp scheduler of a sub-partition: which warps are ready, which of those are eligible (their unit's input
//   is open), and which one the policy selects.
// Sockets: none; it is a part of the sub-partition's issue stage.
// One cycle: selects one warp among the eligible ones. Events update the bit masks of ready warps; slots are not
// scanned.
// Parameters: sub_partition.scheduler. Source: docs/scheduling.md; the policies name their papers.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <systemc>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/isa/opcode.h"
#include "heddle/sub_partition/account/stall_account.h"
#include "heddle/sub_partition/issue/issue_gate.h"
#include "heddle/sub_partition/policies/scheduling_policy.h"
#include "heddle/tlm/kernel/prefetch.h"
#include "heddle/tlm/kernel/trace_hook.h"

namespace heddle {

class warp_scheduler : public sc_core::sc_module {
 public:
  warp_scheduler(sc_core::sc_module_name name, const sub_partition_parameters& parameters, const policy_place& place);

  /// The gate of a unit. Const for observers: updating a gate's sums does not change its state.
  issue_gate& gate(isa::unit u) const {
    const unsigned n = static_cast<unsigned>(u);
    if (__builtin_expect((gates_in_use_ >> n & 1) == 0, 0)) {
      gates_in_use_ |= 1u << n;
      gates_[n].stall(stalled_from_, stalled_until_);
    }
    return gates_[n];
  }

  /// From `cycle` on, the warp's next instruction needs only its unit.
  void add_ready(unsigned slot, isa::unit u, cycle_t cycle) {
    ready_[static_cast<unsigned>(u)] |= std::uint64_t{1} << slot;
    ready_units_ |= 1u << static_cast<unsigned>(u);
    all_ready_ |= std::uint64_t{1} << slot;
    waiting_ &= ~(std::uint64_t{1} << slot);
    since_[slot] = {cycle, gate(u).until(cycle)};
  }
  /// Removes a ready warp that issues in `cycle` or is stopped. Returns since when it was ready, and for how many
  /// cycles its gate was closed, by reason.
  ready_wait remove_ready(unsigned slot, isa::unit u, cycle_t cycle) {
    if ((ready_[static_cast<unsigned>(u)] &= ~(std::uint64_t{1} << slot)) == 0)
      ready_units_ &= ~(1u << static_cast<unsigned>(u));
    all_ready_ &= ~(std::uint64_t{1} << slot);
    const auto closed = gates_[static_cast<unsigned>(u)].until(cycle);
    const auto& s = since_[slot];
    return {s.cycle, closed.busy - s.closed.busy, closed.stalled - s.closed.stalled,
            closed.throttled - s.closed.throttled};
  }

  /// Nothing issues in [cycle, until).
  void stall(cycle_t cycle, cycle_t until) {
    stalled_from_ = cycle;
    stalled_until_ = until;
    for (unsigned rest = gates_in_use_; rest != 0; rest &= rest - 1)
      gates_[static_cast<unsigned>(__builtin_ctz(rest))].stall(cycle, until);
  }

  /// Ready warps whose unit is open in `cycle`.
  std::uint64_t eligible(cycle_t cycle) const {
    std::uint64_t e = 0;
    for (unsigned rest = ready_units_; rest != 0; rest &= rest - 1) {
      const unsigned u = static_cast<unsigned>(__builtin_ctz(rest));
      if (gates_[u].open(cycle)) e |= ready_[u];
    }
    return e;
  }
  /// First cycle from `cycle` on in which a ready warp can be eligible; `never` if there is none.
  cycle_t next_eligible(cycle_t cycle) const {
    cycle_t best = never;
    for (unsigned rest = ready_units_; rest != 0; rest &= rest - 1)
      best = std::min(best, gates_[static_cast<unsigned>(__builtin_ctz(rest))].opens_at());
    return best == never ? never : std::max(best, cycle);
  }
  unsigned select(std::uint64_t eligible, cycle_t cycle) { return policy_->select({eligible, waiting_, cycle}); }
  scheduling_policy& policy() { return *policy_; }
  /// Replaces the policy by one that has no name in the configuration. Call before the first warp is placed.
  void use(std::unique_ptr<scheduling_policy> policy);
  std::uint64_t ready() const { return all_ready_; }
  std::uint64_t ready(isa::unit u) const { return ready_[static_cast<unsigned>(u)]; }
  /// The warp will not be ready soon; it counts as waiting until add_ready().
  void set_waiting(unsigned slot) { waiting_ |= std::uint64_t{1} << slot; }
  std::uint64_t waiting() const { return waiting_; }
  /// A warp was placed in a slot, or left it.
  void placed(unsigned slot, cycle_t cycle) {
    waiting_ &= ~(std::uint64_t{1} << slot);
    policy_->placed(slot, cycle);
  }
  void removed(unsigned slot) {
    waiting_ &= ~(std::uint64_t{1} << slot);
    policy_->removed(slot);
  }
  bool holds_memory() const { return holds_memory_; }
  /// Masks of warp slots in this cycle; updated only while traced.
  struct levels {
    std::uint64_t ready = 0;
    std::uint64_t eligible = 0;
    std::uint64_t selected = 0;
  };
  mutable levels shown;
  trace_hook on_trace;
  void trace(sc_core::sc_trace_file* file) const override;
  void prepare() const {
    host_prefetch(&ready_,
                  reinterpret_cast<const char*>(&gates_) - reinterpret_cast<const char*>(&ready_) + sizeof gates_);
  }

 private:
  static constexpr unsigned units = static_cast<unsigned>(isa::unit::count);
  struct mark {
    cycle_t cycle = 0;
    issue_gate::closed_cycles closed;
  };
  alignas(64) std::array<std::uint64_t, units> ready_{};
  std::uint64_t all_ready_ = 0;
  unsigned ready_units_ = 0;   // bit per unit for which a warp is ready
  std::uint64_t waiting_ = 0;  // cannot issue soon: global memory, barriers, fences, sleep
  std::unique_ptr<scheduling_policy> policy_;
  std::vector<mark> since_;
  bool holds_memory_;
  mutable std::array<issue_gate, units> gates_;
  mutable unsigned gates_in_use_ = 0;  // bit per unit; gates not in use have not received the last stall
  cycle_t stalled_from_ = 0;
  cycle_t stalled_until_ = 0;
};

}  // namespace heddle
