// SPDX-License-Identifier: MIT
// The runtime: stream-ordered allocation and memory pools. A pool only keeps statistics: its memory is the device's,
// to which freed memory returns.
#include <algorithm>
#include <map>
#include <set>

#include "testbench/cuda/core/capture.h"
#include "testbench/cuda/core/client.h"
#include "testbench/cuda/core/host_memory.h"
#include "testbench/cuda/core/pool.h"
#include "testbench/cuda/core/registry.h"
#include "testbench/cuda/core/streams.h"

using namespace heddle;
using namespace heddle::cuda;

namespace heddle::cuda {

namespace {

// Values of cudaMemPoolAttr and cudaGraphMemAttributeType.
constexpr int reuse_follow_events = 1, reuse_internal = 3, release_threshold = 4, reserved_now = 5, reserved_high = 6,
              used_now = 7, used_high = 8;

constexpr int read_and_write = 3;
/// cudaMemAccessDesc.
struct pool_access {
  int location_type, location;
  int flags;
};

struct pool {
  pool_properties properties{};
  int reuse[3] = {1, 1, 1};
  std::uint64_t threshold = 0, used = 0, high = 0;
};
struct pool_allocation {
  pool* from = nullptr;
  std::size_t bytes = 0;
};
library_mutex pools_mutex;
std::set<pool*>& pools() {
  static auto* all = new std::set<pool*>;
  return *all;
}
std::map<const void*, pool_allocation>& pool_allocations() {
  static auto* all = new std::map<const void*, pool_allocation>;
  return *all;
}
pool& default_pool() {
  static auto* the_pool = [] {
    auto* p = new pool;
    p->properties.allocation_type = p->properties.location_type = 1;
    pools().insert(p);
    return p;
  }();
  return *the_pool;
}
pool* current = nullptr;
pool* current_pool() { return current != nullptr ? current : &default_pool(); }
bool is_known(pool* p) { return p == &default_pool() || pools().count(p) != 0; }

std::uint64_t graph_used = 0, graph_high = 0, graph_reserved = 0, graph_reserved_high = 0;
void count_graph_memory() {
  graph_used = graph_reserved = 0;
  for_each_graph_memory([](const graph_memory& m) {
    graph_reserved += m.bytes;
    if (m.live) graph_used += m.bytes;
  });
  graph_high = std::max(graph_high, graph_used);
  graph_reserved_high = std::max(graph_reserved_high, graph_reserved);
}

error_t allocate(void** p, std::size_t bytes, pool* from, std::uint32_t stream) {
  if (p == nullptr) return noted(error::invalid_value);
  if (!is_stream(stream)) return noted(error::invalid_handle);
  if (bytes == 0) return allocate_device(p, bytes);
  if (is_captured(stream)) {
    error_t result = error::none;
    captured_allocation(stream, bytes, p, result);
    return result;
  }
  {
    const std::lock_guard<std::mutex> lock(pools_mutex);
    if (from == nullptr) from = current_pool();
    if (!is_known(from)) return noted(error::invalid_value);
    const std::size_t most = from->properties.most_bytes;
    if (most != 0 && (bytes > most || from->used > most - bytes)) return noted(error::out_of_memory);
  }
  const error_t e = allocate_device(p, bytes);
  if (e != error::none) return e;
  const std::lock_guard<std::mutex> lock(pools_mutex);
  pool_allocations()[*p] = {from, bytes};
  from->used += bytes;
  from->high = std::max(from->high, from->used);
  return error::none;
}

// Stream order is ensured by waiting for the stream.
error_t release(void* p, std::uint32_t stream) {
  if (!is_stream(stream)) return noted(error::invalid_handle);
  if (is_captured(stream)) {
    error_t result = error::none;
    captured_free(stream, p, result);
    return result;
  }
  return free_memory(p);
}

}  // namespace

void leave_pool(const void* p) {
  const std::lock_guard<std::mutex> lock(pools_mutex);
  const auto found = pool_allocations().find(p);
  if (found == pool_allocations().end()) return;
  if (is_known(found->second.from)) found->second.from->used -= found->second.bytes;
  pool_allocations().erase(found);
}

}  // namespace heddle::cuda

