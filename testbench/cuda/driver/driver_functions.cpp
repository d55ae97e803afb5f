// SPDX-License-Identifier: MIT
// The driver API: kernels, their attributes, occupancy, launches.
#include <cstring>
#include <iterator>

#include "testbench/cuda/core/operations.h"
#include "testbench/cuda/core/runtime_calls.h"
#include "testbench/cuda/driver/driver.h"

using namespace heddle;
using namespace heddle::cuda;

namespace {

/// CUlaunchConfig.
struct driver_launch_config {
  unsigned grid[3], block[3];
  unsigned dynamic_shared_bytes;
  stream_t stream;
  launch_attribute* attributes;
  unsigned attribute_count;
};

result_t launch_kernel(const void* function, dim3_t grid, dim3_t block, unsigned shared, stream_t stream,
                       bool per_thread, const launch_traits& traits, void** arguments, void** extra) {
  return driven([&]() -> error_t {
    if (arguments != nullptr && extra != nullptr) return error::invalid_value;
    kernel_work w;
    const error_t e = kernel_of(function, grid, block, arguments, extra, shared, traits, w);
    return e == error::invalid_function ? error::invalid_handle
           : e != error::none           ? e
                                        : launch(w, stream_number(stream, per_thread), manner::asynchronous);
  });
}

result_t launch_kernel(const driver_launch_config* c, const void* function, bool per_thread, void** arguments,
                       void** extra) {
  launch_traits traits;
  if (c == nullptr) return result::invalid_value;
  if (const error_t e = read(c->attributes, c->attribute_count, traits); e != error::none) return result_of(e);
  return launch_kernel(function, {c->grid[0], c->grid[1], c->grid[2]}, {c->block[0], c->block[1], c->block[2]},
                       c->dynamic_shared_bytes, c->stream, per_thread, traits, arguments, extra);
}

result_t get_attribute(int* value, int attribute, const void* function) {
  return driven([&]() -> error_t {
    function_attributes_12 a;
    if (value == nullptr) return error::invalid_value;
    const error_t e = cudaFuncGetAttributes(&a, function);
    if (e != error::none) return e == error::invalid_function ? error::invalid_handle : e;
    show_clusters(*registry::get().function(function), a);
    const int values[] = {a.max_threads_per_block,
                          static_cast<int>(a.shared_bytes),
                          static_cast<int>(a.constant_bytes),
                          static_cast<int>(a.local_bytes),
                          a.registers,
                          a.ptx_version,
                          a.binary_version,
                          a.cache_mode_ca,
                          a.max_dynamic_shared_bytes,
                          a.carveout,
                          a.cluster_must_be_set,
                          a.required_cluster[0],
                          a.required_cluster[1],
                          a.required_cluster[2],
                          a.non_portable_cluster,
                          a.cluster_policy};
    if (attribute < 0 || attribute >= static_cast<int>(std::size(values))) return error::invalid_value;
    *value = values[attribute];
    return error::none;
  });
}

result_t set_attribute(const void* function, int attribute, int value) {
  return driven([&]() -> error_t {
    if (attribute < 8 || attribute > 15) return error::invalid_value;  // lower attributes are properties of the kernel
    return cudaFuncSetAttribute(function, attribute, value);
  });
}

result_t parameter_of(const void* function, std::size_t index, std::size_t* offset, std::size_t* bytes) {
  return driven([&]() -> error_t {
    const function_record* f = registry::get().function(function);
    if (f == nullptr) return error::invalid_handle;
    if (f->status != error::none) return f->status;
    if (index >= f->parameters.size() || offset == nullptr) return error::invalid_value;
    *offset = f->parameters[index].first;
    if (bytes != nullptr) *bytes = f->parameters[index].second;
    return error::none;
  });
}

/// What a kernel has even if it cannot run.
template <class F>
result_t of_function(const void* function, F&& f) {
  return driven([&]() -> error_t {
    function_record* r = registry::get().function(function);
    return r == nullptr ? error::invalid_handle : f(*r);
  });
}

/// The smallest block size with the best occupancy.
error_t potential_block_size(int* grid, int* block, const void* function, std::size_t (*shared_of)(int),
                             std::size_t shared, int limit) {
  function_attributes_12 a;
  error_t e = cudaFuncGetAttributes(&a, function);
  if (e != error::none) return e;
  if (grid == nullptr || block == nullptr) return error::invalid_value;
  const int most = limit > 0 && limit < a.max_threads_per_block ? limit : a.max_threads_per_block;
  int best = 0, best_blocks = 0, best_threads = 0;
  for (int threads = (most + 31) / 32 * 32; threads > 0; threads -= 32) {
    const int size = threads < most ? threads : most;
    int blocks = 0;
    e = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, function, size,
                                                               shared_of != nullptr ? shared_of(size) : shared, 0);
    if (e != error::none) return e;
    if (blocks * size > best_threads) {
      best_threads = blocks * size;
      best = size;
      best_blocks = blocks;
    }
  }
  *grid = best_blocks * chip()->sms;
  *block = best;
  return error::none;
}

}  // namespace

