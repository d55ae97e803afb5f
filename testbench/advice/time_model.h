// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "testbench/advice/speed_of_light.h"

namespace heddle::testbench {

/// What a change of the kernel takes away, as shares of what is there.
struct relief {
  std::map<std::string, double> parts;   // of the use of a part of the chip: 1, it is not used any more
  std::map<std::string, double> states;  // of the warp-cycles in a state of `warp_states`
  double lifetime = 0;                   // of all warp-cycles, beyond those of `states`
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
/// How many addresses the lanes of a warp change at most, by the sectors that they touch.
double most_addresses(const place_sums& p);
/// Whether several lanes change one address.
bool share_addresses(const place_sums& atomic);

/// A kernel's time after a change. The same number of warps shares the SM, so the time goes with the cycles that a warp
/// lives, but no part of the chip can do its work in less than it takes at its peak.
class time_model {
 public:
  time_model(const nlohmann::ordered_json& kernel, const machine_parameters& machine);

  /// The time now to that after the change; at least 1.
  [[nodiscard]] double speedup(const relief& r) const;
  /// How much of its time a part is used at its peak, 0 to 1: those of speed_of_light(), "L1 look-ups", "constant
  /// look-ups", and "atomics": of lanes that change one address, one after another, in one slice of the L2.
  [[nodiscard]] double use_of(const std::string& part) const;
  /// Of the warp-cycles, 0 to 1.
  [[nodiscard]] double share_of(const std::string& state) const;
  /// The largest use of a part.
  [[nodiscard]] double busiest() const;
  /// For so many core cycles the atomics occupy a slice, if all their lanes change one address, which at least some do.
  [[nodiscard]] double atomic_cycles(const place_sums& atomic) const;
  [[nodiscard]] double all_atomic_cycles() const;
  /// Sums of lines[].memory over all lines.
  [[nodiscard]] double moved(const char* count) const;

  const nlohmann::ordered_json& kernel;
  const machine_parameters& machine;
  std::vector<place_sums> places;
  std::vector<place_sums> lines;  // the same by line of PTX

 private:
  void add_line(const nlohmann::ordered_json& line, const std::string& file, std::map<std::string, std::size_t>& known);

  std::map<std::string, double> uses_;
  std::map<std::string, double> states_;
};

}  // namespace heddle::testbench
