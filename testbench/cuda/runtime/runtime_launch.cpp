// SPDX-License-Identifier: MIT
// The runtime: functions that nvcc's generated code calls, and launches.
#include <algorithm>
#include <cstring>
#include <vector>

#include "testbench/cuda/core/capture.h"
#include "testbench/cuda/core/client.h"
#include "testbench/cuda/core/operations.h"
#include "testbench/cuda/core/runtime_calls.h"
#include "testbench/cuda/core/runtime_version.h"
#include "testbench/cuda/core/streams.h"
#include "testbench/cuda/driver/driver_image.h"

using namespace heddle;
using namespace heddle::cuda;

namespace {

struct pending_launch {
  dim3_t grid, block;
  std::size_t shared;
  stream_t stream;
};
std::vector<pending_launch>& pushed() { return value_of_thread<std::vector<pending_launch>>(); }

/// The error of calls with an address that is no kernel's.
error_t no_kernel(const void* function) {
  return noted(function == nullptr ? error::invalid_function : error::invalid_handle);
}

image* image_of(void** handle) { return reinterpret_cast<image*>(handle); }

error_t launch(const void* function, dim3_t grid, dim3_t block, void** arguments, std::size_t shared,
               std::uint32_t stream, const launch_traits& traits) {
  kernel_work w;
  const error_t e = kernel_of(function, grid, block, arguments, nullptr, shared, traits, w);
  return e == error::none ? launch(w, stream, manner::asynchronous) : noted(e);
}

error_t launch(const launch_config* c, const void* function, void** arguments, bool per_thread) {
  if (c == nullptr) return noted(error::invalid_value);
  launch_traits traits;
  if (registry::get().function(function) == nullptr) return no_kernel(function);
  if (const error_t e = read(c->attributes, c->attribute_count, traits); e != error::none) return noted(e);
  return launch(function, c->grid, c->block, arguments, c->dynamic_shared_bytes, stream_number(c->stream, per_thread),
                traits);
}

}  // namespace

error_t heddle::cuda::kernel_of(const void* function, dim3_t grid, dim3_t block, void** arguments, void** extra,
                                std::size_t shared, const launch_traits& traits, kernel_work& w) {
  registry::get().place_managed();
  function_record* f = registry::get().function(function);
  if (f == nullptr) return function == nullptr ? error::invalid_function : error::invalid_handle;
  if (f->status != error::none) return f->status;
  w.function = f;
  w.key = function;
  w.grid = grid;
  w.block = block;
  w.shared_bytes = static_cast<std::uint32_t>(shared);  // as in CUDA
  w.traits = traits;
  w.parameters.assign(f->parameters.empty() ? 0 : f->parameters.back().first + f->parameters.back().second, 0);
  if (arguments != nullptr) {
    for (std::size_t k = 0; k < f->parameters.size(); ++k)
      std::memcpy(w.parameters.data() + f->parameters[k].first, arguments[k], f->parameters[k].second);
    return error::none;
  }
  if (w.parameters.empty()) return error::none;
  if (extra == nullptr) return error::invalid_value;
  // Pairs of a name (0 end, 1 buffer, 2 size) and a pointer.
  const void* bytes = nullptr;
  const std::size_t* count = nullptr;
  for (; *extra != nullptr; extra += 2) {
    const auto name = reinterpret_cast<std::uintptr_t>(extra[0]);
    if (name > 2) return error::invalid_value;
    if (name == 1) bytes = extra[1];
    if (name == 2) count = static_cast<const std::size_t*>(extra[1]);
  }
  if (bytes == nullptr || count == nullptr) return error::invalid_value;
  if (*count > w.parameters.size()) return error::out_of_resources;
  std::memcpy(w.parameters.data(), bytes, *count);  // the rest is zero
  return error::none;
}

