// SPDX-License-Identifier: MIT
#pragma once

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

}  // namespace heddle
