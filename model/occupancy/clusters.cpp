// SPDX-License-Identifier: MIT
#include "heddle/occupancy/clusters.h"

#include <algorithm>
#include <vector>

#include "heddle/config/sm_places.h"

namespace heddle {

unsigned sms_of(const gpu_config& config, const sm_share& share) {
  const std::vector<unsigned> partitions = partitions_of_sms(config);
  const auto all = static_cast<unsigned>(std::count(partitions.begin(), partitions.end(), share.partition));
  return share.sms != 0 ? std::min<unsigned>(share.sms, all) : all;
}

// A share that is less than all SMs holds most clusters if it has those of few, large GPCs.
std::uint64_t max_active_clusters(const gpu_config& config, unsigned blocks_per_sm, std::uint64_t cluster_blocks,
                                  const sm_share& share) {
  std::vector<std::uint64_t> sms(config.gpu.gpc_count);
  const std::vector<sm_place> places = places_of_sms(config);
  const std::vector<unsigned> partitions = partitions_of_sms(config);
  for (unsigned sm = 0; sm < places.size(); ++sm) sms[places[sm].gpc] += partitions[sm] == share.partition ? 1 : 0;
  std::sort(sms.rbegin(), sms.rend());
  std::uint64_t clusters = 0, left = share.sms != 0 ? share.sms : places.size();
  for (const std::uint64_t in_gpc : sms) {
    const std::uint64_t used = std::min(in_gpc, left);
    left -= used;
    clusters += used * blocks_per_sm / cluster_blocks;
  }
  return clusters;
}

}  // namespace heddle
