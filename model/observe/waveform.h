// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include "heddle/gpu/gpu.h"
#include "heddle/observe/power_signals.h"
#include "heddle/observe/vcd_writer.h"
#include "heddle/tlm/kernel/unit_clock.h"

namespace heddle {

/// A waveform of a GPU while it runs: the signals of the modules in scope, sampled after each cycle in which a unit was
/// active. Its time axis counts core cycles, each shown as a nanosecond, because viewers have no cycles: 2150 ns is
/// cycle 2150 on any chip. Units in other clock domains change in between, at the corresponding fraction of a core
/// cycle.
class waveform : public cycle_observer {
 public:
  /// `path`: VCD file to write. `scope`: globs of hierarchical module names, separated by commas. Only core cycles
  /// `first` to `last` are recorded. Throws input_error if the file cannot be written or a glob matches no module.
  /// `ledger`: of the GPU's power cap, if it has one.
  waveform(gpu& g, const std::string& path, const std::string& scope, cycle_t first = 0, cycle_t last = never,
           const power_ledger* ledger = nullptr);
  ~waveform() override;

  void after_cycle() override;
  /// Completes the file. `mark`: why it does not cover a whole run. Throws input_error on a full disk.
  void close(const std::string& mark = {});

  /// The layout's view begins with this cycle, and the marker is there. Without this call, with the first issue at
  /// which the SMs in scope hold their maximum number of blocks.
  void open_at(cycle_t cycle) { open_at_ = cycle; }

  /// A file next to the waveform: name and text.
  using side_file = std::pair<std::string, std::string>;
  /// The GTKWave save file (NAME.gtkw) and the filters that show enumerations as words, for a waveform named
  /// `vcd_name`; all must be in one directory.
  [[nodiscard]] std::vector<side_file> layout(const std::string& vcd_name) const;
  /// Names of these files, without directory.
  static std::vector<std::string> layout_names(const std::string& vcd_name);

 private:
  [[nodiscard]] std::uint64_t present() const;
  [[nodiscard]] std::vector<std::string> places() const;
  void note();
  void begin_if_noted(std::uint64_t now);
  void start_if_triggered(std::uint64_t now);

  gpu& gpu_;
  vcd_writer writer_;
  std::unique_ptr<power_signals> power_;  // null without an energy account
  std::uint64_t cycle_ = 0;               // traced: the core cycle
  cycle_t first_;
  cycle_t last_;
  bool noted_ = false;  // the writer has the values with which the window begins
  // Start of the layout's view: the first issue at which the SMs in scope hold their maximum number of blocks.
  std::uint64_t start_ = 0;
  cycle_t open_at_ = never;
  std::vector<std::size_t> blocks_;  // indices of the writer's signals: blocks of an SM
  std::vector<std::size_t> issued_;  // and instructions issued by a sub-partition
  std::uint64_t most_blocks_ = 0;
  bool sampled_ = false;
  bool waits_for_issue_ = false;
};

}  // namespace heddle
