// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <systemc>
#include <vector>

#include "heddle/observe/power_probe.h"

namespace heddle {

/// Signals of a waveform: power in mW of the chip, of the SMs in scope and of their units, of the L2 slices and memory
/// channels in scope. A sample is taken in the first active cycle at or after each multiple of `window_cycles` and at
/// the end; it is the mean since the one before.
class power_signals {
 public:
  static constexpr cycle_t window_cycles = 256;

  /// Adds the signals of the GPU, and of the SMs among `modules`, to `file`.
  power_signals(const gpu& g, const power_ledger* ledger, const std::vector<const sc_core::sc_object*>& modules,
                sc_core::sc_trace_file* file);

  /// To be called after each cycle, before the signals are sampled.
  void after_cycle(cycle_t cycle);
  /// At the end: what is left of a window.
  void finish(cycle_t cycle);

 private:
  /// Power in whole mW, at most 4.29 MW. What rounding leaves over goes to the next windows, half a mW at most to each,
  /// so that a unit of less than 1 mW shows its energy, too.
  struct whole_milliwatts {
    std::uint32_t value = 0;
    double left_mj = 0;  // mJ

    void set(double watts, double seconds);
  };
  /// A signal and what it shows: the whole chip or SM, or one unit (of the chip if `sm` is none).
  struct signal {
    unsigned sm;
    energy_unit unit;  // count: all
    whole_milliwatts power{};
  };
  /// An L2 slice or a memory channel.
  struct memory_signal {
    bool slice;
    unsigned index;
    double joules = 0;  // at the last call
    whole_milliwatts power{};
  };
  static constexpr unsigned none = ~0u;
  void take(cycle_t cycle);
  void add_memory(sc_core::sc_trace_file* file, const sc_core::sc_object& module);
  void sample_memory(double seconds);
  void add(sc_core::sc_trace_file* file, const std::string& name, unsigned sm, energy_unit u);
  [[nodiscard]] double watts_of(const signal& s) const;

  const gpu& gpu_;
  energy_account energy_;
  power_probe probe_;
  cycle_t cycle_ = 0;  // of the last call
  cycle_t next_ = window_cycles;
  std::uint32_t clock_mhz_ = 0;  // traced with a power cap
  std::deque<signal> signals_;   // a deque: the waveform holds pointers to them
  std::deque<memory_signal> memory_signals_;
};

}  // namespace heddle
