// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "heddle/config/parameters.h"

namespace heddle {

/// Where an SM lies. CPCs are numbered on the whole chip.
struct sm_place {
  unsigned gpc;
  unsigned cpc;
};

/// The place of each SM. TPCs go to the GPCs in turn, those of a GPC to its CPCs.
[[nodiscard]] inline std::vector<sm_place> places_of_sms(const gpu_config& c) {
  std::vector<sm_place> places;
  places.reserve(c.gpu.sm_count);
  for (unsigned sm = 0; sm < c.gpu.sm_count; ++sm) {
    const unsigned tpc = sm / c.gpu.sms_per_tpc, gpc = tpc % c.gpu.gpc_count;
    places.push_back({gpc, gpc * c.gpu.cpcs_per_gpc + tpc / c.gpu.gpc_count % c.gpu.cpcs_per_gpc});
  }
  return places;
}

/// The partition of each SM, from 1 on; 0: it is in none.
[[nodiscard]] inline std::vector<unsigned> partitions_of_sms(const gpu_config& c) {
  std::vector<unsigned> partitions(c.gpu.sm_count);
  for (unsigned p = 0; p < c.partitions.size(); ++p)
    for (const unsigned sm : c.partitions[p].sms) partitions.at(sm) = p + 1;
  return partitions;
}

}  // namespace heddle
