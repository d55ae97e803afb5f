// SPDX-License-Identifier: MIT
// The runtime: the device, its properties and its limits.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "testbench/cuda/core/capture.h"
#include "testbench/cuda/core/context.h"
#include "testbench/cuda/core/runtime_calls.h"
#include "testbench/cuda/core/runtime_version.h"
#include "testbench/cuda/core/streams.h"

using namespace heddle;
using namespace heddle::cuda;

namespace {

thread_local int current_device = 0;
unsigned device_flags = 0;

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
  p.texture_1d = p.surface_1d = 131072;
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
  p.unified_addressing = 1;
  p.memory_bus_bits = d.memory_bus_bits;
  p.l2_bytes = d.l2_bytes;
  p.max_threads_per_sm = d.max_threads_per_sm;
  p.stream_priorities = 1;
  p.global_l1 = p.local_l1 = 1;
  p.shared_per_sm = static_cast<std::size_t>(d.shared_per_sm);
  p.registers_per_sm = d.registers_per_sm;
  p.managed_memory = 1;
  p.preemption = d.preemption;
  p.cooperative_launch = d.major >= 6;
  p.shared_per_block_optin = static_cast<std::size_t>(d.shared_per_block_optin);
  p.max_blocks_per_sm = d.max_blocks_per_sm;
  p.reserved_shared_per_block = static_cast<std::size_t>(d.reserved_shared_per_block);
  p.host_pointer_for_registered = 1;
}

void fill_old(device_properties_11& p, const wire::device_info& d) {
  p.clock_khz = d.clock_khz;
  p.memory_clock_khz = d.memory_clock_khz;
  p.device_overlap = 1;
  p.texture_1d_linear = 134217728;
  p.single_to_double = d.major == 6 || d.major == 7 || d.major >= 8 ? 2 : 32;
}

template <class P>
error_t fill(void* to, int device, void (*more)(P&, const wire::device_info&)) {
  const wire::device_info* d = chip();
  if (d == nullptr) return noted(error::no_device);
  if (device != 0) return noted(error::invalid_device);
  if (to == nullptr) return noted(error::invalid_value);
  P p{};
  fill_common(p, *d);
  if (more != nullptr) more(p, *d);
  std::memcpy(to, &p, sizeof p);
  return error::none;
}

error_t fill_12(void* to, int device) {
  return fill<device_properties_12>(to, device, [](device_properties_12& p, const wire::device_info& d) {
    fill_old(p, d);
    p.host_register = p.memory_pools = 1;
    p.cluster_launch = d.max_cluster_blocks != 0;
  });
}

}  // namespace

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
HEDDLE_CUDA error_t cudaSetValidDevices(int*, int) { return error::none; }
HEDDLE_CUDA error_t cudaSetDeviceFlags(unsigned flags) {
  constexpr unsigned known = 0x9f;  // how the host waits, mapped memory, local memory, synchronous operations
  if ((flags & ~known) != 0) return noted(error::invalid_value);
  device_flags = flags;
  return error::none;
}
HEDDLE_CUDA error_t cudaGetDeviceFlags(unsigned* flags) { return put_result(flags, device_flags); }

/// One name for two structures: that of the runtime version the program was compiled for.
HEDDLE_CUDA error_t cudaGetDeviceProperties(void* to, int device) {
  if (runtime_version() >= 13000)
    return fill<device_properties_13>(to, device, [](device_properties_13& p, const wire::device_info&) {
      p.host_register = p.memory_pools = 1;
      p.numa_id = p.host_numa = -1;
    });
  if (runtime_version() >= 12000) return fill_12(to, device);
  return fill<device_properties_11>(to, device, fill_old);
}
HEDDLE_CUDA error_t cudaGetDeviceProperties_v2(void* to, int device) { return fill_12(to, device); }

