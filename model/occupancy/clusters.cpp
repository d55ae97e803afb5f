// SPDX-License-Identifier: MIT
#include "heddle/occupancy/clusters.h"

namespace heddle {

std::vector<unsigned> gpc_of_sms(const gpu_config& config) {
  const unsigned tpcs = (config.gpu.sm_count + config.gpu.sms_per_tpc - 1) / config.gpu.sms_per_tpc;
  std::vector<unsigned> gpcs;
  gpcs.reserve(config.gpu.sm_count);
  for (unsigned gpc = 0; gpcs.size() < config.gpu.sm_count; ++gpc) {
    const unsigned own = tpcs / config.gpu.gpc_count + (gpc < tpcs % config.gpu.gpc_count ? 1 : 0);
    for (unsigned sm = 0; sm < own * config.gpu.sms_per_tpc && gpcs.size() < config.gpu.sm_count; ++sm)
      gpcs.push_back(gpc);
  }
  return gpcs;
}

std::uint64_t max_active_clusters(const gpu_config& config, unsigned blocks_per_sm, std::uint64_t cluster_blocks) {
  std::vector<std::uint64_t> blocks(config.gpu.gpc_count);
  for (const unsigned gpc : gpc_of_sms(config)) blocks[gpc] += blocks_per_sm;
  std::uint64_t clusters = 0;
  for (const std::uint64_t room : blocks) clusters += room / cluster_blocks;
  return clusters;
}

}  // namespace heddle