namespace {

error_t submit(const kernel_work& w, std::uint32_t stream, bool only_checked) {
  wire::launch_head head{};
  head.function = w.function->number;
  head.stream = stream;
  const unsigned g[3] = {w.grid.x, w.grid.y, w.grid.z}, b[3] = {w.block.x, w.block.y, w.block.z};
  std::memcpy(head.grid, g, sizeof g);
  std::memcpy(head.block, b, sizeof b);
  head.dynamic_shared_bytes = w.shared_bytes;
  const unsigned* const cluster = w.traits.cluster[0] != 0 ? w.traits.cluster : w.function->cluster;
  std::copy(cluster, cluster + 3, head.cluster);
  head.cooperative = w.traits.cooperative;
  head.programmatic = w.traits.programmatic;
  head.only_checked = only_checked;
  head.parameter_bytes = static_cast<std::uint32_t>(w.parameters.size());
  const error_t e =
      call(wire::call::launch, wire::writer().put(head).put_bytes(w.parameters.data(), w.parameters.size())).status;
  constexpr int unchecked_by_runtime = 13000;  // the driver has one error for all of these
  return e == error::invalid_configuration && runtime_version() >= unchecked_by_runtime ? error::invalid_value : e;
}

}  // namespace

error_t heddle::cuda::checked(const kernel_work& w) { return submit(w, 0, true); }

error_t heddle::cuda::launch(const kernel_work& w, std::uint32_t stream, manner how) {
  error_t result = error::none;
  if (captured(stream, how, w, result)) return result;
  error_t e = submit(w, stream, false);
  for (const event_t event : w.traits.ends_with) note_record(event_number(event));
  for (const event_t event : w.traits.ends_with)
    if (e == error::none)
      e = call(wire::call::record_event, wire::writer().put(event_number(event)).put(stream)).status;
  return noted(e);
}

HEDDLE_CUDA void** __cudaRegisterFatBinary(void* wrapper) {
  return reinterpret_cast<void**>(registry::get().add_image(2, parts_of_wrapper(wrapper)));
}
HEDDLE_CUDA void __cudaRegisterFatBinaryEnd(void**) {}
HEDDLE_CUDA void __cudaUnregisterFatBinary(void** handle) { registry::get().forget_variables(image_of(handle)); }
HEDDLE_CUDA char __cudaInitModule(void**) { return registry::get().place_managed() == error::none; }

HEDDLE_CUDA void __cudaRegisterFunction(void** handle, const char* host, char*, const char* name, int, void*, void*,
                                        void*, void*, int*) {
  registry::get().add_function(image_of(handle), host, name);
}
HEDDLE_CUDA void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int, std::size_t bytes, int,
                                   int) {
  registry::get().add_variable(image_of(handle), host, name, bytes, nullptr);
}
HEDDLE_CUDA void __cudaRegisterHostVar(void**, const char*, char*, std::size_t) {}
HEDDLE_CUDA void __cudaRegisterManagedVar(void** handle, void** host, char*, const char* name, int, std::size_t bytes,
                                          int, int) {
  registry::get().add_variable(image_of(handle), host, name, bytes, host);
}

HEDDLE_CUDA unsigned __cudaPushCallConfiguration(dim3_t grid, dim3_t block, std::size_t shared, void* stream) {
  pushed().push_back({grid, block, shared, stream});
  return 0;
}
HEDDLE_CUDA error_t __cudaPopCallConfiguration(dim3_t* grid, dim3_t* block, std::size_t* shared, void* stream) {
  if (pushed().empty()) return noted(error::missing_configuration);
  const pending_launch& l = pushed().back();
  *grid = l.grid;
  *block = l.block;
  *shared = l.shared;
  std::memcpy(stream, &l.stream, sizeof l.stream);
  pushed().pop_back();
  return error::none;
}

