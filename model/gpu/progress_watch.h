// SPDX-License-Identifier: MIT
// Models: no hardware; detects simulated programs that can never end.
// Sockets: none; it reads the units' states and counters between two cycles.
// One cycle: nothing until no block has begun or ended for gpu.watchdog_cycles; then it samples the states of all
//   warps, some hundred cycles apart.
// Parameters: gpu.watchdog_cycles. Source: docs/model/preemption.md.
#pragma once

#include <cstdint>
#include <string>
#include <systemc>
#include <vector>

#include "heddle/gpu/cwd/grid_distributor.h"
#include "heddle/memory/l2/l2_slice.h"
#include "heddle/sm/sm.h"
#include "heddle/tlm/kernel/clock_domain.h"

namespace heddle {

/// Programs are deterministic: while memory keeps its values, a warp that returns to an earlier state repeats itself
/// without end. When every running warp repeats itself or waits at a barrier, nothing will ever change: a fault of the
/// program, reported to `observer` with a description of what each warp waits for.
class progress_watch : public cycle_observer {
 public:
  /// All arguments must outlive the watch. It must not watch slices that do not count changes, or memory that other
  /// agents write.
  progress_watch(clock_domain& clock, const gpu_config& config, const grid_distributor& cwd,
                 sc_core::sc_vector<sm>& sms, sc_core::sc_vector<l2_cache>& slices, grid_observer& observer);

  void after_cycle() override;
  [[nodiscard]] cycle_t next_sample() const override { return next_; }
  /// The host will act by cycle `cycle`.
  void host_acts_until(cycle_t cycle) { host_acts_ = cycle; }
  /// Between launches.
  void exchange(state_image& image);
  /// For a reset: as constructed.
  void restart() {
    samples_ = busy_ = 0;
    host_acts_ = 0;
    next_ = clock_.cycle() + patience_;
  }

 private:
  // A warp's states in the samples of one window.
  struct history {
    std::vector<std::uint64_t> states;
    cycle_t settled = 0;    // sub_partition::settled_at at the last sample
    bool returned = false;  // it has issued since it was in an earlier state, and is in that state again
    bool waits = false;     // was at a barrier at the last sample

    void exchange(state_image& image) { image(states, settled, returned, waits); }
  };
  enum class verdict { changes, open, ended };

  [[nodiscard]] std::uint64_t blocks_moved() const;
  [[nodiscard]] std::uint64_t memory_changes() const;
  void begin_window(cycle_t cycle);
  verdict sample();
  bool note(history& h, std::uint64_t state, cycle_t settled, bool waits);
  [[nodiscard]] std::string report(cycle_t cycle) const;

  clock_domain& clock_;
  const grid_distributor& cwd_;
  sc_core::sc_vector<sm>& sms_;
  sc_core::sc_vector<l2_cache>& slices_;
  grid_observer& observer_;
  const cycle_t patience_;
  std::vector<history> warps_;  // by SM, partition and slot
  cycle_t next_;
  cycle_t host_acts_ = 0;
  cycle_t unchanged_since_ = 0;
  std::uint64_t moved_ = 0;  // at the start of the window
  std::uint64_t changes_ = 0;
  unsigned samples_ = 0;
  unsigned busy_ = 0;  // active cycles to skip before the next sample
};

}  // namespace heddle
