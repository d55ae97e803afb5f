// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/occupancy/occupancy.h"

namespace heddle {

/// The resources held by one resident block; passed to give_back().
struct block_allocation {
  std::uint64_t id = 0;  // unique within its sm_resources; 0: none
  unsigned threads = 0;
  unsigned registers_per_warp = 0;  // 32-bit registers of all lanes
  unsigned registers_per_block = 0;
  unsigned shared_bytes = 0;
  unsigned barriers = 0;
  unsigned carveout_bytes = 0;                  // of the SM while it holds the block
  unsigned own_carveout_bytes = 0;              // requested by the block's kernel
  std::vector<std::uint8_t> partition_of_warp;  // sub-partition, by warp of the block

  template <class Image>
  void exchange(Image& image) {
    image(id, threads, registers_per_warp, registers_per_block, shared_bytes, barriers, carveout_bytes,
          own_carveout_bytes, partition_of_warp);
  }
};

/// Tracks one SM's resources by block. The CWD uses it to decide what fits, the SM to assign warps to sub-partitions.
/// Two objects that receive the same calls in the same order assign alike. Source: docs/model/occupancy.md.
///
/// A block's warps are assigned to the sub-partitions round robin, starting after the last block's (sm.warp_assignment
/// = round_robin) or at the first sub-partition (by_id). A sub-partition without a free warp slot or without registers
/// for the warp is skipped. The carve-out changes only while the SM is empty. Later blocks with a smaller carve-out
/// together use at most that much shared memory, so that no kernel has more blocks on an SM than the calculator allows.
class sm_resources {
 public:
  explicit sm_resources(const gpu_config& config);

  /// True if the block fits now, with warps assigned as in take(). Throws input_error as the calculator does.
  [[nodiscard]] bool fits(const block_demand& demand) const { return fits(calculator_.footprint(demand)); }
  [[nodiscard]] bool fits(const block_footprint& block) const;

  /// Allocates a block's resources. Throws internal_error if it does not fit.
  block_allocation take(const block_demand& demand) { return take(calculator_.footprint(demand)); }
  block_allocation take(const block_footprint& block);

  /// True if a block whose resources were given back fits again, each warp in the same sub-partition.
  [[nodiscard]] bool fits_again(const block_allocation& allocation) const;
  /// Allocates the same resources again, warps in the same sub-partitions; the allocation gets a new id. For a block
  /// that is restored after a context switch. Throws internal_error if it does not fit.
  void take_again(block_allocation& allocation);

  /// Releases a block's resources. Throws internal_error if this allocation is not held.
  void give_back(const block_allocation& allocation);

  /// The footprint of a demand on this GPU; compute it once if fits() is called often.
  [[nodiscard]] block_footprint footprint(const block_demand& demand) const { return calculator_.footprint(demand); }

  [[nodiscard]] unsigned blocks() const { return static_cast<unsigned>(residents_.size()); }
  [[nodiscard]] unsigned warps() const;
  [[nodiscard]] unsigned threads() const { return threads_; }
  [[nodiscard]] unsigned registers() const { return registers_; }        // allocated, 32-bit
  [[nodiscard]] unsigned shared_bytes() const { return shared_bytes_; }  // allocated
  [[nodiscard]] unsigned carveout_bytes() const { return carveout_bytes_; }
  /// L1 size with the current carve-out.
  [[nodiscard]] unsigned l1_bytes() const { return calculator_.l1_bytes(carveout_bytes_); }
  [[nodiscard]] unsigned barriers() const { return barriers_; }
  [[nodiscard]] unsigned warps_of(unsigned sub_partition) const { return partitions_[sub_partition].warps; }

  /// Recomputes all sums and throws internal_error if one is wrong or exceeds the SM's limits.
  void check_invariants() const;
  /// The state, for a state_image.
  template <class Image>
  void exchange(Image& image) {
    image.each(partitions_);
    image(next_partition_, threads_, registers_, shared_bytes_, barriers_, carveout_bytes_, largest_carveout_, last_id_,
          residents_);
  }

 private:
  struct partition {
    unsigned warps = 0;
    unsigned registers = 0;

    template <class Image>
    void exchange(Image& image) {
      image(warps, registers);
    }
  };

  [[nodiscard]] unsigned room(const partition& p, unsigned registers_per_warp) const;
  [[nodiscard]] block_allocation allocation_of(const block_footprint& block) const;
  [[nodiscard]] bool sums_fit(const block_allocation& block) const;
  [[nodiscard]] bool shared_fits(const block_allocation& block) const;
  void add(block_allocation& allocation);

  occupancy_calculator calculator_;
  sm_parameters sm_;
  bool registers_by_warp_;    // otherwise the SM's registers are one pool
  unsigned partition_warps_;  // warp slots of a sub-partition
  unsigned partition_registers_;
  std::vector<partition> partitions_;
  unsigned next_partition_ = 0;  // first sub-partition for the next block
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