HEDDLE_CUDA result_t cuLaunchKernel(const void* f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                    unsigned bz, unsigned shared, stream_t s, void** arguments, void** extra) {
  return launch_kernel(f, {gx, gy, gz}, {bx, by, bz}, shared, s, false, {}, arguments, extra);
}
HEDDLE_CUDA result_t cuLaunchKernel_ptsz(const void* f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                         unsigned bz, unsigned shared, stream_t s, void** arguments, void** extra) {
  return launch_kernel(f, {gx, gy, gz}, {bx, by, bz}, shared, s, true, {}, arguments, extra);
}
HEDDLE_CUDA result_t cuLaunchCooperativeKernel(const void* f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                               unsigned by, unsigned bz, unsigned shared, stream_t s,
                                               void** arguments) {
  return launch_kernel(f, {gx, gy, gz}, {bx, by, bz}, shared, s, false, {true}, arguments, nullptr);
}
HEDDLE_CUDA result_t cuLaunchCooperativeKernel_ptsz(const void* f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                                    unsigned by, unsigned bz, unsigned shared, stream_t s,
                                                    void** arguments) {
  return launch_kernel(f, {gx, gy, gz}, {bx, by, bz}, shared, s, true, {true}, arguments, nullptr);
}
HEDDLE_CUDA result_t cuLaunchKernelEx(const driver_launch_config* c, const void* f, void** arguments, void** extra) {
  return launch_kernel(c, f, false, arguments, extra);
}
HEDDLE_CUDA result_t cuLaunchKernelEx_ptsz(const driver_launch_config* c, const void* f, void** arguments,
                                           void** extra) {
  return launch_kernel(c, f, true, arguments, extra);
}

HEDDLE_CUDA result_t cuFuncGetAttribute(int* value, int attribute, const void* f) {
  return get_attribute(value, attribute, f);
}
HEDDLE_CUDA result_t cuFuncSetAttribute(const void* f, int attribute, int value) {
  return set_attribute(f, attribute, value);
}
HEDDLE_CUDA result_t cuFuncSetCacheConfig(const void* f, int preference) {
  return driven([&] { return cudaFuncSetCacheConfig(f, preference); });
}
HEDDLE_CUDA result_t cuFuncSetSharedMemConfig(const void* f, int banks) {
  constexpr int eight_bytes = 2;
  return of_function(
      f, [banks](function_record&) { return banks < 0 || banks > eight_bytes ? error::invalid_value : error::none; });
}
HEDDLE_CUDA result_t cuFuncGetModule(image** m, const void* f) {
  return of_function(f, [&](function_record& r) { return put_result(m, r.owner); });
}
HEDDLE_CUDA result_t cuFuncGetName(const char** name, const void* f) {
  return of_function(f, [&](function_record& r) { return put_result(name, r.name.c_str()); });
}
HEDDLE_CUDA result_t cuFuncGetParamInfo(const void* f, std::size_t index, std::size_t* offset, std::size_t* bytes) {
  return parameter_of(f, index, offset, bytes);
}
HEDDLE_CUDA result_t cuFuncIsLoaded(int* state, const void* f) {
  return of_function(f, [&](function_record&) { return put_result(state, 1); });
}
HEDDLE_CUDA result_t cuFuncLoad(const void* f) {
  return of_function(f, [](function_record&) { return error::none; });
}

