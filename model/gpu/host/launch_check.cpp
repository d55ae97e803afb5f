// SPDX-License-Identifier: MIT
#include "heddle/gpu/host/launch_check.h"

#include <algorithm>
#include <string>

#include "heddle/config/error.h"
#include "heddle/occupancy/occupancy.h"

namespace heddle {

namespace {

std::string triple(const std::uint32_t v[3]) {
  return std::to_string(v[0]) + "x" + std::to_string(std::max(v[1], 1u)) + "x" + std::to_string(std::max(v[2], 1u));
}

void check_directives(const isa::program& program, const std::string& kernel, const std::uint32_t block[3],
                      std::uint64_t threads) {
  const auto& must = program.required_threads;
  const auto& most = program.max_threads;
  if (must[0] != 0 && (block[0] != must[0] || block[1] != std::max(must[1], 1u) || block[2] != std::max(must[2], 1u)))
    throw input_error(kernel + "a block of " + triple(block) + " threads, the kernel requires " + triple(must) +
                      " (.reqntid)");
  const std::uint64_t limit = std::uint64_t{most[0]} * std::max(most[1], 1u) * std::max(most[2], 1u);
  if (limit != 0 && threads > limit)
    throw input_error(kernel + "a block of " + std::to_string(threads) +
                      " threads, the kernel was compiled for at most " + std::to_string(limit) + " (.maxntid)");
}

}  // namespace

block_demand demand_of(const isa::program& program, unsigned threads, std::uint64_t dynamic_shared_bytes,
                       int carveout_percent) {
  block_demand d;
  d.threads = threads;
  d.registers_per_thread = program.registers;
  d.shared_bytes = program.shared_bytes + dynamic_shared_bytes;
  d.carveout_percent = carveout_percent;
  d.barriers = program.barriers;
  return d;
}

void check_launch(const gpu_config& config, const isa::program& program, const std::uint32_t grid[3],
                  const std::uint32_t block[3], std::uint32_t dynamic_shared_bytes, int carveout_percent) {
  const std::string kernel = "kernel '" + program.kernel + "': ";
  for (unsigned i = 0; i < 3; ++i)
    if (grid[i] == 0 || block[i] == 0)
      throw input_error(kernel + "a grid or block dimension is 0, expected at least 1");
  // CUDA C++ Programming Guide, table of technical specifications per compute capability.
  if (grid[0] > 2147483647u || grid[1] > 65535 || grid[2] > 65535)
    throw input_error(kernel + "a grid of " + triple(grid) + " blocks, at most 2147483647x65535x65535 are allowed");
  const std::uint64_t threads = std::uint64_t{block[0]} * block[1] * block[2];
  if (block[0] > 65535 || block[1] > 65535 || block[2] > 65535 || threads > config.sm.max_threads_per_block)
    throw input_error(kernel + "a block of " + triple(block) + " threads, " + config.gpu.name + " allows " +
                      std::to_string(config.sm.max_threads_per_block));
  if (block[2] > 64)
    throw input_error(kernel + "a block of " + triple(block) + " threads, at most 64 in z are allowed");
  check_directives(program, kernel, block, threads);
  const block_demand d = demand_of(program, static_cast<unsigned>(threads), dynamic_shared_bytes, carveout_percent);
  const occupancy_result o = compute(config, d);
  if (o.blocks_per_sm != 0) return;
  std::string limits;
  for (const auto& name : o.limiters) limits += (limits.empty() ? "" : ", ") + name;
  throw input_error(kernel + "a block of " + std::to_string(threads) + " threads with " +
                    std::to_string(program.registers) + " registers per thread and " + std::to_string(d.shared_bytes) +
                    " bytes of shared memory fits no SM of " + config.gpu.name + " (limited by " + limits + ")");
}

void check_preemption(const gpu_config& config, const std::vector<unsigned>& sms, preemption_mode mode) {
  for (const unsigned sm : sms)
    if (sm >= config.gpu.sm_count)
      throw input_error("there is no SM " + std::to_string(sm) + ", " + config.gpu.name + " has " +
                        std::to_string(config.gpu.sm_count) + " (0 to " + std::to_string(config.gpu.sm_count - 1) +
                        ")");
  if (mode == preemption_mode::drain || mode == preemption_mode::automatic ||
      config.context.preemption == choice::preemption::instruction)
    return;
  throw input_error(std::string("mode '") + (mode == preemption_mode::flush ? "flush" : "switch") +
                    "': " + config.gpu.name +
                    " cannot stop a running block (context.preemption = block), expected drain or auto");
}

std::string flush_refusal(const std::string& kernel, const std::string& why) {
  return "mode 'flush': kernel '" + kernel + "' is not shown idempotent (" + why + "), expected drain, switch or auto";
}

}  // namespace heddle
