// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/policies/prefetch_aware.h"

#include <algorithm>

namespace heddle {

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

}  // namespace heddle
