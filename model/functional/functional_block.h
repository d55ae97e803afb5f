// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heddle/functional/failure_cause.h"
#include "heddle/memory/common/touched_lines.h"
#include "heddle/simt/warp/warp_state.h"
#include "heddle/sm/block_barriers.h"
#include "heddle/sm/cluster_arrivals.h"
#include "heddle/tlm/protocol/fault_details.h"

namespace heddle {

/// A warp that is executed without timing.
struct functional_warp {
  simt::warp_state state;
  bool done = false;
  bool waits = false;             // at a barrier, or all its lanes wait for each other
  bool yielded = false;           // at the instruction that is next
  std::uint32_t atomics = 0;      // executed under a watcher
  std::uint64_t products = 0;     // groups of products of a warpgroup that it has closed
  std::uint8_t* local = nullptr;  // word k of lane l at word 32 k + l
};

struct functional_block;
/// The blocks of a cluster, by rank. Those that have ended stay until all have.
struct functional_cluster {
  std::vector<functional_block*> blocks;
};

/// A block whose warps are executed without timing.
struct functional_block {
  simt::block_context context;
  std::uint64_t number = 0;
  std::uint64_t cluster_number = 0;  // without clusters its own number
  std::vector<std::uint8_t> shared;
  std::vector<functional_warp> warps;
  block_barriers barriers;
  cluster_arrivals cluster;
  const functional_cluster* siblings = nullptr;  // with itself; null: the block is its own cluster
  bool at_cluster_barrier = false;               // all its threads that are left have arrived there
  bool ended = false;                            // all its threads have exited
  std::vector<std::uint32_t> registers;          // of all warps, with padding for alignment
  std::vector<std::uint8_t> local;
  std::uint64_t executed = 0;  // warp instructions
  unsigned slot = 0;           // which of the chip's block slots it uses
  bool spun = false;           // its warps were spinning at the end of the last visit
  /// The visit ends, so that others that spin go on first.
  bool yields = false;
  touched_lines lines;  // if they are followed
};

/// Thrown to end the launch.
struct functional_failure {
  std::string text;
  fault_details details;
  failure_cause cause = {};
};

}  // namespace heddle
