// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/machine/register_ceiling.h"

#include <algorithm>

#include "heddle/isa/instruction.h"

namespace heddle::ptx {

namespace {

std::uint64_t round_up(std::uint64_t v, std::uint64_t unit) { return (v + unit - 1) / unit * unit; }

/// Threads that .maxntid or .reqntid gives a block; 0: neither is there.
std::uint64_t threads_of(const ast_function& kernel) {
  const std::uint32_t(&given)[3] = kernel.required_threads[0] ? kernel.required_threads : kernel.max_threads;
  if (given[0] == 0) return 0;
  return std::uint64_t{given[0]} * std::max(given[1], 1u) * std::max(given[2], 1u);
}

unsigned most_registers(const sm_parameters& sm) { return std::min(sm.registers_per_thread, 255u); }

/// Sub-partitions to which a single block's warps are assumed to be assigned: GP100 has two, but is treated as if it
/// had four.
std::uint64_t parts_of_a_block(const gpu_config& gpu) {
  return compute_capability(gpu) == 60 ? 4 : std::max(gpu.sm.sub_partitions, 1u);
}

bool blocks_fit(const gpu_config& gpu, std::uint64_t warps, std::uint64_t blocks, unsigned registers) {
  const sm_parameters& sm = gpu.sm;
  const std::uint64_t bare = std::uint64_t{registers} * isa::warp_size,
                      unit = std::max(sm.register_allocation_unit, 1u);
  if (sm.register_allocation == choice::register_allocation::block) {
    const std::uint64_t block = round_up(round_up(warps, std::max(sm.warp_allocation_granularity, 1u)) * bare, unit);
    return block <= sm.registers_per_block && block * blocks <= sm.registers;
  }
  // A block's warps are assigned to all sub-partitions in turn, and the fullest of them decides.
  const std::uint64_t parts = std::max(sm.sub_partitions, 1u), warp = round_up(bare, unit);
  return warp * round_up(warps, parts_of_a_block(gpu)) <= sm.registers_per_block &&
         sm.registers / parts / warp * parts >= warps * blocks;
}

}  // namespace

unsigned registers_that_fit(const gpu_config& gpu, std::uint64_t threads, std::uint64_t blocks) {
  const std::uint64_t warps = (threads + isa::warp_size - 1) / isa::warp_size;
  const unsigned step = std::max(gpu.sm.register_allocation_unit / isa::warp_size, 1u);
  for (unsigned registers = most_registers(gpu.sm); registers > 0;
       registers = registers % step ? registers / step * step : registers - step)
    if (blocks_fit(gpu, warps, blocks, registers)) return registers;
  return 0;
}

unsigned register_ceiling(const gpu_config& gpu, const ast_function& kernel) {
  const sm_parameters& sm = gpu.sm;
  const unsigned most = most_registers(sm);
  const bool asked = kernel.max_registers > 0 && kernel.max_registers <= most;
  unsigned ceiling = asked ? std::max(kernel.max_registers, std::min(least_maxnreg, most)) : most;
  const std::uint64_t threads = threads_of(kernel);
  if (threads == 0 || threads > sm.max_threads) return ceiling;
  const std::uint64_t resident = round_up(threads, isa::warp_size) * kernel.min_blocks;
  const bool blocks_wanted = kernel.min_blocks > 0 && kernel.min_blocks <= sm.max_blocks && resident <= sm.max_threads;
  if (asked && !blocks_wanted) return ceiling;
  const unsigned fitting = registers_that_fit(gpu, threads, blocks_wanted ? kernel.min_blocks : 1);
  return fitting > 0 ? std::min(ceiling, fitting) : ceiling;
}

std::string limiting_directive(const gpu_config& gpu, const ast_function& kernel) {
  const unsigned most = most_registers(gpu.sm), ceiling = register_ceiling(gpu, kernel);
  if (ceiling >= most) return "chip";
  if (kernel.max_registers != 0 && ceiling == std::max(kernel.max_registers, std::min(least_maxnreg, most)))
    return ".maxnreg";
  if (kernel.min_blocks != 0) return ".minnctapersm";
  return kernel.required_threads[0] != 0 ? ".reqntid" : ".maxntid";
}

}  // namespace heddle::ptx
