// SPDX-License-Identifier: MIT
#pragma once

#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/metrics/memory_metrics.h"
#include "heddle/sub_partition/account/warp_state.h"
#include "testbench/advice/machine_code.h"
#include "testbench/advice/speed_of_light.h"

namespace heddle::testbench {

constexpr double warp_threads = 32;
constexpr double fully_busy = 0.8;  // few parts are used more than this

/// Numbers by state of warps, in the order of the states' names: sums do not depend on the order of their table.
struct before_by_name {
  bool operator()(warp_stall a, warp_stall b) const { return std::string_view(name_of(a)) < name_of(b); }
};
using by_stall = std::map<warp_stall, double, before_by_name>;

/// What a change of the kernel takes away, as shares of what is there.
struct relief {
  std::map<std::string, double> parts;  // of the use of a part of the chip: 1, it is not used any more
  by_stall states;                      // of the warp-cycles in a state
  double lifetime = 0;                  // of all warp-cycles, beyond those of `states`
  double blocks = 1;  // so many times the blocks, or working warps, share an SM: those behind others wait as long
  double end = 0;     // of the kernel's time: what is done after the warps of the last wave
  double rest = 0;    // of the time beyond a mean warp's life, in which the longest warps are left
};

/// Lines of PTX that were compiled from one line of the source; without its name a line of the PTX.
struct place_sums {
  std::string name;   // "kernel.cu:12"
  std::string texts;  // of the lines of PTX
  double executed = 0, thread_executed = 0;
  double cycles = 0;                     // of warps whose next instruction it was
  double accesses = 0;                   // instructions that accessed memory
  std::map<std::string, double> memory;  // lines[].memory
  by_stall states;                       // lines[].warp_states

  [[nodiscard]] double count(line_count c) const;
  [[nodiscard]] double waits(warp_stall s) const;
  void add(const place_sums& other);
  [[nodiscard]] bool contains(const char* text) const { return texts.find(text) != std::string::npos; }
};

/// Whether it is an atomic, with or without a result.
bool is_atomic(const place_sums& p);

/// A kernel's time after a change. The same number of warps shares the SM, so the time goes with the cycles that a warp
/// lives, but no part of the chip can do its work in less than it takes at its peak. Where warps end one after another
/// behind a busy part, that time goes with the part's work instead. Blocks start no
/// sooner than now, and the last store takes as long.
class time_model {
 public:
  time_model(const nlohmann::ordered_json& kernel, const machine_parameters& machine);

  /// The time now to that after the change; at least 1.
  [[nodiscard]] double speedup(const relief& r) const;
  /// How much of its time a part is used at its peak, 0 to 1: those of speed_of_light(), "L1 look-ups", "constant
  /// look-ups", "DRAM rows": of the rows that its channels could open, and "atomics": of the slice of the L2 that has
  /// most of them.
  [[nodiscard]] double use_of(const std::string& part) const;
  /// What remains of it, if the time was as it is. Of the DRAM's rows goes what goes of its data, unless the change
  /// says otherwise.
  [[nodiscard]] double left_of(const std::string& part, const relief& r) const;
  /// Of the warp-cycles, 0 to 1.
  [[nodiscard]] double share_of(warp_stall state) const;
  /// The largest use of a part, if the time was as it is: after the change.
  [[nodiscard]] double busiest(const relief& r = {}) const;
  /// L2 cycles for which the atomics of a line occupy slices, all of these together: their atomic units, or arrays.
  [[nodiscard]] double atomic_cycles(const place_sums& atomic) const;
  /// What a load takes that misses the L1 and hits the L2 of an idle chip, in core cycles.
  [[nodiscard]] double round_trip() const;
  /// The same of one that misses the L2, or of a share of them.
  [[nodiscard]] double round_trip(double dram_share) const;
  /// What a load takes on an idle chip, from where its sectors come: an access waits for the farthest. Once they are
  /// coalesced there are few accesses with sectors from afar.
  [[nodiscard]] double latency_of(const machine_step& load, bool coalesced = false) const;
  /// The share of the waits for loads that they would take on an idle chip, from where they come now. What is loaded
  /// before another's value is needed comes meanwhile.
  [[nodiscard]] double loads_alone(bool coalesced = false) const;
  /// The same if there were none of these instructions (atomics, stores), which keep the
  /// loads of a basic block or loop apart: loads that need no other's value overlap then.
  [[nodiscard]] double loads_without(std::initializer_list<const char*> opcodes, bool coalesced = false) const;
  /// The same of the waits for constants: each that is no hit takes the latency of a miss.
  [[nodiscard]] double constants_alone() const;
  /// The same of the waits for instructions: each line of the code is fetched once. Of a line that the prefetcher
  /// fetches, what the lines before it take is no wait.
  [[nodiscard]] double fetches_alone() const;
  /// How many blocks an SM holds by their registers, with so many a thread.
  [[nodiscard]] double blocks_that_fit(double registers) const;
  /// Blocks on an SM at a time, at most.
  [[nodiscard]] double resident_blocks() const;
  [[nodiscard]] double threads_of_a_block() const;
  /// Between the starts of the first and the last block of the first wave, as a part of the kernel's time.
  [[nodiscard]] double time_of_starts() const;
  /// Of a line of the PTX, in `lines`; lines.size(): none.
  [[nodiscard]] std::size_t index_of(unsigned line) const;
  /// A line of the PTX as places are named: "kernel.cu:12".
  [[nodiscard]] std::string place_of(unsigned line) const;
  /// Whether a line of the PTX says that it accesses local memory, or is a call's.
  [[nodiscard]] bool is_local_access(unsigned line) const;
  /// Whether all warps have the same work: each instruction is executed as often by all, and no loop's count depends on
  /// the thread, the block or data.
  [[nodiscard]] bool has_equal_warps() const;
  /// The same of blocks, whose warps may have unlike work, but for instructions of little time.
  [[nodiscard]] bool has_equal_blocks() const;
  /// Whether a hundredth of the warps, or more, execute some instruction less often than others.
  [[nodiscard]] bool warps_differ() const;
  /// Sums of lines[].memory over all lines.
  [[nodiscard]] double moved(line_count c) const;

  const nlohmann::ordered_json& kernel;
  const machine_parameters& machine;
  std::vector<place_sums> places;
  std::vector<place_sums> lines;  // the same by line of PTX
  machine_code code;

 private:
  /// Basic blocks, but those of an innermost loop with such an instruction are one.
  [[nodiscard]] std::vector<code_block> blocks_without(std::initializer_list<const char*> opcodes) const;
  /// Warp-cycles of waits for loads in a basic block on an idle chip, as they are, or if those that need no other's
  /// value overlap.
  [[nodiscard]] double loads_alone(const code_block& block, bool overlap, bool coalesced) const;
  /// Whether a hundredth of so many warps or blocks, or more, execute some instruction less often than others.
  [[nodiscard]] bool differ(double number) const;
  /// Core cycles that a warp takes to issue the instructions of each line of code, once.
  [[nodiscard]] std::vector<double> times_of_code_lines() const;
  void add_line(const nlohmann::ordered_json& line, const std::string& file, std::map<std::string, std::size_t>& known);

  std::map<unsigned, std::size_t> by_number_;  // of a line of PTX: its index in `lines`
  std::map<std::string, double> uses_;
  by_stall states_;
  double ends_ = 0;     // of the kernel's time: until its first blocks have started, and for the last stores
  double in_life_ = 1;  // of the kernel's time: of a warp that lives as long as the mean, one in each wave
};

}  // namespace heddle::testbench
