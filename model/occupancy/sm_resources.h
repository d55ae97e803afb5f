// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/occupancy/occupancy.h"

namespace heddle {

/// What one resident block holds, by which it is given back.
struct block_allocation {
  std::uint64_t id = 0;  // unique within the account that made it; 0: none
  unsigned threads = 0;
  unsigned registers_per_warp = 0;  // 32-bit registers of all lanes
  unsigned registers_per_block = 0;
  unsigned shared_bytes = 0;
  unsigned barriers = 0;
  unsigned carveout_bytes = 0;                  // of the SM while it holds the block
  unsigned own_carveout_bytes = 0;              // that the block's kernel asks for
  std::vector<std::uint8_t> partition_of_warp;  // sub-partition, by warp of the block
};

/// The running account of one SM's resources, by block: used by the CWD to know what fits and by the SM to deal warps.
/// Two accounts that see the same calls in the same order deal alike. Source: docs/occupancy.md.
///
/// A block's warps go to the sub-partitions in turn, from where the last block's ended (sm.warp_dealing = round_robin)
/// or from the first (by_id); one without a free warp slot or registers for the warp is skipped. The carve-out changes
/// only while the SM is empty; blocks of a smaller one that come later share as much as theirs would be, so that no
/// kernel has more blocks on an SM than the calculator says.
class sm_resources {
 public:
  explicit sm_resources(const gpu_config& config);

  /// Whether the block would fit now, warps dealt as take() would. Throws input_error as the calculator does.
  bool fits(const block_demand& demand) const { return fits(calculator_.footprint(demand)); }
  bool fits(const block_footprint& block) const;

  /// Takes a block's resources. Throws internal_error when it does not fit.
  block_allocation take(const block_demand& demand) { return take(calculator_.footprint(demand)); }
  block_allocation take(const block_footprint& block);

  /// Whether a block that was given back would fit just where it was: each warp in its sub-partition.
  bool fits_again(const block_allocation& allocation) const;
  /// Takes the same resources again, warps in the same sub-partitions; the allocation gets a new id. For a block that
  /// comes back after a context switch. Throws internal_error when it does not fit.
  void take_again(block_allocation& allocation);

  /// Gives a block's resources back. Throws internal_error when the account does not hold this allocation.
  void give_back(const block_allocation& allocation);

  /// The footprint of a demand on this GPU: to be computed once where fits() is asked often.
  block_footprint footprint(const block_demand& demand) const { return calculator_.footprint(demand); }

  unsigned blocks() const { return static_cast<unsigned>(residents_.size()); }
  unsigned warps() const;
  unsigned threads() const { return threads_; }
  unsigned registers() const { return registers_; }        // allocated, 32-bit
  unsigned shared_bytes() const { return shared_bytes_; }  // allocated
  unsigned carveout_bytes() const { return carveout_bytes_; }
  /// The L1 that the present carve-out leaves.
  unsigned l1_bytes() const { return calculator_.l1_bytes(carveout_bytes_); }
  unsigned barriers() const { return barriers_; }
  unsigned warps_of(unsigned sub_partition) const { return partitions_[sub_partition].warps; }

  /// Adds all residents up anew and throws internal_error when a sum is wrong or beyond the SM's limits.
  void check_invariants() const;

 private:
  struct partition {
    unsigned warps = 0;
    unsigned registers = 0;
  };

  unsigned room(const partition& p, unsigned registers_per_warp) const;
  block_allocation allocation_of(const block_footprint& block) const;
  bool sums_fit(const block_allocation& block) const;
  bool shared_fits(const block_allocation& block) const;
  void add(block_allocation& allocation);

  occupancy_calculator calculator_;
  sm_parameters sm_;
  bool registers_by_warp_;    // else the SM's registers are one pool
  unsigned partition_warps_;  // warp slots of a sub-partition
  unsigned partition_registers_;
  std::vector<partition> partitions_;
  unsigned next_partition_ = 0;  // where the next block's dealing starts
  unsigned threads_ = 0;
  unsigned registers_ = 0;
  unsigned shared_bytes_ = 0;
  unsigned barriers_ = 0;
  unsigned carveout_bytes_ = 0;
  unsigned largest_carveout_ = 0;
  std::uint64_t last_id_ = 0;
  std::vector<block_allocation> residents_;
};

}  // namespace heddle
