// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/isa/program.h"
#include "heddle/occupancy/clusters.h"
#include "heddle/occupancy/occupancy.h"
#include "heddle/tlm/protocol/cta_protocol.h"

namespace heddle {

/// The blocks of a launch and of its clusters, in x y z.
struct launch_shape {
  std::uint64_t grid[3] = {1, 1, 1};
  std::uint32_t cluster[3] = {1, 1, 1};
  bool explicit_cluster = false;  // the launch or the kernel gave the cluster's size
  [[nodiscard]] std::uint64_t cluster_blocks() const { return std::uint64_t{cluster[0]} * cluster[1] * cluster[2]; }
};

/// The shape of a launch: its clusters are those of the request, or what the kernel requires; the grid of a kernel with
/// .blocksareclusters counts clusters. Throws input_error if request and kernel disagree.
launch_shape shape_of(const isa::program& program, const std::uint32_t grid[3], const cluster_request& request);

/// What a block of this kernel asks of an SM.
block_demand demand_of(const isa::program& program, unsigned threads, std::uint64_t dynamic_shared_bytes,
                       int carveout_percent);

/// Throws input_error, naming the limiting resource, for a launch that can never run on the GPU: a dimension of 0, too
/// many threads, .reqntid or .maxntid violated, a block that fits no SM; clusters on a chip without
/// them, of too many blocks, that do not divide the grid or fit no GPC, or not the SMs of `share`.
void check_launch(const gpu_config& config, const isa::program& program, const std::uint32_t grid[3],
                  const std::uint32_t block[3], std::uint32_t dynamic_shared_bytes, int carveout_percent,
                  const cluster_request& cluster = {}, const sm_share& share = {});

/// Throws input_error for a preemption mode that the GPU does not support, and for an SM that does not exist.
void check_preemption(const gpu_config& config, const std::vector<unsigned>& sms, preemption_mode mode);

/// The message that refuses mode flush for a kernel, with the reason `why`.
std::string flush_refusal(const std::string& kernel, const std::string& why);

}  // namespace heddle
