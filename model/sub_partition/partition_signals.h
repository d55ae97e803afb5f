// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "heddle/isa/opcode.h"
#include "heddle/simt/warp/warp_state.h"
#include "heddle/sub_partition/account/issue_counters.h"
#include "heddle/sub_partition/issue/issue_gate.h"
#include "heddle/tlm/kernel/clock_domain.h"

namespace heddle {

struct decoded_program;
class sub_partition;

/// What a sub-partition does in each cycle, for waveforms and pipeline views. A sub-partition keeps times and counts
/// what lay between them, so that it need not work each cycle; what a warp does *in* a cycle is worked out here, for
/// those whom somebody looks at. Sums over the cycles are the sub-partition's counters. Looking changes nothing.
class partition_signals : public cycle_observer {
 public:
  /// Of one warp slot: 0 nothing, else 1 + its warp_stall.
  using state = std::uint8_t;
  static constexpr state no_warp = 0;
  static constexpr state state_of(warp_stall s) { return static_cast<state>(1 + static_cast<unsigned>(s)); }
  /// Word for a state, as in the metrics' `warp_states`; "empty" without a warp.
  static const char* name_of(state s);
  static constexpr unsigned state_count = 1 + static_cast<unsigned>(warp_stall::count);

  /// One of the two instructions that can issue in a cycle.
  struct issue_slot {
    std::uint32_t pc = 0;        // of the last one, as the warp
    unsigned warp = 0;           // warp id
    std::uint32_t lanes = 0;     // active ones
    std::uint8_t operation = 0;  // in this cycle: 0 none, else 1 + its op_class
  };

  partition_signals(const sub_partition& partition, clock_domain& clock);
  partition_signals(const partition_signals&) = delete;
  partition_signals& operator=(const partition_signals&) = delete;
  ~partition_signals() override;

  /// Somebody looks in cycles `first` to `last`, both included; without it, in none. Of several, the span that holds
  /// all.
  void only_in(cycle_t first, cycle_t last);
  void after_cycle() override;

  /// The warp in a slot that holds one, and the instruction that it is to issue.
  struct warp_place {
    const decoded_program* program;
    const simt::block_context* block;
    unsigned warp_in_block;
    std::uint32_t pc;
    bool recorded;  // a trace's
  };
  warp_place at(unsigned slot) const;

  unsigned issued = 0;     // instructions issued in this cycle
  bool replaying = false;  // a replay takes the issue slot
  std::array<issue_slot, 2> slots;
  std::vector<state> states;  // by warp slot

 private:
  state state_in(unsigned slot, cycle_t cycle);
  state ready_state(unsigned slot) const;
  void show_issue(cycle_t cycle);
  void show_warps(cycle_t cycle);
  void show_units(cycle_t cycle);
  void sample_again_at(cycle_t cycle) {
    if (cycle < next_) next_ = cycle;
  }
  issue_gate::closure closure_in(isa::unit u, cycle_t cycle);

  static constexpr unsigned units = static_cast<unsigned>(isa::unit::count);
  // How the input of a unit stands: what it had counted behind the last cycle looked at, and what it was going to be
  // from then on.
  struct gate_record {
    issue_gate::closed_cycles counted;
    issue_gate::closure coming = issue_gate::closure::open;
    issue_gate::closure now = issue_gate::closure::open;
    cycle_t counted_to = 0;
  };

  const sub_partition& partition_;
  clock_domain& clock_;
  std::array<gate_record, units> gates_;
  cycle_t first_ = never;  // somebody looks from here
  cycle_t last_ = 0;       // to here
  cycle_t next_ = never;   // something changes then by time alone
};

}  // namespace heddle