HEDDLE_CUDA error_t __cudaGetKernel(void** kernel, const void* function) {
  return put_result(kernel, const_cast<void*>(function));
}
HEDDLE_CUDA error_t __cudaLaunchKernel(const void* f, dim3_t grid, dim3_t block, void** arguments, std::size_t shared,
                                       stream_t s) {
  return launch(f, grid, block, arguments, shared, stream_number(s), {});
}
HEDDLE_CUDA error_t __cudaLaunchKernel_ptsz(const void* f, dim3_t grid, dim3_t block, void** arguments,
                                            std::size_t shared, stream_t s) {
  return launch(f, grid, block, arguments, shared, stream_number(s, true), {});
}
HEDDLE_CUDA error_t cudaLaunchKernel(const void* f, dim3_t grid, dim3_t block, void** arguments, std::size_t shared,
                                     stream_t s) {
  return launch(f, grid, block, arguments, shared, stream_number(s), {});
}
HEDDLE_CUDA error_t cudaLaunchKernel_ptsz(const void* f, dim3_t grid, dim3_t block, void** arguments,
                                          std::size_t shared, stream_t s) {
  return launch(f, grid, block, arguments, shared, stream_number(s, true), {});
}
HEDDLE_CUDA error_t cudaLaunchCooperativeKernel(const void* f, dim3_t grid, dim3_t block, void** arguments,
                                                std::size_t shared, stream_t s) {
  return launch(f, grid, block, arguments, shared, stream_number(s), {true});
}
HEDDLE_CUDA error_t cudaLaunchCooperativeKernel_ptsz(const void* f, dim3_t grid, dim3_t block, void** arguments,
                                                     std::size_t shared, stream_t s) {
  return launch(f, grid, block, arguments, shared, stream_number(s, true), {true});
}
HEDDLE_CUDA error_t cudaLaunchKernelExC(const launch_config* c, const void* f, void** arguments) {
  return launch(c, f, arguments, false);
}
HEDDLE_CUDA error_t cudaLaunchKernelExC_ptsz(const launch_config* c, const void* f, void** arguments) {
  return launch(c, f, arguments, true);
}

HEDDLE_CUDA error_t cudaGetKernel(void** kernel, const void* function) { return __cudaGetKernel(kernel, function); }
HEDDLE_CUDA error_t cudaGetFuncBySymbol(void** function, const void* symbol) {
  function_record* f = registry::get().function(symbol);
  if (f == nullptr) return noted(error::invalid_function);
  const error_t e = put_result(function, f);
  return e != error::none ? e : noted(f->status);
}
HEDDLE_CUDA error_t cudaFuncGetName(const char** name, const void* function) {
  function_record* f = registry::get().function(function);
  if (f == nullptr) return noted(function == nullptr ? error::invalid_value : error::invalid_handle);
  return put_result(name, f->name.c_str());
}

void heddle::cuda::show_clusters(const function_record& f, function_attributes_12& a) {
  const bool compiled = f.info.required_cluster[0] != 0;
  for (unsigned k = 0; k < 3; ++k)
    a.required_cluster[k] = static_cast<int>(compiled ? f.info.required_cluster[k] : f.cluster[k]);
  a.cluster_must_be_set = f.info.needs_cluster != 0;
  a.cluster_policy = f.cluster_policy;
  a.non_portable_cluster = f.non_portable_cluster;
  std::fill(std::begin(a.reserved), std::end(a.reserved), 0);
}

int heddle::cuda::most_dynamic_shared(const function_record& f) {
  return f.max_dynamic_shared != 0 ? f.max_dynamic_shared
                                   : chip()->shared_per_block - static_cast<int>(f.info.shared_bytes);
}

HEDDLE_CUDA error_t cudaFuncGetAttributes(function_attributes* a, const void* function) {
  function_record* f = registry::get().function(function);
  if (f == nullptr) return no_kernel(function);
  if (f->status != error::none) return noted(f->status);
  if (a == nullptr) return noted(error::invalid_value);
  std::memset(a, 0, sizeof *a);
  a->shared_bytes = f->info.shared_bytes;
  a->constant_bytes = f->info.constant_bytes;
  a->local_bytes = f->info.local_bytes;
  a->max_threads_per_block = static_cast<int>(f->info.max_threads);
  a->registers = static_cast<int>(f->info.registers);
  a->ptx_version = static_cast<int>(f->info.ptx_architecture);
  a->binary_version = static_cast<int>(f->info.architecture);
  a->max_dynamic_shared_bytes = most_dynamic_shared(*f);
  a->carveout = f->carveout;
  constexpr int with_clusters = 12000;
  if (runtime_version() >= with_clusters) show_clusters(*f, *static_cast<function_attributes_12*>(a));
  return noted(error::none);
}

