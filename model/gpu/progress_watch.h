// SPDX-License-Identifier: MIT
// Models: nothing of the chip: it looks whether the simulated programs can still come to an end.
// Sockets: none; it reads the units' states and counters between two cycles.
// One cycle: nothing, until no block has begun or ended for gpu.watchdog_cycles; then samples of the warps' states,
// some hundred
//   cycles apart.
// Parameters: gpu.watchdog_cycles. Source: docs/preemption.md.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <systemc>
#include <vector>

#include "heddle/gpu/cwd/grid_distributor.h"
#include "heddle/memory/l2/l2_slice.h"
#include "heddle/sm/sm.h"
#include "heddle/tlm/kernel/clock_domain.h"

namespace heddle {

/// Programs are deterministic: while memory keeps its values, a warp that is back in a state that it has been in goes
/// round for ever. When all running warps do, or wait at barriers, nothing will ever change again, and `on_end` is told
/// who waits for what.
class progress_watch : public cycle_observer {
 public:
  /// All outlive the watch. Slices whose changes cannot be counted, and memory that others write, must not be watched.
  progress_watch(clock_domain& clock, const gpu_config& config, const grid_distributor& cwd,
                 sc_core::sc_vector<sm>& sms, sc_core::sc_vector<l2_cache>& slices,
                 std::function<void(const std::string&)> on_end);

  void after_cycle() override;
  cycle_t next_sample() const override { return next_; }
  /// The host will do something by itself in cycle `cycle`, or before.
  void host_acts_until(cycle_t cycle) { host_acts_ = cycle; }

 private:
  // A warp's states in the samples of one window.
  struct history {
    std::vector<std::uint64_t> states;
    cycle_t settled = 0;    // sub_partition::settled_at, when last looked at
    bool returned = false;  // it has gone on since it was in a state, and is in it again
    bool waits = false;     // at a barrier, when last looked at
  };
  enum class verdict { changes, open, ended };

  std::uint64_t blocks_moved() const;
  std::uint64_t memory_changes() const;
  void begin_window(cycle_t cycle);
  verdict sample();
  bool note(history& h, std::uint64_t state, cycle_t settled, bool waits);
  std::string report(cycle_t cycle) const;

  clock_domain& clock_;
  const grid_distributor& cwd_;
  sc_core::sc_vector<sm>& sms_;
  sc_core::sc_vector<l2_cache>& slices_;
  const std::function<void(const std::string&)> on_end_;
  const cycle_t patience_;
  std::vector<history> warps_;  // by SM, partition and slot
  cycle_t next_;
  cycle_t host_acts_ = 0;
  cycle_t unchanged_since_ = 0;
  std::uint64_t moved_ = 0;  // at the beginning of the window
  std::uint64_t changes_ = 0;
  unsigned samples_ = 0;
  unsigned busy_ = 0;  // cycles in which something happens, still to pass
};

}  // namespace heddle
