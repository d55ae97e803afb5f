// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/policies/scheduling_policy.h"

#include "heddle/config/error.h"
#include "heddle/sub_partition/policies/cache_conscious.h"
#include "heddle/sub_partition/policies/greedy_then_oldest.h"
#include "heddle/sub_partition/policies/greedy_then_youngest.h"
#include "heddle/sub_partition/policies/loose_round_robin.h"
#include "heddle/sub_partition/policies/memory_aware.h"
#include "heddle/sub_partition/policies/oldest_first.h"
#include "heddle/sub_partition/policies/prefetch_aware.h"
#include "heddle/sub_partition/policies/two_level.h"

namespace heddle {

std::unique_ptr<scheduling_policy> make_scheduling_policy(const sub_partition_parameters& parameters,
                                                          const policy_place& place) {
  switch (parameters.scheduler) {
#define HEDDLE_X(name, policy) \
  case choice::scheduler::name: return std::make_unique<policy>(parameters, place);
    HEDDLE_SCHEDULING_POLICIES(HEDDLE_X)
#undef HEDDLE_X
  }
  throw internal_error("a scheduling policy that there is not");
}

}  // namespace heddle
