// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "testbench/advice/machine_code.h"
#include "testbench/advice/speed_of_light.h"

namespace heddle::testbench {

constexpr double warp_threads = 32;

/// What a change of the kernel takes away, as shares of what is there.
struct relief {
  std::map<std::string, double> parts;   // of the use of a part of the chip: 1, it is not used any more
  std::map<std::string, double> states;  // of the warp-cycles in a state of `warp_states`
  double lifetime = 0;                   // of all warp-cycles, beyond those of `states`
  double blocks = 1;  // so many times the blocks, or working warps, share an SM: those behind others wait as long
};

/// Lines of PTX that were compiled from one line of the source; without its name a line of the PTX.
struct place_sums {
  std::string name;   // "kernel.cu:12"
  std::string texts;  // of the lines of PTX
  double executed = 0, thread_executed = 0;
  double cycles = 0;                     // of warps whose next instruction it was
  std::map<std::string, double> memory;  // lines[].memory
  std::map<std::string, double> states;  // lines[].warp_states

  [[nodiscard]] double count(const char* name_of) const;
  [[nodiscard]] double waits(const char* state) const;
  void add(const place_sums& other);
  [[nodiscard]] bool contains(const char* text) const { return texts.find(text) != std::string::npos; }
};

/// Whether it is an atomic, with or without a result.
bool is_atomic(const place_sums& p);

/// A kernel's time after a change. The same number of warps shares the SM, so the time goes with the cycles that a warp
/// lives, but no part of the chip can do its work in less than it takes at its peak.
class time_model {
 public:
  time_model(const nlohmann::ordered_json& kernel, const machine_parameters& machine);

  /// The time now to that after the change; at least 1.
  [[nodiscard]] double speedup(const relief& r) const;
  /// How much of its time a part is used at its peak, 0 to 1: those of speed_of_light(), "L1 look-ups", "constant
  /// look-ups", and "atomics": of the slice of the L2 whose atomic unit has most to do.
  [[nodiscard]] double use_of(const std::string& part) const;
  /// Of the warp-cycles, 0 to 1.
  [[nodiscard]] double share_of(const std::string& state) const;
  /// The largest use of a part, if the time was as it is: after the change.
  [[nodiscard]] double busiest(const relief& r = {}) const;
  /// L2 cycles for which the atomics of a line occupy atomic units, all slices together.
  [[nodiscard]] double atomic_cycles(const place_sums& atomic) const;
  /// What a load takes that misses the L1 and hits the L2 of an idle chip, in core cycles.
  [[nodiscard]] double round_trip() const;
  /// The share of the waits for loads that they would take on an idle chip, from the L2.
  [[nodiscard]] double loads_alone() const;
  /// The same if there were no atomics, which keep the loads of a basic block apart. How far these overlap then is not
  /// counted: the mean of all one after another, and all at once.
  [[nodiscard]] double loads_without_atomics() const;
  /// The same of the waits for instructions: each line of the code is fetched once. Of a line that the prefetcher
  /// fetches, what the lines before it take is no wait.
  [[nodiscard]] double fetches_alone() const;
  /// How many blocks an SM holds by their registers, with so many a thread.
  [[nodiscard]] double blocks_that_fit(double registers) const;
  /// Blocks on an SM at a time, at most.
  [[nodiscard]] double resident_blocks() const;
  [[nodiscard]] double threads_of_a_block() const;
  /// A line of the PTX as places are named: "kernel.cu:12".
  [[nodiscard]] std::string place_of(unsigned line) const;
  /// Whether a line of the PTX says that it accesses local memory, or is a call's.
  [[nodiscard]] bool is_local_access(unsigned line) const;
  /// Sums of lines[].memory over all lines.
  [[nodiscard]] double moved(const char* count) const;

  const nlohmann::ordered_json& kernel;
  const machine_parameters& machine;
  std::vector<place_sums> places;
  std::vector<place_sums> lines;  // the same by line of PTX
  machine_code code;

 private:
  /// Core cycles that a warp takes to issue the instructions of each line of code, once.
  [[nodiscard]] std::vector<double> times_of_code_lines() const;
  void add_line(const nlohmann::ordered_json& line, const std::string& file, std::map<std::string, std::size_t>& known);

  std::map<unsigned, std::size_t> by_number_;  // of a line of PTX: its index in `lines`
  std::map<std::string, double> uses_;
  std::map<std::string, double> states_;
};

}  // namespace heddle::testbench