HEDDLE_BOTH(cudaMallocAsync, cudaMallocAsync_ptsz, (void** p, std::size_t bytes, stream_t s),
            return allocate(p, bytes, nullptr, stream_number(s, per_thread));)
HEDDLE_BOTH(cudaMallocFromPoolAsync, cudaMallocFromPoolAsync_ptsz,
            (void** p, std::size_t bytes, pool* from, stream_t s),
            return from == nullptr ? noted(error::invalid_value)
                                   : allocate(p, bytes, from, stream_number(s, per_thread));)
HEDDLE_BOTH(cudaFreeAsync, cudaFreeAsync_ptsz, (void* p, stream_t s), return release(p, stream_number(s, per_thread));)

HEDDLE_CUDA error_t cudaDeviceGetDefaultMemPool(pool** p, int device) {
  if (device != 0) return noted(error::invalid_device);
  const std::lock_guard<std::mutex> lock(pools_mutex);
  return put_result(p, &default_pool());
}
HEDDLE_CUDA error_t cudaDeviceGetMemPool(pool** p, int device) {
  if (device != 0) return noted(error::invalid_device);
  const std::lock_guard<std::mutex> lock(pools_mutex);
  return put_result(p, current_pool());
}
HEDDLE_CUDA error_t cudaDeviceSetMemPool(int device, pool* p) {
  if (device != 0) return noted(error::invalid_value);
  const std::lock_guard<std::mutex> lock(pools_mutex);
  if (!is_known(p)) return noted(error::invalid_value);
  current = p;
  return error::none;
}
// The same for a location and an allocation type; only pinned memory of the device is supported.
HEDDLE_CUDA error_t cudaMemGetDefaultMemPool(pool** p, const int* location, int type) {
  if (location == nullptr) return noted(error::invalid_value);
  return location[0] == 1 && type == 1 ? cudaDeviceGetDefaultMemPool(p, location[1]) : noted(error::not_supported);
}
HEDDLE_CUDA error_t cudaMemGetMemPool(pool** p, const int* location, int type) {
  if (location == nullptr) return noted(error::invalid_value);
  return location[0] == 1 && type == 1 ? cudaDeviceGetMemPool(p, location[1]) : noted(error::not_supported);
}
HEDDLE_CUDA error_t cudaMemSetMemPool(const int* location, int type, pool* p) {
  if (location == nullptr) return noted(error::invalid_value);
  return location[0] == 1 && type == 1 ? cudaDeviceSetMemPool(location[1], p) : noted(error::not_supported);
}
HEDDLE_CUDA error_t cudaMemPoolCreate(pool** p, const pool_properties* properties) {
  constexpr int pinned = 1, nowhere = 0, on_device = 1, known_handles = 1 | 2 | 4 | 8;
  if (p == nullptr || properties == nullptr || properties->allocation_type != pinned)
    return noted(error::invalid_value);
  if (properties->location_type == nowhere || (properties->handle_types & ~known_handles) != 0)
    return noted(error::invalid_value);
  if (properties->location_type != on_device) return noted(error::not_supported);
  if (properties->location != 0) return noted(error::invalid_value);
  if (properties->handle_types != 0) return noted(error::not_supported);  // pools cannot be shared with other processes
  const std::lock_guard<std::mutex> lock(pools_mutex);
  *p = new pool;
  (*p)->properties = *properties;
  pools().insert(*p);
  return error::none;
}
HEDDLE_CUDA error_t cudaMemPoolDestroy(pool* p) {
  const std::lock_guard<std::mutex> lock(pools_mutex);
  if (p == &default_pool() || pools().erase(p) == 0) return noted(error::invalid_value);
  if (current == p) current = nullptr;
  delete p;
  return error::none;
}
HEDDLE_CUDA error_t cudaMemPoolTrimTo(pool* p, std::size_t) {
  const std::lock_guard<std::mutex> lock(pools_mutex);
  return is_known(p) ? error::none : noted(error::invalid_value);  // a pool never retains freed memory
}
HEDDLE_CUDA error_t cudaMemPoolGetAttribute(pool* p, int attribute, void* value) {
  const std::lock_guard<std::mutex> lock(pools_mutex);
  if (!is_known(p) || value == nullptr) return noted(error::invalid_value);
  if (attribute >= reuse_follow_events && attribute <= reuse_internal) {
    *static_cast<int*>(value) = p->reuse[attribute - reuse_follow_events];
    return error::none;
  }
  auto* number = static_cast<std::uint64_t*>(value);
  switch (attribute) {
    case release_threshold: *number = p->threshold; return error::none;
    case reserved_now:
    case used_now: *number = p->used; return error::none;
    case reserved_high:
    case used_high: *number = p->high; return error::none;
    default: return noted(error::invalid_value);
  }
}
HEDDLE_CUDA error_t cudaMemPoolSetAttribute(pool* p, int attribute, const void* value) {
  const std::lock_guard<std::mutex> lock(pools_mutex);
  if (!is_known(p) || value == nullptr) return noted(error::invalid_value);
  if (attribute >= reuse_follow_events && attribute <= reuse_internal) {
    p->reuse[attribute - reuse_follow_events] = *static_cast<const int*>(value);
    return error::none;
  }
  const std::uint64_t number = *static_cast<const std::uint64_t*>(value);
  if (attribute == release_threshold) {
    p->threshold = number;
  } else if ((attribute == reserved_high || attribute == used_high) && number == 0) {
    p->high = p->used;
  } else {
    return noted(error::invalid_value);
  }
  return error::none;
}
// The only device owns the pool and keeps its access.
HEDDLE_CUDA error_t cudaMemPoolSetAccess(pool* p, const pool_access* all, std::size_t count) {
  const std::lock_guard<std::mutex> lock(pools_mutex);
  if (!is_known(p) || (all == nullptr && count != 0)) return noted(error::invalid_value);
  const bool keeps =
      std::all_of(all, all + count, [](const pool_access& a) { return a.location == 0 && a.flags == read_and_write; });
  return keeps ? error::none : noted(error::invalid_device);
}
// No pool can be shared, so that none has memory to export.
HEDDLE_CUDA error_t cudaMemPoolExportPointer(void*, void*) { return noted(error::invalid_value); }
HEDDLE_CUDA error_t cudaMemPoolGetAccess(int* flags, pool* p, const void*) {
  const std::lock_guard<std::mutex> lock(pools_mutex);
  return is_known(p) ? put_result(flags, read_and_write) : noted(error::invalid_value);
}