HEDDLE_CUDA error_t cudaFuncSetAttribute(const void* function, int attribute, int value) {
  function_record* f = registry::get().function(function);
  if (f == nullptr) return no_kernel(function);
  if (f->status != error::none) return noted(f->status);
  constexpr int dynamic_shared = 8, carveout = 9, cluster_width = 11, cluster_depth = 13, non_portable_cluster = 14,
                cluster_policy = 15;
  if (attribute == dynamic_shared) {
    if (value < 0 || value > chip()->shared_per_block_optin - static_cast<int>(f->info.shared_bytes))
      return noted(error::invalid_value);
    f->max_dynamic_shared = value;
  } else if (attribute == carveout) {
    if (value < -1 || value > 100) return noted(error::invalid_value);
    f->carveout = value;
  } else if (attribute >= cluster_width && attribute <= cluster_depth) {
    if (value < 0 || f->info.required_cluster[0] != 0) return noted(error::invalid_value);
    f->cluster[attribute - cluster_width] = static_cast<unsigned>(value);
    return noted(error::none);
  } else if (attribute == non_portable_cluster) {
    f->non_portable_cluster = value != 0;
  } else if (attribute == cluster_policy) {  // a preference: default, spread, balance
    constexpr int balance = 2;
    if (value < 0 || value > balance) return noted(error::invalid_value);
    f->cluster_policy = value;
    return noted(error::none);
  } else {
    return noted(error::invalid_value);
  }
  const auto setting = attribute == carveout         ? wire::function_setting::carveout
                       : attribute == dynamic_shared ? wire::function_setting::dynamic_shared
                                                     : wire::function_setting::non_portable_cluster;
  return noted(
      call(wire::call::function_setting, wire::writer().put(f->number).put(setting).put(std::int32_t{value})).status);
}
HEDDLE_CUDA error_t cudaFuncGetParamInfo(const void* function, std::size_t index, std::size_t* offset,
                                         std::size_t* bytes) {
  const function_record* f = registry::get().function(function);
  if (f == nullptr) return no_kernel(function);
  if (f->status != error::none) return noted(f->status);
  if (offset == nullptr || index >= f->parameters.size()) return noted(error::invalid_value);
  *offset = f->parameters[index].first;
  if (bytes != nullptr) *bytes = f->parameters[index].second;
  return noted(error::none);
}
HEDDLE_CUDA error_t cudaFuncSetCacheConfig(const void* function, int preference) {
  // Prefer none, shared memory, L1, equal: a hint, as in CUDA.
  constexpr int percent[] = {-1, 100, 0, 50};
  if (preference < 0 || preference > 3) return noted(error::invalid_value);
  return cudaFuncSetAttribute(function, 9, percent[preference]);
}
HEDDLE_CUDA error_t cudaFuncSetSharedMemConfig(const void*, int config) {
  constexpr int eight_byte_banks = 2;
  return noted(config < 0 || config > eight_byte_banks ? error::invalid_value : error::none);
}

HEDDLE_CUDA error_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function,
                                                                           int threads, std::size_t dynamic,
                                                                           unsigned flags) {
  function_record* f = registry::get().function(function);
  if (f == nullptr) return no_kernel(function);
  if (f->status != error::none) return noted(f->status);
  if (blocks == nullptr || flags > 1 || threads <= 0) return noted(error::invalid_value);
  dynamic = static_cast<std::uint32_t>(dynamic);  // as in CUDA
  if (dynamic > static_cast<std::size_t>(most_dynamic_shared(*f))) {
    *blocks = 0;
    return noted(error::none);
  }
  const reply r =
      call(wire::call::occupancy,
           wire::writer().put(f->number).put(static_cast<std::uint32_t>(threads)).put(std::uint64_t{dynamic}));
  if (r.status == error::none) *blocks = static_cast<int>(r.read().get<std::uint32_t>());
  return noted(r.status);
}
HEDDLE_CUDA error_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads,
                                                                  std::size_t dynamic) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, dynamic, 0);
}
HEDDLE_CUDA error_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* function, int blocks,
                                                              int threads) {
  if (bytes == nullptr || blocks <= 0 || threads <= 0) return noted(error::invalid_value);
  int fit = 0;
  const error_t e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, function, threads, 0);
  if (e != error::none) return e;
  if (fit < blocks) return noted(error::invalid_value);
  // The SM's memory in equal parts; CUDA does not subtract what it keeps of each part for itself.
  constexpr int granularity = 128;
  const function_record& f = *registry::get().function(function);
  const int part = chip()->shared_per_sm / blocks / granularity * granularity;
  *bytes = static_cast<std::size_t>(std::min(most_dynamic_shared(f), part - static_cast<int>(f.info.shared_bytes)));
  return noted(error::none);
}
