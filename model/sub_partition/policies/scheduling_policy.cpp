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

namespace {
template <class P>
std::unique_ptr<scheduling_policy> make(const sub_partition_parameters& parameters, const policy_place& place) {
  return std::make_unique<P>(parameters, place);
}
}  // namespace

// The factory. A new policy needs a file in policies/, an enumerator of choice::scheduler, its name in
// parameter_rows.cpp, and a line here.
std::unique_ptr<scheduling_policy> make_scheduling_policy(const sub_partition_parameters& parameters,
                                                          const policy_place& place) {
  using kind = choice::scheduler;
  switch (parameters.scheduler) {
    case kind::lrr: return make<loose_round_robin>(parameters, place);
    case kind::gto: return make<greedy_then_oldest>(parameters, place);
    case kind::oldest: return make<oldest_first>(parameters, place);
    case kind::cggty: return make<greedy_then_youngest>(parameters, place);
    case kind::two_level: return make<two_level>(parameters, place);
    case kind::prefetch_aware: return make<prefetch_aware>(parameters, place);
    case kind::memory_aware: return make<memory_aware>(parameters, place);
    case kind::ccws: return make<cache_conscious>(parameters, place);
  }
  throw internal_error("a scheduling policy that there is not");
}

}  // namespace heddle
