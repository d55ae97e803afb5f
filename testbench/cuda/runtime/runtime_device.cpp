// SPDX-License-Identifier: MIT
// The runtime: the device, its properties and its limits.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "testbench/cuda/core/capture.h"
#include "testbench/cuda/core/context.h"
#include "testbench/cuda/core/device_facts.h"
#include "testbench/cuda/core/host_memory.h"
#include "testbench/cuda/core/runtime_calls.h"
#include "testbench/cuda/core/runtime_version.h"
#include "testbench/cuda/core/streams.h"

using namespace heddle;
using namespace heddle::cuda;

namespace {

thread_local int current_device = 0;
unsigned device_flags = 0;
int cache_preference = 0;

// Limits of texture and surface sizes: CUDA C++ Programming Guide, technical specifications, compute capability 5.0 and
// later.
template <class P>
void fill_common(P& p, const wire::device_info& d) {
  std::memcpy(p.name, d.name, sizeof p.name);
  std::memcpy(p.uuid, "heddle-device-0", 16);
  p.total_memory = d.memory_bytes;
  p.shared_per_block = static_cast<std::size_t>(d.shared_per_block);
  p.registers_per_block = d.registers_per_block;
  p.warp_size = 32;
  p.pitch = 2147483647;
  p.max_threads_per_block = d.max_threads_per_block;
  p.max_threads_dim[0] = p.max_threads_dim[1] = d.max_threads_per_block;
  p.max_threads_dim[2] = 64;
  p.max_grid[0] = d.major >= 3 ? 2147483647 : 65535;
  p.max_grid[1] = p.max_grid[2] = 65535;
  p.constant_bytes = 65536;
  p.major = d.major;
  p.minor = d.minor;
  p.texture_alignment = p.surface_alignment = 512;
  p.texture_pitch_alignment = 32;
  p.sms = d.sms;
  p.can_map_host_memory = 1;
  p.texture_1d = 131072;
  p.surface_1d = 32768;
  p.texture_1d_mipmap = 32768;
  for (int k = 0; k < 2; ++k) {
    p.texture_2d[k] = k == 0 ? 131072 : 65536;
    p.texture_2d_mipmap[k] = p.texture_2d_gather[k] = 32768;
    p.surface_2d[k] = k == 0 ? 131072 : 65536;
  }
  p.texture_2d_linear[0] = 131072;
  p.texture_2d_linear[1] = 65000;
  p.texture_2d_linear[2] = 2097120;
  for (int k = 0; k < 3; ++k) {
    p.texture_3d[k] = 16384;
    p.texture_3d_alternate[k] = k == 2 ? 32768 : 8192;
    p.surface_3d[k] = 16384;
    p.texture_2d_layers[k] = p.surface_2d_layers[k] = k == 2 ? 2048 : 32768;
  }
  p.texture_cube = p.surface_cube = 32768;
  p.texture_1d_layers[0] = p.surface_1d_layers[0] = p.texture_cube_layers[0] = p.surface_cube_layers[0] = 32768;
  p.texture_1d_layers[1] = p.surface_1d_layers[1] = 2048;
  p.texture_cube_layers[1] = p.surface_cube_layers[1] = 2046;
  p.concurrent_kernels = 1;
  p.pci_bus = 1;
  p.copy_engines = 2;
  p.memory_bus_bits = d.memory_bus_bits;
  p.l2_bytes = d.l2_bytes;
  p.max_threads_per_sm = d.max_threads_per_sm;
  p.stream_priorities = p.unified_addressing = p.managed_memory = 1;
  p.global_l1 = p.local_l1 = 1;
  p.shared_per_sm = static_cast<std::size_t>(d.shared_per_sm);
  p.registers_per_sm = d.registers_per_sm;
  p.concurrent_managed = d.major >= 6;
  p.preemption = d.preemption;
  p.cooperative_launch = d.major >= 6;
  p.shared_per_block_optin = static_cast<std::size_t>(d.shared_per_block_optin);
  p.max_blocks_per_sm = d.max_blocks_per_sm;
  p.reserved_shared_per_block = static_cast<std::size_t>(d.reserved_shared_per_block);
  p.host_pointer_for_registered = 1;
}

template <class P>
void fill_persisting(P& p, const wire::device_info& d) {
  p.access_window = d.major >= 8 ? 128 << 20 : 0;
  p.persisting_l2 = static_cast<int>(most_persisting(d));
}

void fill_old(device_properties_11& p, const wire::device_info& d) {
  p.clock_khz = d.clock_khz;
  p.memory_clock_khz = d.memory_clock_khz;
  p.device_overlap = 1;
  p.texture_1d_linear = 1 << 28;
  p.single_to_double = d.major == 6 || d.major == 7 || d.major >= 8 ? 2 : 32;
}

template <class P>
void fill_new(P& p, const wire::device_info& d) {
  p.host_register = p.host_register_read_only = p.memory_pools = 1;
  p.sparse_arrays = p.deferred_mapping = 1;
  p.cluster_launch = d.max_cluster_blocks != 0;
  p.unified_function_pointers = 1;
}

template <class P>
error_t fill(void* to, int device, void (*more)(P&, const wire::device_info&)) {
  const wire::device_info* d = chip();
  if (d == nullptr) return noted(error::no_device);
  if (device != 0) return noted(error::invalid_device);
  if (to == nullptr) return noted(error::invalid_value);
  P p{};
  fill_common(p, *d);
  fill_persisting(p, *d);
  if (more != nullptr) more(p, *d);
  std::memcpy(to, &p, sizeof p);
  return error::none;
}

error_t fill_12(void* to, int device) {
  return fill<device_properties_12>(to, device, [](device_properties_12& p, const wire::device_info& d) {
    fill_old(p, d);
    fill_new(p, d);
  });
}

}  // namespace

