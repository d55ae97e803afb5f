// SPDX-License-Identifier: MIT
// The runtime: occupancy of thread block clusters.
#include <algorithm>

#include "testbench/cuda/core/operations.h"
#include "testbench/cuda/core/runtime_calls.h"

using namespace heddle;
using namespace heddle::cuda;

namespace {

/// Blocks of a cluster that the function's launches may have.
unsigned most_blocks(const function_record& f) {
  constexpr unsigned portable = 8;
  const wire::device_info* d = chip();
  const auto most = static_cast<unsigned>(d != nullptr ? d->max_cluster_blocks : 0);
  return f.non_portable_cluster ? most : std::min(most, portable);
}

error_t found(const void* function, const launch_config* c, const int* result, function_record*& f) {
  f = registry::get().function(function);
  if (f == nullptr) return error::invalid_function;
  if (f->status != error::none) return f->status;
  return any_null(c, result) ? error::invalid_value : error::none;
}

}  // namespace

unsigned heddle::cuda::cluster_blocks(const function_record& f, const launch_traits& traits) {
  const unsigned* size = traits.cluster[0] != 0            ? traits.cluster
                         : f.info.required_cluster[0] != 0 ? f.info.required_cluster
                                                           : f.cluster;
  std::uint64_t blocks = 1;
  for (unsigned k = 0; k < 3; ++k) blocks = std::min<std::uint64_t>(blocks * std::max(size[k], 1u), 0xffffffffu);
  return static_cast<unsigned>(blocks);
}

error_t heddle::cuda::active_clusters(const function_record& f, dim3_t block, std::size_t shared, unsigned blocks,
                                      int& clusters) {
  if (shared > static_cast<std::size_t>(most_dynamic_shared(f))) {
    clusters = 0;
    return error::none;
  }
  if (blocks > most_blocks(f)) return error::invalid_cluster_size;
  const std::uint32_t threads = block.x * block.y * block.z;
  const reply r = call(wire::call::active_clusters,
                       wire::writer().put(f.number).put(threads).put(std::uint64_t{shared}).put(std::uint32_t{blocks}));
  if (r.status == error::none) clusters = static_cast<int>(r.read().get<std::uint32_t>());
  return r.status;
}

error_t heddle::cuda::largest_cluster(const function_record& f, dim3_t block, std::size_t shared, unsigned asked,
                                      int& blocks) {
  if (!f.non_portable_cluster && asked > most_blocks(f)) return error::invalid_cluster_size;
  for (unsigned size = most_blocks(f); size > 0; --size) {
    int clusters = 0;
    const error_t e = active_clusters(f, block, shared, size, clusters);
    if (e != error::none) return e;
    if (clusters == 0) continue;
    blocks = static_cast<int>(size);
    return error::none;
  }
  return error::invalid_cluster_size;
}

HEDDLE_CUDA error_t cudaOccupancyMaxActiveClusters(int* clusters, const void* function, const launch_config* c) {
  function_record* f = nullptr;
  const error_t e = found(function, c, clusters, f);
  if (e != error::none) return noted(e);
  launch_traits traits;
  if (const error_t wrong = read(c->attributes, c->attribute_count, traits); wrong != error::none) return noted(wrong);
  return noted(active_clusters(*f, c->block, c->dynamic_shared_bytes, cluster_blocks(*f, traits), *clusters));
}
HEDDLE_CUDA error_t cudaOccupancyMaxPotentialClusterSize(int* blocks, const void* function, const launch_config* c) {
  function_record* f = nullptr;
  const error_t e = found(function, c, blocks, f);
  if (e != error::none) return noted(e);
  launch_traits traits;
  if (const error_t wrong = read(c->attributes, c->attribute_count, traits); wrong != error::none) return noted(wrong);
  return noted(largest_cluster(*f, c->block, c->dynamic_shared_bytes, cluster_blocks(*f, traits), *blocks));
}
