// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "heddle/isa/opcode.h"
#include "heddle/simt/warp/warp_state.h"
#include "heddle/sub_partition/account/issue_counters.h"
#include "heddle/sub_partition/issue/issue_gate.h"
#include "heddle/sub_partition/sampled_partition.h"
#include "heddle/tlm/kernel/unit_clock.h"

namespace heddle {

struct decoded_program;

/// Signals of a sub-partition in each cycle, for waveforms and pipeline views. The sub-partition is event-driven: it
/// stores times and accounts the cycles between them later. This class derives the state of each warp in the current
/// cycle, for observed sub-partitions only. Summed over the cycles, the signals equal the sub-partition's counters.
/// Sampling has no effect on the simulation.
class partition_signals : public cycle_observer {
 public:
  /// State of one warp slot: 0 if empty, otherwise 1 + its warp_stall.
  using state = std::uint8_t;
  static constexpr state no_warp = 0;
  static constexpr state state_of(warp_stall s) { return static_cast<state>(1 + static_cast<unsigned>(s)); }
  /// Name of a state, as in the metrics' `warp_states`; "empty" without a warp.
  static const char* name_of(state s);
  static constexpr unsigned state_count = 1 + static_cast<unsigned>(warp_stall::count);

  /// One of the two instructions that can issue in a cycle.
  struct issue_slot {
    std::uint32_t pc = 0;        // of the last instruction; `warp` and `lanes` likewise
    unsigned warp = 0;           // warp id
    std::uint32_t lanes = 0;     // active lanes
    std::uint8_t operation = 0;  // in this cycle: 0 none, else 1 + its op_class
  };

  partition_signals(const sampled_partition& partition, unit_clock& clock);
  partition_signals(const partition_signals&) = delete;
  partition_signals& operator=(const partition_signals&) = delete;
  ~partition_signals() override;

  /// Sampling is needed in cycles [first, last]; without this call, in none. After several calls it covers the smallest
  /// range that contains all of them.
  void only_in(cycle_t first, cycle_t last);
  void after_cycle() override;

  /// The warp in an occupied slot, and its next instruction.
  struct warp_place {
    const decoded_program* program;
    const simt::block_context* block;
    unsigned warp_in_block;
    std::uint32_t pc;
    bool recorded;  // driven by a trace
  };
  [[nodiscard]] warp_place at(unsigned slot) const;

  unsigned issued = 0;     // instructions issued in this cycle
  bool replaying = false;  // a replay takes the issue slot
  std::array<issue_slot, 2> slots;
  std::vector<state> states;  // by warp slot

 private:
  state state_in(unsigned slot, cycle_t cycle);
  void show_issue(cycle_t cycle);
  void show_warps(cycle_t cycle);
  void show_units(cycle_t cycle);
  void sample_again_at(cycle_t cycle) {
    if (cycle < next_) next_ = cycle;
  }
  issue_gate::closure closure_in(isa::unit u, cycle_t cycle);

  static constexpr unsigned units = static_cast<unsigned>(isa::unit::count);
  // State of a unit's input: its counts after the last sampled cycle, and the state expected from then on.
  struct gate_record {
    issue_gate::closed_cycles counted;
    issue_gate::closure coming = issue_gate::closure::open;
    issue_gate::closure now = issue_gate::closure::open;
    cycle_t counted_to = 0;
  };

  const sampled_partition partition_;
  unit_clock& clock_;
  std::array<gate_record, units> gates_;
  cycle_t first_ = never;  // first observed cycle
  cycle_t last_ = 0;       // last observed cycle
  cycle_t next_ = never;   // next cycle in which a signal changes by time alone
  bool sampled_ = false;   // after the last cycle in which a unit worked
};

}  // namespace heddle
