// SPDX-License-Identifier: MIT
#include "sub_partition/scheduling_policy.h"

#include "config/error.h"
#include "sub_partition/policies/cache_conscious.h"
#include "sub_partition/policies/greedy_then_oldest.h"
#include "sub_partition/policies/greedy_then_youngest.h"
#include "sub_partition/policies/loose_round_robin.h"
#include "sub_partition/policies/memory_aware.h"
#include "sub_partition/policies/oldest_first.h"
#include "sub_partition/policies/prefetch_aware.h"
#include "sub_partition/policies/two_level.h"

namespace heddle {

namespace {
template <class P>
std::unique_ptr<scheduling_policy> make(const sub_partition_parameters& parameters, const policy_place& place) {
  return std::make_unique<P>(parameters, place);
}
struct entry {
  const char* name;
  std::unique_ptr<scheduling_policy> (*create)(const sub_partition_parameters& parameters, const policy_place& place);
};
// The factory table: a new policy is one file in policies/ and one line here.
constexpr entry table[] = {
    {"lrr", make<loose_round_robin>},
    {"gto", make<greedy_then_oldest>},
    {"oldest", make<oldest_first>},
    {"cggty", make<greedy_then_youngest>},
    {"two_level", make<two_level>},
    {"prefetch_aware", make<prefetch_aware>},
    {"memory_aware", make<memory_aware>},
    {"ccws", make<cache_conscious>},
};
}  // namespace

std::vector<std::string> scheduling_policies() {
  std::vector<std::string> names;
  for (const entry& e : table) names.emplace_back(e.name);
  return names;
}

std::unique_ptr<scheduling_policy> make_scheduling_policy(const sub_partition_parameters& parameters, const policy_place& place) {
  std::string known;
  for (const entry& e : table) {
    if (parameters.scheduler == e.name) return e.create(parameters, place);
    known += known.empty() ? e.name : std::string(", ") + e.name;
  }
  throw input_error("unknown sub_partition.scheduler '" + parameters.scheduler + "', expected one of " + known);
}

}  // namespace heddle
