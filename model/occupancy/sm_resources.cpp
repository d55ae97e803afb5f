// SPDX-License-Identifier: MIT
#include "heddle/occupancy/sm_resources.h"

#include <algorithm>

#include "heddle/config/error.h"

namespace heddle {

sm_resources::sm_resources(const gpu_config& config)
    : calculator_(config),
      sm_(config.sm),
      registers_by_warp_(config.sm.register_allocation != choice::register_allocation::block),
      partition_warps_(config.sm.max_warps / config.sm.sub_partitions),
      partition_registers_(config.sm.registers / config.sm.sub_partitions),
      partitions_(config.sm.sub_partitions),
      carveout_bytes_(config.shared_memory.size_bytes),
      largest_carveout_(config.shared_memory.size_bytes) {}

unsigned sm_resources::warps() const {
  unsigned sum = 0;
  for (const partition& p : partitions_) sum += p.warps;
  return sum;
}

/// Number of further warps with so many registers that the sub-partition can hold.
unsigned sm_resources::room(const partition& p, unsigned registers_per_warp) const {
  const unsigned slots = partition_warps_ - p.warps;
  if (!registers_by_warp_ || registers_per_warp == 0) return slots;
  return std::min(slots, (partition_registers_ - p.registers) / registers_per_warp);
}

bool sm_resources::shared_fits(const block_allocation& block) const {
  const unsigned capacity = residents_.empty() ? block.carveout_bytes : carveout_bytes_;
  if (block.shared_bytes > capacity || shared_bytes_ > capacity - block.shared_bytes) return false;
  if (block.own_carveout_bytes >= capacity) return true;
  std::uint64_t alike = block.shared_bytes;
  for (const block_allocation& r : residents_)
    if (r.own_carveout_bytes == block.own_carveout_bytes) alike += r.shared_bytes;
  return alike <= block.own_carveout_bytes;
}

bool sm_resources::sums_fit(const block_allocation& block) const {
  if (residents_.size() >= sm_.max_blocks || block.threads > sm_.max_threads - threads_) return false;
  if (!registers_by_warp_ && block.registers_per_block > sm_.registers - registers_) return false;
  if (sm_.barriers != 0 && block.barriers > sm_.barriers - barriers_) return false;
  return shared_fits(block);
}

// A block's resources, before its warps are assigned to sub-partitions.
block_allocation sm_resources::allocation_of(const block_footprint& block) const {
  block_allocation allocation;
  allocation.threads = block.threads;
  allocation.registers_per_warp = block.registers_per_warp;
  allocation.registers_per_block = block.registers_per_block;
  allocation.shared_bytes = block.shared_bytes;
  allocation.barriers = block.barriers;
  allocation.own_carveout_bytes = block.carveout_bytes;
  allocation.carveout_bytes = residents_.empty() ? block.carveout_bytes : carveout_bytes_;
  return allocation;
}

bool sm_resources::fits(const block_footprint& block) const {
  if (block.limits.least() == 0) return false;
  if (!sums_fit(allocation_of(block))) return false;
  // take() skips full sub-partitions, so the block fits if there is room for all of its warps.
  unsigned places = 0;
  for (const partition& p : partitions_) places += room(p, block.registers_per_warp);
  return places >= block.warps;
}

block_allocation sm_resources::take(const block_footprint& block) {
  invariant(fits(block), "a block was placed on an SM that has no room for it");
  block_allocation allocation = allocation_of(block);
  allocation.partition_of_warp.reserve(block.warps);
  std::vector<unsigned> places;
  for (const partition& p : partitions_) places.push_back(room(p, block.registers_per_warp));
  const unsigned count = sm_.sub_partitions;
  unsigned next = sm_.warp_assignment == choice::warp_assignment::by_id ? 0 : next_partition_;
  for (unsigned w = 0; w < block.warps; ++w) {
    while (places[next] == 0) next = (next + 1) % count;
    --places[next];
    allocation.partition_of_warp.push_back(narrow<std::uint8_t>(next));
    next = (next + 1) % count;
  }
  next_partition_ = next;
  add(allocation);
  return allocation;
}

bool sm_resources::fits_again(const block_allocation& allocation) const {
  if (!sums_fit(allocation)) return false;
  std::vector<unsigned> wanted(partitions_.size());
  for (const std::uint8_t p : allocation.partition_of_warp) {
    if (p >= wanted.size()) return false;
    ++wanted[p];
  }
  for (std::size_t p = 0; p < wanted.size(); ++p)
    if (wanted[p] > room(partitions_[p], allocation.registers_per_warp)) return false;
  return true;
}

void sm_resources::take_again(block_allocation& allocation) {
  invariant(fits_again(allocation), "a block came back to an SM that has no room for it");
  add(allocation);
}

void sm_resources::add(block_allocation& allocation) {
  // A block that is restored while others are resident adopts their carve-out: it may be swapped out together with them
  // and be the first one restored.
  if (residents_.empty()) carveout_bytes_ = allocation.carveout_bytes;
  allocation.carveout_bytes = carveout_bytes_;
  threads_ += allocation.threads;
  registers_ += allocation.registers_per_block;
  shared_bytes_ += allocation.shared_bytes;
  barriers_ += allocation.barriers;
  for (const std::uint8_t p : allocation.partition_of_warp) {
    ++partitions_[p].warps;
    if (registers_by_warp_) partitions_[p].registers += allocation.registers_per_warp;
  }
  allocation.id = ++last_id_;
  residents_.push_back(allocation);
}

void sm_resources::give_back(const block_allocation& allocation) {
  const auto held = std::find_if(residents_.begin(), residents_.end(),
                                 [&](const block_allocation& r) { return r.id == allocation.id; });
  invariant(held != residents_.end(), "a block's resources were given back that its SM does not hold");
  threads_ -= held->threads;
  registers_ -= held->registers_per_block;
  shared_bytes_ -= held->shared_bytes;
  barriers_ -= held->barriers;
  for (const std::uint8_t p : held->partition_of_warp) {
    --partitions_[p].warps;
    if (registers_by_warp_) partitions_[p].registers -= held->registers_per_warp;
  }
  residents_.erase(held);
}

void sm_resources::check_invariants() const {
  std::uint64_t threads = 0, registers = 0, shared_bytes = 0, barriers = 0;
  std::vector<partition> sums(partitions_.size());
  for (const block_allocation& r : residents_) {
    threads += r.threads;
    registers += r.registers_per_block;
    shared_bytes += r.shared_bytes;
    barriers += r.barriers;
    for (const std::uint8_t p : r.partition_of_warp) {
      invariant(p < sums.size(), "a warp is on a sub-partition that its SM does not have");
      ++sums[p].warps;
      if (registers_by_warp_) sums[p].registers += r.registers_per_warp;
    }
  }
  invariant(residents_.size() <= sm_.max_blocks, "an SM holds more blocks than it has slots");
  invariant(threads == threads_ && threads <= sm_.max_threads,
            "an SM holds more threads than it may, or has lost count");
  invariant(registers == registers_ && registers <= sm_.registers,
            "an SM holds more registers than it has, or has lost count");
  invariant(shared_bytes == shared_bytes_ && shared_bytes <= carveout_bytes_ && carveout_bytes_ <= largest_carveout_,
            "an SM holds more shared memory than it has, or has lost count");
  invariant(barriers == barriers_ && (sm_.barriers == 0 || barriers <= sm_.barriers),
            "an SM holds more barriers than it has, or has lost count");
  for (std::size_t p = 0; p < sums.size(); ++p) {
    invariant(sums[p].warps == partitions_[p].warps && sums[p].warps <= partition_warps_,
              "a sub-partition holds more warps than it has slots, or its SM has lost count");
    invariant(sums[p].registers == partitions_[p].registers && sums[p].registers <= partition_registers_,
              "a sub-partition holds more registers than it has, or its SM has lost count");
  }
}

}  // namespace heddle