HEDDLE_CUDA error_t cudaDeviceGetGraphMemAttribute(int device, int attribute, void* value) {
  if (device != 0) return noted(error::invalid_device);
  if (attribute < 0 || attribute > 3 || value == nullptr) return noted(error::invalid_value);
  const std::lock_guard<std::mutex> lock(pools_mutex);
  count_graph_memory();
  const std::uint64_t values[4] = {graph_used, graph_high, graph_reserved, graph_reserved_high};
  *static_cast<std::uint64_t*>(value) = values[attribute];
  return error::none;
}
HEDDLE_CUDA error_t cudaDeviceSetGraphMemAttribute(int device, int attribute, const void* value) {
  if (device != 0) return noted(error::invalid_device);
  if (value == nullptr || *static_cast<const std::uint64_t*>(value) != 0) return noted(error::invalid_value);
  if (attribute != 1 && attribute != 3) return noted(error::invalid_value);  // the high-water marks
  const std::lock_guard<std::mutex> lock(pools_mutex);
  (attribute == 1 ? graph_high : graph_reserved_high) = 0;
  count_graph_memory();
  return error::none;
}
HEDDLE_CUDA error_t cudaDeviceGraphMemTrim(int device) {
  return device == 0 ? error::none : noted(error::invalid_device);
}