device_properties_12 heddle::cuda::properties_of(const wire::device_info& d) {
  device_properties_12 p{};
  fill_common(p, d);
  fill_persisting(p, d);
  fill_old(p, d);
  fill_new(p, d);
  return p;
}

HEDDLE_CUDA error_t cudaGetDeviceCount(int* count) {
  const bool has_device = chip() != nullptr;
  const error_t e = put_result(count, has_device ? 1 : 0);
  return e != error::none || has_device ? e : noted(error::no_device);
}
HEDDLE_CUDA error_t cudaSetDevice(int device) {
  if (device != 0) return noted(error::invalid_device);
  current_device = device;
  if (chip() != nullptr) use_primary_context();
  return error::none;
}
HEDDLE_CUDA error_t cudaInitDevice(int device, unsigned, unsigned) { return cudaSetDevice(device); }
HEDDLE_CUDA error_t cudaGetDevice(int* device) { return put_result(device, current_device); }
HEDDLE_CUDA error_t cudaChooseDevice(int* device, const void* properties) {
  return properties == nullptr ? noted(error::invalid_value) : put_result(device, 0);
}
HEDDLE_CUDA error_t cudaSetValidDevices(const int* devices, int count) {
  if (count < 0 || count > 1 || (devices == nullptr && count != 0)) return noted(error::invalid_value);
  return noted(count == 1 && *devices != 0 ? error::invalid_device : error::none);
}
HEDDLE_CUDA error_t cudaSetDeviceFlags(unsigned flags) {
  if (!are_context_flags(flags)) return noted(error::invalid_value);
  device_flags = flags;
  return noted(error::none);
}
HEDDLE_CUDA error_t cudaGetDeviceFlags(unsigned* flags) {
  constexpr unsigned mapped_memory = 8;  // always
  return put_result(flags, device_flags | mapped_memory);
}

/// One name for two structures: that of the runtime version the program was compiled for.
HEDDLE_CUDA error_t cudaGetDeviceProperties(void* to, int device) {
  if (runtime_version() >= 13000)
    return fill<device_properties_13>(to, device, [](device_properties_13& p, const wire::device_info& d) {
      fill_new(p, d);
      p.numa_id = p.host_numa = -1;
    });
  if (runtime_version() >= 12000) return fill_12(to, device);
  return fill<device_properties_11>(to, device, fill_old);
}
HEDDLE_CUDA error_t cudaGetDeviceProperties_v2(void* to, int device) { return fill_12(to, device); }

