// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/sub_partition/policies/two_level.h"

namespace heddle {

/// `prefetch_aware`: two-level scheduling with strided groups: of G groups, slot s of sub-partition p belongs to group
/// s + p mod G. Neighbouring
/// warps, which mostly read neighbouring lines, then run at different times, and what a simple prefetcher of the L1
/// (l1.prefetch_lines) fetches after one's miss is there when its neighbour asks.
/// Source: Jog et al., "Orchestrated Scheduling and Prefetching for GPGPUs", ISCA 2013.
class prefetch_aware : public two_level {
 public:
  prefetch_aware(const sub_partition_parameters& parameters, const policy_place& place);
};

}  // namespace heddle
