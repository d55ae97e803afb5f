// SPDX-License-Identifier: MIT
// The runtime: attributes of launches, as cudaLaunchKernelExC and kernel nodes of graphs have them.
#include <algorithm>

#include "testbench/cuda/core/operations.h"
#include "testbench/cuda/core/streams.h"

using namespace heddle;
using namespace heddle::cuda;

namespace heddle::cuda {

namespace {

/// cudaLaunchAttributeID.
enum attribute : int {
  ignored,
  access_window,
  cooperative,
  synchronization,
  cluster_dimension,
  cluster_policy,
  programmatic_serialization,
  programmatic_event,
  priority,
  domain_map,
  domain,
  preferred_cluster,
  completion_event,
  updated_by_device,
  carveout,
  between_gpus = 16
};

bool is_zero(const unsigned (&size)[3]) { return size[0] == 0 && size[1] == 0 && size[2] == 0; }
bool is_within(int value, int least, int most) { return value >= least && value <= most; }

error_t ends_with(event_t e, launch_traits& traits) {
  if (e == nullptr) return error::invalid_handle;
  if (has_time(e)) return error::illegal_state;
  traits.ends_with.push_back(e);
  return error::none;
}

}  // namespace

error_t read(const launch_attribute& a, launch_traits& traits) {
  const auto& v = a.value;
  const auto valid = [](bool is) { return is ? error::none : error::invalid_value; };
  switch (a.id) {
    case ignored:
    case access_window:
    case priority:
    case domain_map:
    case between_gpus: return error::none;
    case cooperative: traits.cooperative = v.number != 0; return error::none;
    case programmatic_serialization: traits.programmatic = v.number != 0; return error::none;
    case synchronization: return valid(is_within(v.number, 1, 4));
    case cluster_policy: return valid(is_within(v.number, 0, 2));
    case domain: return valid(is_within(v.number, 0, 1));
    case carveout: return valid(is_within(v.number, 0, 100));
    case cluster_dimension: {
      const bool some = v.triple[0] == 0 || v.triple[1] == 0 || v.triple[2] == 0;
      if (some && !is_zero(v.triple)) return error::invalid_cluster_size;
      std::copy(std::begin(v.triple), std::end(v.triple), std::begin(traits.cluster));
      return error::none;
    }
    case programmatic_event:
    case completion_event: return ends_with(v.event, traits);
    case updated_by_device: return error::not_supported;
    case preferred_cluster:
      return is_zero(v.triple) || traits.cluster[0] != 0 ? error::none : error::invalid_cluster_size;
    default: return error::invalid_value;
  }
}

bool is_of_nodes(int a) {
  return a == access_window || a == cooperative || a == cluster_dimension || a == cluster_policy ||
         is_within(a, priority, domain) || a == updated_by_device || a == carveout;
}

void show(const launch_traits& traits, int attribute, launch_attribute& to) {
  if (attribute == cooperative) to.value.number = traits.cooperative;
  if (attribute == programmatic_serialization) to.value.number = traits.programmatic;
  if (attribute == cluster_dimension)
    std::copy(std::begin(traits.cluster), std::end(traits.cluster), std::begin(to.value.triple));
}

// A preferred cluster is held against the cluster, wherever that one stands.
error_t read(const launch_attribute* attributes, unsigned count, launch_traits& traits) {
  if (attributes == nullptr && count != 0) return error::invalid_value;
  for (const bool preferred : {false, true})
    for (unsigned k = 0; k < count; ++k)
      if ((attributes[k].id == preferred_cluster) == preferred)
        if (const error_t e = read(attributes[k], traits); e != error::none) return e;
  return error::none;
}

}  // namespace heddle::cuda
