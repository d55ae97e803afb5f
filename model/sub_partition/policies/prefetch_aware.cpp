// SPDX-License-Identifier: MIT
#include <algorithm>

#include "heddle/sub_partition/policies/two_level.h"

namespace heddle {

/// `prefetch_aware`: two-level scheduling with strided groups: of G groups, slot s of sub-partition p belongs to group
/// (s + p) mod G. Neighbouring warps mostly read neighbouring lines. In different groups they run at different times,
/// so what a simple L1 prefetcher (l1.prefetch_lines) fetches after one warp's miss is present when its neighbour
/// loads. Source: Jog et al., "Orchestrated Scheduling and Prefetching for GPGPUs", ISCA 2013.
class prefetch_aware : public two_level {
 public:
  prefetch_aware(const sub_partition_parameters& parameters, const policy_place& place);
};

namespace {
std::vector<std::uint64_t> strided(unsigned group_warps, const policy_place& place) {
  const unsigned size = std::clamp(group_warps, 1u, place.slots);
  std::vector<std::uint64_t> groups((place.slots + size - 1) / size);
  // Warps with neighbouring ids mostly share a slot number, in different sub-partitions.
  for (unsigned slot = 0; slot < place.slots; ++slot)
    groups[(slot + place.sub_partition) % groups.size()] |= std::uint64_t{1} << slot;
  return groups;
}
}  // namespace

prefetch_aware::prefetch_aware(const sub_partition_parameters& parameters, const policy_place& place)
    : two_level(strided(parameters.fetch_group_warps, place)) {}

template <>
std::unique_ptr<scheduling_policy> create_policy<choice::scheduler::prefetch_aware>(
    const sub_partition_parameters& parameters, const policy_place& place) {
  return std::make_unique<prefetch_aware>(parameters, place);
}

}  // namespace heddle
