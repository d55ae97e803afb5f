// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <systemc>
#include <vector>

#include "heddle/observe/power_probe.h"

namespace heddle {

/// Signals of a waveform: power in mW of the chip, of the SMs in scope and of their units, each the mean of the last
/// whole window of `window_cycles`.
class power_signals {
 public:
  static constexpr cycle_t window_cycles = 256;

  /// Adds the signals of the GPU, and of the SMs among `modules`, to `file`.
  power_signals(const gpu& g, const std::vector<const sc_core::sc_object*>& modules, sc_core::sc_trace_file* file);

  /// To be called after each cycle, before the signals are sampled.
  void after_cycle(cycle_t cycle);

 private:
  /// A signal and what it shows: the whole chip or SM, or one unit (of the chip if `sm` is none).
  struct signal {
    unsigned sm;
    energy_unit unit;  // count: all
    std::uint32_t milliwatts = 0;
  };
  static constexpr unsigned none = ~0u;
  void add(sc_core::sc_trace_file* file, const std::string& name, unsigned sm, energy_unit u);
  [[nodiscard]] double watts_of(const signal& s) const;

  power_probe probe_;
  cycle_t next_ = window_cycles;
  std::deque<signal> signals_;  // a deque: the waveform holds pointers to them
};

}  // namespace heddle
