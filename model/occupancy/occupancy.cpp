// SPDX-License-Identifier: MIT
#include "heddle/occupancy/occupancy.h"

#include <algorithm>

#include "heddle/config/config.h"
#include "heddle/config/parameter_rules.h"
#include "heddle/occupancy/limiter.h"

namespace heddle {
namespace {

constexpr unsigned warp_size = 32;
constexpr int volta = 70;  // from here on the carve-out is configurable
constexpr int pascal_gp100 = 60;

std::uint64_t round_up(std::uint64_t n, std::uint64_t unit) { return (n + unit - 1) / unit * unit; }

/// Maps sizes beyond every limit to UINT_MAX: they never fit, so their exact value does not matter.
unsigned clamped(std::uint64_t n) { return static_cast<unsigned>(std::min<std::uint64_t>(n, UINT_MAX)); }

}  // namespace

unsigned resource_limits::least() const { return std::min({warps, blocks, registers, shared_memory, barriers}); }

occupancy_calculator::occupancy_calculator(const gpu_config& config)
    : sm_(config.sm),
      shared_(config.shared_memory),
      l1_bytes_(config.l1.size_bytes),
      compute_capability_(compute_capability(config)),
      carveouts_(carveout_sizes(config)) {}

unsigned occupancy_calculator::register_limit_by_warp(const block_footprint& block, unsigned sub_partitions) const {
  const std::uint64_t per_warp = block.registers_per_warp;
  // The hardware distributes a block's warps over all sub-partitions; the limit follows from the one with the most.
  if (per_warp * round_up(block.warps, sub_partitions) > sm_.registers_per_block) return 0;
  const std::uint64_t warps = sm_.registers / sub_partitions / per_warp * sub_partitions;
  return static_cast<unsigned>(warps / block.warps);
}

unsigned occupancy_calculator::register_limit(const block_footprint& block, unsigned registers_per_thread) const {
  if (registers_per_thread > sm_.registers_per_thread || block.registers_per_block > sm_.registers_per_block) return 0;
  if (block.registers_per_block == 0) return resource_limits::unlimited;
  if (sm_.register_allocation == choice::register_allocation::block) return sm_.registers / block.registers_per_block;
  // GP100 has two sub-partitions, but rejects what a chip of its generation with four would reject.
  if (compute_capability_ == pascal_gp100 && register_limit_by_warp(block, 4) == 0) return 0;
  return register_limit_by_warp(block, sm_.sub_partitions);
}

unsigned occupancy_calculator::least_carveout(std::uint64_t bytes) const {
  const auto found = std::lower_bound(carveouts_.begin(), carveouts_.end(), bytes);
  return found == carveouts_.end() ? carveouts_.back() : *found;
}

unsigned occupancy_calculator::carveout(int percent, std::uint64_t block_bytes) const {
  if (percent < 0) return carveouts_.back();
  const unsigned preferred = least_carveout(std::uint64_t{shared_.size_bytes} * static_cast<unsigned>(percent) / 100);
  if (preferred >= block_bytes) return preferred;
  return compute_capability_ >= volta ? least_carveout(block_bytes) : carveouts_.back();
}

unsigned occupancy_calculator::l1_bytes(unsigned carveout_bytes) const {
  return l1_bytes_ + (shared_.unified_bytes == 0 ? 0 : carveouts_.back() - carveout_bytes);
}

block_footprint occupancy_calculator::footprint(const block_demand& demand) const {
  if (demand.threads == 0) throw input_error("a block of 0 threads, expected at least 1");
  if (demand.carveout_percent < -1 || demand.carveout_percent > 100)
    throw input_error("carve-out of " + std::to_string(demand.carveout_percent) +
                      ", expected a percentage 0 to 100, or -1");
  block_footprint block;
  block.threads = demand.threads;
  block.warps = (demand.threads - 1) / warp_size + 1;
  block.barriers = demand.barriers;

  const std::uint64_t warp_registers = std::uint64_t{demand.registers_per_thread} * warp_size;
  if (sm_.register_allocation == choice::register_allocation::block) {
    block.registers_per_warp = clamped(warp_registers);
    block.registers_per_block =
        clamped(round_up(round_up(block.warps, sm_.warp_allocation_granularity) * block.registers_per_warp,
                         sm_.register_allocation_unit));
  } else {
    block.registers_per_warp = clamped(round_up(warp_registers, sm_.register_allocation_unit));
    block.registers_per_block = clamped(std::uint64_t{block.registers_per_warp} * block.warps);
  }

  const std::uint64_t asked = std::min<std::uint64_t>(demand.shared_bytes, UINT_MAX);
  const std::uint64_t shared = round_up(asked + shared_.reserved_per_block_bytes, shared_.allocation_unit_bytes);
  block.shared_bytes = clamped(shared);
  block.carveout_bytes = carveout(demand.carveout_percent, shared);
  if (block.threads > sm_.max_threads_per_block) block.limits.warps = 0;
  else block.limits.warps = std::min(sm_.max_warps / block.warps, sm_.max_threads / block.threads);
  block.limits.blocks = sm_.max_blocks;
  block.limits.registers = register_limit(block, demand.registers_per_thread);
  if (shared > std::uint64_t{shared_.opt_in_per_block_bytes} + shared_.reserved_per_block_bytes)
    block.limits.shared_memory = 0;
  else if (shared > 0) block.limits.shared_memory = block.carveout_bytes / block.shared_bytes;
  if (demand.barriers > sm_.barriers_per_block) block.limits.barriers = 0;
  else if (demand.barriers > 0 && sm_.barriers > 0) block.limits.barriers = sm_.barriers / demand.barriers;
  // Without a preference the limits are those of the largest shared memory. The driver then gives the SM only the
  // shared memory that they need, and the rest to the L1 (Nsight Compute on a V100: 0 for kernels without shared
  // memory, 32 KiB for blocks of 3 KiB).
  if (demand.carveout_percent < 0 && compute_capability_ >= volta && block.limits.least() > 0)
    block.carveout_bytes = least_carveout(std::uint64_t{block.limits.least()} * block.shared_bytes);
  block.l1_bytes = l1_bytes(block.carveout_bytes);
  return block;
}

occupancy_result occupancy_calculator::compute(const block_demand& demand) const {
  occupancy_result result;
  result.block = footprint(demand);
  const resource_limits& limits = result.block.limits;
  result.blocks_per_sm = limits.least();
  result.active_warps = result.blocks_per_sm * result.block.warps;
  result.theoretical_occupancy = static_cast<double>(result.active_warps) / sm_.max_warps;
  each_limit(limits, [&](const char* name, unsigned limit) {
    if (limit == result.blocks_per_sm) result.limiters.emplace_back(name);
  });
  return result;
}

occupancy_result compute(const gpu_config& config, const block_demand& demand) {
  return occupancy_calculator(config).compute(demand);
}

}  // namespace heddle