HEDDLE_CUDA result_t cuKernelGetFunction(const void** function, const void* kernel) {
  return of_function(kernel, [&](function_record& r) { return put_result(function, &r); });
}
HEDDLE_CUDA result_t cuKernelGetLibrary(image** l, const void* kernel) {
  return of_function(kernel, [&](function_record& r) { return put_result(l, r.owner); });
}
HEDDLE_CUDA result_t cuKernelGetName(const char** name, const void* kernel) { return cuFuncGetName(name, kernel); }
HEDDLE_CUDA result_t cuKernelGetParamInfo(const void* kernel, std::size_t index, std::size_t* offset,
                                          std::size_t* bytes) {
  return parameter_of(kernel, index, offset, bytes);
}
HEDDLE_CUDA result_t cuKernelGetAttribute(int* value, int attribute, const void* kernel, device_t device) {
  return device != 0 ? result::invalid_device : get_attribute(value, attribute, kernel);
}
HEDDLE_CUDA result_t cuKernelSetAttribute(int attribute, int value, const void* kernel, device_t device) {
  return device != 0 ? result::invalid_device : set_attribute(kernel, attribute, value);
}
HEDDLE_CUDA result_t cuKernelSetCacheConfig(const void* kernel, int preference, device_t device) {
  return device != 0 ? result::invalid_device : cuFuncSetCacheConfig(kernel, preference);
}

HEDDLE_CUDA result_t cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* f, int threads,
                                                                          std::size_t shared, unsigned flags) {
  return driven(
      [&] { return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, f, threads, shared, flags); });
}
HEDDLE_CUDA result_t cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* f, int threads,
                                                                 std::size_t shared) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, f, threads, shared, 0);
}
HEDDLE_CUDA result_t cuOccupancyMaxActiveClusters(int* clusters, const void* f, const driver_launch_config* c) {
  return driven([&]() -> error_t {
    const function_record* r = registry::get().function(f);
    if (r == nullptr) return error::invalid_handle;
    if (r->status != error::none) return r->status;
    if (clusters == nullptr || c == nullptr) return error::invalid_value;
    launch_traits traits;
    if (const error_t e = read(c->attributes, c->attribute_count, traits); e != error::none) return e;
    return active_clusters(*r, {c->block[0], c->block[1], c->block[2]}, c->dynamic_shared_bytes,
                           cluster_blocks(*r, traits), *clusters);
  });
}
HEDDLE_CUDA result_t cuOccupancyMaxPotentialClusterSize(int* blocks, const void* f, const driver_launch_config* c) {
  return driven([&]() -> error_t {
    const function_record* r = registry::get().function(f);
    if (r == nullptr) return error::invalid_handle;
    if (r->status != error::none) return r->status;
    if (blocks == nullptr || c == nullptr) return error::invalid_value;
    launch_traits traits;
    if (const error_t e = read(c->attributes, c->attribute_count, traits); e != error::none) return e;
    return largest_cluster(*r, {c->block[0], c->block[1], c->block[2]}, c->dynamic_shared_bytes,
                           cluster_blocks(*r, traits), *blocks);
  });
}
HEDDLE_CUDA result_t cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, const void* f,
                                                               std::size_t (*shared_of)(int), std::size_t shared,
                                                               int limit, unsigned) {
  return driven([&] { return potential_block_size(grid, block, f, shared_of, shared, limit); });
}
HEDDLE_CUDA result_t cuOccupancyMaxPotentialBlockSize(int* grid, int* block, const void* f,
                                                      std::size_t (*shared_of)(int), std::size_t shared, int limit) {
  return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, f, shared_of, shared, limit, 0);
}
HEDDLE_CUDA result_t cuOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* f, int blocks,
                                                             int threads) {
  return driven([&] { return cudaOccupancyAvailableDynamicSMemPerBlock(bytes, f, blocks, threads); });
}
