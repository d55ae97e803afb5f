// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include "heddle/gpu/gpu.h"
#include "heddle/observe/vcd_writer.h"
#include "heddle/tlm/kernel/clock_domain.h"

namespace heddle {

/// A waveform of a GPU while it runs: the levels of the modules in scope, sampled after each cycle in which a unit
/// worked. Its time axis counts core cycles, each as long as a nanosecond: viewers know no cycles, and 2150 ns is cycle
/// 2150 on any chip. Units of other clocks change in between, as far behind the core clock's edge as they are.
class waveform : public cycle_observer {
 public:
  /// `path`: VCD file to write. `scope`: globs of hierarchical module names, separated by commas. Only core cycles
  /// `first` to `last` are recorded. Throws input_error: the file cannot be written, a glob fits no module.
  waveform(gpu& g, const std::string& path, const std::string& scope, cycle_t first = 0, cycle_t last = never);
  ~waveform() override;

  void after_cycle() override;
  /// Completes the file; `mark`: why it is not that of a whole run. Throws input_error on a full disk.
  void close(const std::string& mark = {});

  /// A file beside the waveform: name and text.
  using side_file = std::pair<std::string, std::string>;
  /// The GTKWave save file (NAME.gtkw) and the filters that show enumerations as words, for a waveform that will be
  /// called `vcd_name`, all to lie in one directory.
  std::vector<side_file> layout(const std::string& vcd_name) const;
  /// Names of these files without their directory.
  static std::vector<std::string> layout_names(const std::string& vcd_name);

 private:
  std::uint64_t present() const;
  void look_for_start(std::uint64_t now);

  gpu& gpu_;
  vcd_writer writer_;
  std::uint64_t cycle_ = 0;  // traced: the core cycle
  cycle_t first_;
  cycle_t last_;
  // Where the layout begins: with the first instruction that issues when the SMs in scope hold as many blocks as ever.
  std::uint64_t start_ = 0;
  std::vector<std::size_t> blocks_;  // signals of the writer: how many an SM holds
  std::vector<std::size_t> issued_;  // and how many instructions a sub-partition issues
  std::uint64_t most_blocks_ = 0;
  bool sampled_ = false;
  bool waits_for_issue_ = false;
};

}  // namespace heddle
