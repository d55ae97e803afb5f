// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/metrics/run_metrics.h"

namespace heddle {

class energy_account;
class gpu;
class power_ledger;
class program_texts;

/// Progress of one launch.
struct grid_progress {
  std::uint32_t launch = 0;  // the driver's number
  std::uint64_t blocks = 0;
  std::uint64_t dispatched = 0;
  std::uint64_t completed = 0;
  std::uint64_t start_cycle = 0;        // of the launch's first block
  std::uint64_t block_cycles = 0;       // SM cycles of its completed blocks
  std::uint64_t warp_instructions = 0;  // executed
  bool finished = false;
};

/// Progress of a run, for a display. Cheap enough to be read many times a second.
struct run_progress {
  std::uint64_t blocks_done = 0;
  std::uint64_t blocks_launched = 0;    // of all grids whose doorbell has been rung
  std::uint64_t warp_instructions = 0;  // executed
  std::vector<grid_progress> grids;     // by the driver's number
};

/// How much metrics tell of a kernel's program: nothing, its counts by PTX line alone, or by instruction as well.
enum class detail : std::uint8_t { none, lines, instructions };

/// Collects all metrics but `host` from the units' counters. `launch` of a kernel is the driver's number. May be called
/// between any two simulated instants, also after a fault: counts are then up to that point. `energy`: of this GPU.
run_metrics collect(const gpu& g, energy_account& energy, detail how_much = detail::lines);
/// The same with an account of its own. `ledger`: of the GPU's power cap, if it has one.
run_metrics collect(const gpu& g, const power_ledger* ledger = nullptr, detail how_much = detail::lines);

/// Adds to a kernel of these metrics what collect() leaves out with detail::none. `texts`: of the programs of kernels
/// that were filled in before.
void fill_details(kernel_metrics& k, const gpu& g, energy_account& energy, detail how_much, program_texts& texts);

run_progress progress_of(const gpu& g);

}  // namespace heddle
