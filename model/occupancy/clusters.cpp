// SPDX-License-Identifier: MIT
#include "heddle/occupancy/clusters.h"

#include <vector>

#include "heddle/config/sm_places.h"

namespace heddle {

std::uint64_t max_active_clusters(const gpu_config& config, unsigned blocks_per_sm, std::uint64_t cluster_blocks) {
  std::vector<std::uint64_t> blocks(config.gpu.gpc_count);
  for (const sm_place& at : places_of_sms(config)) blocks[at.gpc] += blocks_per_sm;
  std::uint64_t clusters = 0;
  for (const std::uint64_t room : blocks) clusters += room / cluster_blocks;
  return clusters;
}

}  // namespace heddle
