// SPDX-License-Identifier: MIT
#include "heddle/sm/barrier_unit.h"

namespace heddle {

barrier_unit::barrier_unit(sc_core::sc_module_name name, const gpu_config& config)
    : sc_module(name),
      rules_(config),
      has_clusters_(config.cluster.max_blocks != 0),
      blocks_(config.sm.max_blocks),
      clusters_(config.sm.max_blocks) {}

void barrier_unit::trace(sc_core::sc_trace_file* file) const {
  for (std::size_t s = 0; s < blocks_.size(); ++s)
    sc_core::sc_trace(file, blocks_[s].waiting(), std::string(name()) + ".block" + std::to_string(s) + "_waiting");
  for (std::size_t s = 0; has_clusters_ && s < clusters_.size(); ++s)
    sc_core::sc_trace(file, clusters_[s].waiting(), std::string(name()) + ".cluster" + std::to_string(s) + "_waiting");
}

}  // namespace heddle