HEDDLE_CUDA error_t cudaDeviceSynchronize() {
  error_t result = error::none;
  return captured_question(wire::wait_kind::device, 0, result) ? result : noted(wait(wire::wait_kind::device, 0));
}
HEDDLE_CUDA error_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
/// Memory is released, and modules are loaded again with the values of their variables. After a failure the modelled
/// GPU has stopped for good.
HEDDLE_CUDA error_t cudaDeviceReset() {
  constexpr error_t unavailable = 46;
  if (gpu_failure() != error::none) {
    set_gpu_failure(unavailable);
    last_error = error::none;
    return error::none;
  }
  if (const error_t e = cudaDeviceSynchronize(); e != error::none) return e;
  if (!current_context()->primary) return noted(error::none);  // one that the program made by the driver API
  call(wire::call::context_ends, wire::writer());
  release_of(current_context());
  registry::get().forget_modules();
  return noted(error::none);
}
HEDDLE_CUDA error_t cudaThreadExit() { return cudaDeviceReset(); }
/// Kept, and without effect.
HEDDLE_CUDA error_t cudaDeviceSetCacheConfig(int preference) {
  constexpr int equal = 3;
  if (preference < 0 || preference > equal) return noted(error::invalid_value);
  cache_preference = preference;
  return noted(error::none);
}
HEDDLE_CUDA error_t cudaThreadSetCacheConfig(int preference) { return cudaDeviceSetCacheConfig(preference); }
HEDDLE_CUDA error_t cudaDeviceGetCacheConfig(int* preference) { return put_result(preference, cache_preference); }
HEDDLE_CUDA error_t cudaDeviceSetSharedMemConfig(int banks) {
  constexpr int eight_bytes = 2;
  return noted(banks < 0 || banks > eight_bytes ? error::invalid_value : error::none);
}
HEDDLE_CUDA error_t cudaDeviceGetSharedMemConfig(int* banks) { return put_result(banks, 1); }  // four-byte banks
HEDDLE_CUDA error_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (gpu_failure() != error::none) return noted(gpu_failure());
  if (least != nullptr) *least = least_priority;
  if (greatest != nullptr) *greatest = greatest_priority;
  return error::none;
}

/// Nothing else writes to the modelled chip's memory.
HEDDLE_CUDA error_t cudaDeviceFlushGPUDirectRDMAWrites(int target, int scope) {
  constexpr int to_owner = 100, to_all_devices = 200;
  return noted(target != 0 || (scope != to_owner && scope != to_all_devices) ? error::invalid_value : error::none);
}

// The only device has no peer.
HEDDLE_CUDA error_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  if (can == nullptr) return noted(error::invalid_value);
  return device != 0 || peer != 0 ? noted(error::invalid_device) : put_result(can, 0);
}
HEDDLE_CUDA error_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return noted(flags != 0 ? error::invalid_value : peer != 0 ? error::invalid_device : error::peer_unsupported);
}
HEDDLE_CUDA error_t cudaDeviceDisablePeerAccess(int peer) {
  constexpr error_t not_enabled = 705;
  return noted(peer != 0 ? error::invalid_device : not_enabled);
}
HEDDLE_CUDA error_t cudaDeviceGetP2PAttribute(int* value, int, int, int) {
  return noted(value == nullptr ? error::invalid_value : error::invalid_device);
}
HEDDLE_CUDA error_t cudaDeviceGetPCIBusId(char* text, int bytes, int device) {
  constexpr int least_bytes = 13;
  if (device != 0) return noted(error::invalid_device);
  if (text == nullptr || bytes < least_bytes) return noted(error::invalid_value);
  std::snprintf(text, static_cast<std::size_t>(bytes), "0000:01:00.0");
  return error::none;
}
HEDDLE_CUDA error_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  unsigned domain = 0, bus = 0, slot = 0, function = 0;
  if (any_null(device, text)) return noted(error::invalid_value);
  const bool is_long = std::sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function) >= 3;
  if (!is_long) domain = function = 0;
  if (!is_long && std::sscanf(text, "%x:%x.%x", &bus, &slot, &function) < 2) return noted(error::invalid_value);
  return domain != 0 || bus != 1 || slot != 0 || function != 0 ? noted(error::invalid_device) : put_result(device, 0);
}

HEDDLE_CUDA error_t cudaRuntimeGetVersion(int* version) { return put_result(version, runtime_version()); }
HEDDLE_CUDA error_t cudaDriverGetVersion(int* version) { return put_result(version, 13000); }
HEDDLE_CUDA error_t cudaProfilerStart() { return error::none; }
HEDDLE_CUDA error_t cudaProfilerStop() { return error::none; }

// Memory and events for other processes: refused as systems do that cannot do it, for programs that can do without.
namespace {
struct ipc_handle {
  char reserved[64];
};
}  // namespace

HEDDLE_CUDA error_t cudaIpcGetMemHandle(ipc_handle* h, void* p) {
  return noted(h == nullptr || allocation_of(p).type != device ? error::invalid_value : error::not_supported);
}
// There is no handle that these could know.
HEDDLE_CUDA error_t cudaIpcOpenMemHandle(void**, ipc_handle, unsigned) { return noted(error::invalid_value); }
HEDDLE_CUDA error_t cudaIpcCloseMemHandle(void*) { return noted(error::invalid_value); }
HEDDLE_CUDA error_t cudaIpcGetEventHandle(ipc_handle* h, event_t e) {
  return noted(h == nullptr ? error::invalid_value : has_time(e) ? error::invalid_handle : error::not_supported);
}
HEDDLE_CUDA error_t cudaIpcOpenEventHandle(event_t*, ipc_handle) { return noted(error::invalid_value); }
