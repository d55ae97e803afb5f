// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/issue/warp_scheduler.h"

namespace heddle {

warp_scheduler::warp_scheduler(sc_core::sc_module_name name, const sub_partition_parameters& parameters,
                               const policy_place& place)
    : sc_module(name), hot_(make_scheduling_policy(parameters, place), place.slots) {}

void warp_scheduler::use(std::unique_ptr<scheduling_policy> policy) {
  hot_.policy = std::move(policy);
  hot_.holds_memory = hot_.policy->holds_memory();
}

void warp_scheduler::trace(sc_core::sc_trace_file* file) const {
  const std::string base(name());
  const int slots = static_cast<int>(hot_.since.size());
  sc_core::sc_trace(file, traced.ready, base + ".ready", slots);
  sc_core::sc_trace(file, traced.eligible, base + ".eligible", slots);
  sc_core::sc_trace(file, traced.selected, base + ".selected", slots);
  if (traced_by_ != nullptr) traced_by_->traced(file);
}

}  // namespace heddle
