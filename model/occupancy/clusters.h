// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/config/parameters.h"

namespace heddle {

/// What a launch says of its thread block clusters.
struct cluster_request {
  std::uint32_t blocks[3] = {0, 0, 0};  // of a cluster in x y z; 0: not given
  bool non_portable = false;            // more blocks than every chip with clusters allows
  [[nodiscard]] bool given() const { return blocks[0] != 0; }
};

/// Blocks of a cluster that every chip with clusters allows (CUDA C++ Programming Guide, thread block clusters).
constexpr unsigned portable_cluster_blocks = 8;

/// The SMs on which a process may have blocks.
struct sm_share {
  std::uint32_t sms = 0;        // at most so many at once; 0: all
  std::uint32_t partition = 0;  // of a divided GPU, from 1 on; 0: SMs of none
};

/// How many SMs that are at once.
[[nodiscard]] unsigned sms_of(const gpu_config& config, const sm_share& share);

/// How many clusters can be resident at one time, as CUDA's cudaOccupancyMaxActiveClusters answers: the blocks of a
/// cluster lie in one GPC, and several may share an SM. `blocks_per_sm`: blocks that fit on an empty SM.
[[nodiscard]] std::uint64_t max_active_clusters(const gpu_config& config, unsigned blocks_per_sm,
                                                std::uint64_t cluster_blocks, const sm_share& share = {});

}  // namespace heddle
