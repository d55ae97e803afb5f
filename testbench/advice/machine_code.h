// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace heddle::testbench {

/// One machine instruction of the metrics' `kernels[].code`, summed over all warps.
struct machine_step {
  unsigned line = 0;  // of the PTX
  std::string text;
  double executed = 0, lanes = 0;  // warp instructions, and their active threads
  double alone = 0;                // warp-cycles of latencies and its issue, which other warps do not change
  double queues = 0;               // warp-cycles behind other warps: for a unit or a queue
  double loads = 0;                // of `alone`, waits for loads
  double constants = 0;            // of `alone`, waits for constants
  double fixed = 0;                // of `alone`, its issue and fixed latencies
  double barriers = 0;             // of `alone`, waits for other warps of the block
  double look_ups = 0, l1_sectors = 0, l1_hits = 0, l2_sectors = 0, dram_sectors = 0;

  [[nodiscard]] double cycles() const { return alone + queues; }
  [[nodiscard]] bool is(const char* opcode) const;
};

/// Instructions that are entered at the first and left at the last one.
struct code_block {
  std::size_t first = 0, last = 0;
  std::vector<std::size_t> next;
};

/// A machine program with its counts, and what follows what. Without targets of branches (recorded programs) each
/// instruction is followed by the next one.
class machine_code {
 public:
  explicit machine_code(const nlohmann::ordered_json& kernel);

  /// Blocks that are reached from `from` before `end`, both by number; `end` itself is none of them.
  [[nodiscard]] std::set<std::size_t> reached(std::size_t from, std::size_t end) const;
  /// Where the paths from a block meet again: its immediate post-dominator; blocks.size(): at the program's end.
  [[nodiscard]] std::size_t meeting(std::size_t block) const { return meeting_.at(block); }

  std::vector<machine_step> steps;
  std::vector<code_block> blocks;

 private:
  void find_blocks();
  void find_meetings();

  std::vector<std::size_t> meeting_;
};

}  // namespace heddle::testbench
