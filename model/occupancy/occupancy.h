// SPDX-License-Identifier: MIT
#pragma once

#include <climits>
#include <cstdint>
#include <string>
#include <vector>

#include "heddle/config/parameters.h"

namespace heddle {

/// Resources that one thread block needs.
struct block_demand {
  unsigned threads = 1;
  unsigned registers_per_thread = 0;
  std::uint64_t shared_bytes = 0;  // static + dynamic
  int carveout_percent = -1;       // preferred share of the largest shared memory, 0..100; -1: the driver's choice
  unsigned barriers = 0;           // named barriers used
};

/// Number of blocks per SM that each resource alone allows; `unlimited` if the block does not use it.
struct resource_limits {
  static constexpr unsigned unlimited = UINT_MAX;
  unsigned warps = unlimited;
  unsigned blocks = unlimited;
  unsigned registers = unlimited;
  unsigned shared_memory = unlimited;
  unsigned barriers = unlimited;
  /// The smallest of them.
  [[nodiscard]] unsigned least() const;
};

/// A block's resources as the SM allocates them: its demand rounded up to allocation units.
struct block_footprint {
  unsigned threads = 0;
  unsigned warps = 0;
  unsigned registers_per_warp = 0;  // 32-bit registers of all lanes of a warp
  unsigned registers_per_block = 0;
  unsigned shared_bytes = 0;
  unsigned barriers = 0;
  unsigned carveout_bytes = 0;  // shared memory of the SM while only such blocks run
  unsigned l1_bytes = 0;        // and the L1 that remains
  resource_limits limits;
};

/// Result of the occupancy calculator.
struct occupancy_result {
  unsigned blocks_per_sm = 0;
  unsigned active_warps = 0;
  double theoretical_occupancy = 0;   // active warps / sm.max_warps
  std::vector<std::string> limiters;  // every resource whose limit is the least: warps, blocks, registers,
                                      // shared_memory, barriers
  block_footprint block;
};

/// The occupancy calculator of one GPU, the single place that decides what fits. It follows NVIDIA's calculator
/// (cuda_occupancy.h of CUDA 13.0; for compute capability 1.x and 2.x the older spreadsheet).
class occupancy_calculator {
 public:
  /// Copies what it needs from the configuration. Throws input_error if shared_memory.carveouts_kb is not a list of
  /// sizes.
  explicit occupancy_calculator(const gpu_config& config);

  /// A block that fits on no SM yields a limit of 0. Throws input_error for 0 threads or a carve-out that is not a
  /// percentage.
  [[nodiscard]] block_footprint footprint(const block_demand& demand) const;
  [[nodiscard]] occupancy_result compute(const block_demand& demand) const;
  /// L1 size of a unified cache with the given carve-out.
  [[nodiscard]] unsigned l1_bytes(unsigned carveout_bytes) const;

 private:
  [[nodiscard]] unsigned register_limit(const block_footprint& block, unsigned registers_per_thread) const;
  [[nodiscard]] unsigned register_limit_by_warp(const block_footprint& block, unsigned sub_partitions) const;
  /// The smallest carve-out with at least that many bytes, or the largest one.
  [[nodiscard]] unsigned least_carveout(std::uint64_t bytes) const;
  [[nodiscard]] unsigned carveout(int percent, std::uint64_t block_bytes) const;

  sm_parameters sm_;
  shared_memory_parameters shared_;
  unsigned l1_bytes_;
  int compute_capability_;
  std::vector<unsigned> carveouts_;
};

/// Occupancy of one block on one GPU. Throws as occupancy_calculator does.
occupancy_result compute(const gpu_config& config, const block_demand& demand);

}  // namespace heddle
