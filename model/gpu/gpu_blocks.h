// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>

#include "heddle/config/parameters.h"
#include "heddle/tlm/kernel/clock_domain.h"

namespace heddle {

class dram_scheduler;
class grid_distributor;
class grid_observer;
class host_regions;
class l2_cache;
class memory_model;
class refresh_policy;
class replacement_policy;
class row_policy;
class scheduling_policy;

/// The sub-partition for which a scheduling policy is created.
struct scheduler_place {
  unsigned sm = 0;
  unsigned sub_partition = 0;  // of the SM
  unsigned slots = 0;          // for warps
};

/// The cache for which a replacement policy is created: the L1 of SM `index`, or L2 slice `index`.
struct cache_place {
  enum level_t : unsigned char { l1, l2 };
  level_t level = l1;
  unsigned index = 0;
};

/// User-defined replacements for blocks of a GPU: functions that are called where the GPU would make its own block; an
/// empty function keeps the GPU's own. `name` is the name that the block must have below the GPU. No function may
/// return null.
struct gpu_blocks {
  /// The CWD, on the core clock. It reports completed grids and the SMs' faults to the observer.
  std::function<std::unique_ptr<grid_distributor>(const char* name, clock_domain&, const gpu_config&, grid_observer&)>
      cwd;
  /// L2 slice `index` of memory.channels x l2.slices_per_channel, on the L2's clock.
  std::function<std::unique_ptr<l2_cache>(const char* name, clock_domain&, const gpu_config&, unsigned index)> l2_slice;
  /// Memory channel `index` of memory.channels, on the DRAM's clock; not called with memory.model = external.
  std::function<std::unique_ptr<memory_model>(const char* name, clock_domain&, const gpu_config&, unsigned index)>
      memory_channel;
  /// The scheduling policy of one sub-partition.
  std::function<std::unique_ptr<scheduling_policy>(const gpu_config&, const scheduler_place&)> scheduler;
  /// The replacement policy of one L1, whenever it gets a size, or of one L2 slice; not called for the slices that
  /// `l2_slice` creates.
  std::function<std::unique_ptr<replacement_policy>(const gpu_config&, const cache_place&)> replacement;
  /// The scheduler, the row policy and the refresh of one DRAM channel; called with memory.model = dram, if
  /// `memory_channel` is empty.
  std::function<std::unique_ptr<dram_scheduler>(const gpu_config&)> channel_scheduler;
  std::function<std::unique_ptr<row_policy>(const gpu_config&)> channel_rows;
  std::function<std::unique_ptr<refresh_policy>(const gpu_config&)> channel_refresh;
  /// Memory of the host that kernels and copies access in place, if the L2 is the GPU's own; null: none. It must
  /// outlive the GPU.
  const host_regions* in_place = nullptr;
};

}  // namespace heddle