/// The attributes of enum cudaDeviceAttr have the numbers of the driver's CUdevice_attribute.
HEDDLE_CUDA error_t cudaDeviceGetAttribute(int* value, int attribute, int device) {
  const wire::device_info* d = chip();
  if (d == nullptr) return noted(error::no_device);
  if (device != 0) return noted(error::invalid_device);
  if (value == nullptr) return noted(error::invalid_value);
  device_properties_12 p{};
  fill_common(p, *d);
  fill_old(p, *d);
  switch (attribute) {
    case 1: *value = p.max_threads_per_block; break;
    case 2: *value = p.max_threads_dim[0]; break;
    case 3: *value = p.max_threads_dim[1]; break;
    case 4: *value = p.max_threads_dim[2]; break;
    case 5: *value = p.max_grid[0]; break;
    case 6: *value = p.max_grid[1]; break;
    case 7: *value = p.max_grid[2]; break;
    case 8: *value = static_cast<int>(p.shared_per_block); break;
    case 9: *value = static_cast<int>(p.constant_bytes); break;
    case 10: *value = p.warp_size; break;
    case 11: *value = static_cast<int>(p.pitch); break;
    case 12: *value = p.registers_per_block; break;
    case 13: *value = p.clock_khz; break;
    case 14: *value = static_cast<int>(p.texture_alignment); break;
    case 15: *value = p.device_overlap; break;
    case 16: *value = p.sms; break;
    case 19: *value = p.can_map_host_memory; break;
    case 21: *value = p.texture_1d; break;
    case 22: *value = p.texture_2d[0]; break;
    case 23: *value = p.texture_2d[1]; break;
    case 24:
    case 25:
    case 26: *value = p.texture_3d[attribute - 24]; break;
    case 27:
    case 28:
    case 29: *value = p.texture_2d_layers[attribute - 27]; break;
    case 30: *value = static_cast<int>(p.surface_alignment); break;
    case 31: *value = p.concurrent_kernels; break;
    case 33: *value = p.pci_bus; break;
    case 36: *value = p.memory_clock_khz; break;
    case 37: *value = p.memory_bus_bits; break;
    case 38: *value = p.l2_bytes; break;
    case 39: *value = p.max_threads_per_sm; break;
    case 40: *value = p.copy_engines; break;
    case 41: *value = p.unified_addressing; break;
    case 42:
    case 43: *value = p.texture_1d_layers[attribute - 42]; break;
    case 45:
    case 46: *value = p.texture_2d_gather[attribute - 45]; break;
    case 51: *value = static_cast<int>(p.texture_pitch_alignment); break;
    case 52: *value = p.texture_cube; break;
    case 55: *value = p.surface_1d; break;
    case 56:
    case 57: *value = p.surface_2d[attribute - 56]; break;
    case 58:
    case 59:
    case 60: *value = p.surface_3d[attribute - 58]; break;
    case 69: *value = p.texture_1d_linear; break;
    case 70:
    case 71:
    case 72: *value = p.texture_2d_linear[attribute - 70]; break;
    case 73:
    case 74: *value = p.texture_2d_mipmap[attribute - 73]; break;
    case 75: *value = p.major; break;
    case 76: *value = p.minor; break;
    case 78: *value = p.stream_priorities; break;
    case 79: *value = p.global_l1; break;
    case 80: *value = p.local_l1; break;
    case 81: *value = static_cast<int>(p.shared_per_sm); break;
    case 82: *value = p.registers_per_sm; break;
    case 83: *value = p.managed_memory; break;
    case 87: *value = p.single_to_double; break;
    case 90: *value = p.preemption; break;
    case 91: *value = p.host_pointer_for_registered; break;
    case 95: *value = p.cooperative_launch; break;
    case 97: *value = static_cast<int>(p.shared_per_block_optin); break;
    case 99: *value = 1; break;  // host memory can be registered
    case 106: *value = p.max_blocks_per_sm; break;
    case 111: *value = static_cast<int>(p.reserved_shared_per_block); break;
    case 115: *value = 1; break;  // memory pools
    case 120: *value = chip()->max_cluster_blocks != 0; break;
    default:
      if (attribute < 1 || attribute > 160) return noted(error::invalid_value);
      *value = 0;  // not available on the modelled chip or in its driver
  }
  return error::none;
}

