// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/policies/scheduling_policy.h"

#include "heddle/config/error.h"

namespace heddle {

std::unique_ptr<scheduling_policy> make_scheduling_policy(const sub_partition_parameters& parameters,
                                                          const policy_place& place) {
  switch (parameters.scheduler) {
#define HEDDLE_X(name) \
  case choice::scheduler::name: return create_policy<choice::scheduler::name>(parameters, place);
    HEDDLE_SCHEDULING_POLICIES(HEDDLE_X)
#undef HEDDLE_X
  }
  throw internal_error("unknown scheduling policy");
}

}  // namespace heddle
