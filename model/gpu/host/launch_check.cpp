// SPDX-License-Identifier: MIT
#include "heddle/gpu/host/launch_check.h"

#include <algorithm>
#include <string>

#include "heddle/config/error.h"
#include "heddle/occupancy/occupancy.h"

namespace heddle {

namespace {

/// "4x1x1"
template <class T>
std::string triple_text(const T v[3]) {
  return std::to_string(v[0]) + "x" + std::to_string(std::max<T>(v[1], 1)) + "x" + std::to_string(std::max<T>(v[2], 1));
}

void check_directives(const isa::program& program, const std::string& kernel, const std::uint32_t block[3],
                      std::uint64_t threads) {
  const auto& must = program.required_threads;
  const auto& most = program.max_threads;
  if (must[0] != 0 && (block[0] != must[0] || block[1] != std::max(must[1], 1u) || block[2] != std::max(must[2], 1u)))
    throw input_error(kernel + "a block of " + triple_text(block) + " threads, the kernel requires " +
                      triple_text(must) + " (.reqntid)");
  const std::uint64_t limit = std::uint64_t{most[0]} * std::max(most[1], 1u) * std::max(most[2], 1u);
  if (limit != 0 && threads > limit)
    throw input_error(kernel + "a block of " + std::to_string(threads) +
                      " threads, the kernel was compiled for at most " + std::to_string(limit) + " (.maxntid)");
}

/// Throws input_error for clusters that never fit the SMs of a client. `cluster`: names kernel and size.
void check_share(const gpu_config& config, const std::string& cluster, std::uint64_t blocks, unsigned blocks_per_sm,
                 const sm_share& share) {
  if (max_active_clusters(config, blocks_per_sm, blocks, share) != 0) return;
  const bool of_slice = max_active_clusters(config, blocks_per_sm, blocks, {0, share.partition}) == 0;
  throw input_error(
      cluster +
      (of_slice
           ? " fits no GPC of the client's slice"
           : " does not fit the client's share of " + std::to_string(share.sms) + (share.sms == 1 ? " SM" : " SMs")) +
      ", where " + std::to_string(blocks_per_sm) + (blocks_per_sm == 1 ? " block fits" : " blocks fit") + " on an SM");
}

/// Throws input_error for clusters that the GPU cannot run. `blocks_per_sm`: blocks that fit on an SM.
void check_clusters(const gpu_config& config, const isa::program& program, const launch_shape& shape,
                    const cluster_request& request, unsigned blocks_per_sm, const sm_share& share) {
  if (!shape.explicit_cluster) return;
  const std::string kernel = "kernel '" + program.kernel + "': ";
  const std::string cluster = kernel + "a cluster of " + triple_text(shape.cluster) + " blocks";
  // Each factor is checked before the product, which could overflow otherwise.
  const bool huge = *std::max_element(shape.cluster, shape.cluster + 3) > 1024;
  const std::uint64_t blocks = huge ? 0 : shape.cluster_blocks();
  const unsigned most = config.cluster.max_blocks;
  if (std::find(shape.cluster, shape.cluster + 3, 0u) != shape.cluster + 3)
    throw input_error(cluster + ", expected at least 1 in each dimension");
  if (most == 0 && blocks != 1)
    throw input_error(cluster + ", " + config.gpu.name + " (compute capability " + compute_capability_text(config) +
                      ") has no thread block clusters");
  if (program.most_cluster_blocks != 0 && (huge || blocks > program.most_cluster_blocks))
    throw input_error(cluster + ", the kernel was compiled for at most " + std::to_string(program.most_cluster_blocks) +
                      " (.maxclusterrank)");
  if (most != 0 && (huge || blocks > most))
    throw input_error(cluster + ", " + config.gpu.name + " allows at most " + std::to_string(most));
  if (blocks > portable_cluster_blocks && !request.non_portable)
    throw input_error(cluster + ", at most " + std::to_string(portable_cluster_blocks) +
                      " are portable: expected fewer, or a launch that allows non-portable sizes");
  for (unsigned k = 0; k < 3; ++k)
    if (shape.grid[k] % shape.cluster[k] != 0)
      throw input_error(kernel + "a grid of " + triple_text(shape.grid) +
                        " blocks, expected a multiple of the cluster of " + triple_text(shape.cluster) +
                        " blocks in each dimension");
  if (config.partitions.empty() && max_active_clusters(config, blocks_per_sm, blocks) == 0)
    throw input_error(cluster + " fits no GPC of " + config.gpu.name + ", where " + std::to_string(blocks_per_sm) +
                      (blocks_per_sm == 1 ? " block fits" : " blocks fit") + " on an SM");
  if (blocks > 1 && (share.sms != 0 || !config.partitions.empty()))
    check_share(config, cluster, blocks, blocks_per_sm, share);
}

}  // namespace

launch_shape shape_of(const isa::program& program, const std::uint32_t grid[3], const cluster_request& request) {
  const std::string kernel = "kernel '" + program.kernel + "': ";
  launch_shape s;
  std::copy(grid, grid + 3, s.grid);
  const std::uint32_t* must = program.required_cluster;
  if (request.given()) std::copy(request.blocks, request.blocks + 3, s.cluster);
  else if (must[0] != 0) std::copy(must, must + 3, s.cluster);
  s.explicit_cluster = request.given() || must[0] != 0;
  if (must[0] != 0 && !std::equal(must, must + 3, s.cluster))
    throw input_error(kernel + "a cluster of " + triple_text(s.cluster) + " blocks, the kernel requires " +
                      triple_text(must) + " (.reqnctapercluster)");
  if (program.needs_cluster && !s.explicit_cluster)
    throw input_error(kernel +
                      "a launch without clusters, the kernel requires that their size is given (.explicitcluster)");
  if (program.grid_of_clusters)
    for (unsigned k = 0; k < 3; ++k) s.grid[k] *= s.cluster[k];
  return s;
}

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
                  const std::uint32_t block[3], std::uint32_t dynamic_shared_bytes, int carveout_percent,
                  const cluster_request& cluster, const sm_share& share) {
  const std::string kernel = "kernel '" + program.kernel + "': ";
  for (unsigned i = 0; i < 3; ++i)
    if (grid[i] == 0 || block[i] == 0)
      throw input_error(kernel + "a grid or block dimension is 0, expected at least 1");
  const launch_shape shape = shape_of(program, grid, cluster);
  // CUDA C++ Programming Guide, table of technical specifications per compute capability.
  if (shape.grid[0] > 2147483647u || shape.grid[1] > 65535 || shape.grid[2] > 65535)
    throw input_error(kernel + "a grid of " + triple_text(shape.grid) +
                      " blocks, at most 2147483647x65535x65535 are allowed");
  const std::uint64_t threads = std::uint64_t{block[0]} * block[1] * block[2];
  if (block[0] > 65535 || block[1] > 65535 || block[2] > 65535 || threads > config.sm.max_threads_per_block)
    throw input_error(kernel + "a block of " + triple_text(block) + " threads, " + config.gpu.name + " allows " +
                      std::to_string(config.sm.max_threads_per_block));
  if (block[2] > 64)
    throw input_error(kernel + "a block of " + triple_text(block) + " threads, at most 64 in z are allowed");
  check_directives(program, kernel, block, threads);
  const block_demand d = demand_of(program, static_cast<unsigned>(threads), dynamic_shared_bytes, carveout_percent);
  const occupancy_result o = compute(config, d);
  constexpr std::uint64_t reach = std::uint64_t{1} << isa::cluster_offset_bits;
  if (program.leaves_block && shape.cluster_blocks() > 1 && d.shared_bytes > reach)
    throw input_error(kernel + std::to_string(d.shared_bytes) +
                      " bytes of shared memory, blocks of a cluster can access " + std::to_string(reach) +
                      " of each other");
  if (o.blocks_per_sm != 0) return check_clusters(config, program, shape, cluster, o.blocks_per_sm, share);
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