HEDDLE_CUDA error_t cudaDeviceSynchronize() {
  error_t result = error::none;
  return captured_question(wire::wait_kind::device, 0, result) ? result : noted(wait(wire::wait_kind::device, 0));
}
HEDDLE_CUDA error_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
HEDDLE_CUDA error_t cudaDeviceReset() { return cudaDeviceSynchronize(); }
HEDDLE_CUDA error_t cudaThreadExit() { return cudaDeviceSynchronize(); }
HEDDLE_CUDA error_t cudaDeviceSetCacheConfig(int) { return error::none; }
HEDDLE_CUDA error_t cudaThreadSetCacheConfig(int) { return error::none; }
HEDDLE_CUDA error_t cudaDeviceGetCacheConfig(int* preference) { return put_result(preference, 0); }
HEDDLE_CUDA error_t cudaDeviceSetSharedMemConfig(int) { return error::none; }
HEDDLE_CUDA error_t cudaDeviceGetSharedMemConfig(int* banks) { return put_result(banks, 1); }  // four-byte banks
HEDDLE_CUDA error_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = least_priority;
  if (greatest != nullptr) *greatest = greatest_priority;
  return error::none;
}

namespace {
// Stack, printf buffer, heap, device runtime (2), L2 fetch, persisting L2: CUDA's defaults.
std::size_t limits[7] = {1024, 1048576, 8388608, 2, 2048, 64, 0};
}  // namespace
HEDDLE_CUDA error_t cudaDeviceSetLimit(int limit, std::size_t value) {
  if (limit < 0 || limit > 6) return noted(215);
  limits[limit] = value;
  return error::none;
}
HEDDLE_CUDA error_t cudaDeviceGetLimit(std::size_t* value, int limit) {
  return limit < 0 || limit > 6 ? noted(215) : put_result(value, limits[limit]);
}

/// Nothing else writes to the modelled chip's memory.
HEDDLE_CUDA error_t cudaDeviceFlushGPUDirectRDMAWrites(int target, int scope) {
  constexpr int to_owner = 100, to_all_devices = 200;
  return noted(target != 0 || (scope != to_owner && scope != to_all_devices) ? error::invalid_value : error::none);
}

HEDDLE_CUDA error_t cudaDeviceCanAccessPeer(int* can, int, int) { return put_result(can, 0); }
HEDDLE_CUDA error_t cudaDeviceEnablePeerAccess(int, unsigned) { return noted(error::invalid_device); }
HEDDLE_CUDA error_t cudaDeviceDisablePeerAccess(int) { return noted(error::invalid_device); }
HEDDLE_CUDA error_t cudaDeviceGetP2PAttribute(int* value, int, int, int) {
  const error_t e = put_result(value, 0);
  return e != error::none ? e : noted(error::invalid_device);
}
HEDDLE_CUDA error_t cudaDeviceGetPCIBusId(char* text, int bytes, int device) {
  if (device != 0) return noted(error::invalid_device);
  if (text == nullptr || bytes <= 0) return noted(error::invalid_value);
  std::snprintf(text, static_cast<std::size_t>(bytes), "0000:01:00.0");
  return error::none;
}
HEDDLE_CUDA error_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return text == nullptr ? noted(error::invalid_value) : put_result(device, 0);
}

HEDDLE_CUDA error_t cudaRuntimeGetVersion(int* version) { return put_result(version, runtime_version()); }
HEDDLE_CUDA error_t cudaDriverGetVersion(int* version) { return put_result(version, 13000); }
HEDDLE_CUDA error_t cudaProfilerStart() { return error::none; }
HEDDLE_CUDA error_t cudaProfilerStop() { return error::none; }
