// SPDX-License-Identifier: MIT
// The driver API: initialization, the device.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "testbench/cuda/core/runtime_calls.h"
#include "testbench/cuda/driver/driver.h"

using namespace heddle;
using namespace heddle::cuda;

namespace {

/// CUdevprop.
struct driver_properties {
  int max_threads_per_block, max_threads_dim[3], max_grid[3], shared_per_block, constant_bytes, warp_size, pitch,
      registers_per_block, clock_khz, texture_alignment;
};

/// success: the device exists.
result_t check(device_t device) {
  if (!driver_is_initialized()) return result::not_initialized;
  return device == 0 ? result::success : result::invalid_device;
}

template <class F>
result_t of_device(device_t device, F&& f) {
  const result_t r = check(device);
  if (r != result::success) return r;
  const error_t before = last_error;
  const error_t e = f();
  last_error = before;
  return result_of(e);
}

int attribute(int number) {
  int value = 0;
  cudaDeviceGetAttribute(&value, number, 0);
  return value;
}

result_t uuid(char* to, device_t device) {
  return of_device(device, [&] {
    if (to == nullptr) return error::invalid_value;
    std::memcpy(to, "heddle-device-0", 16);
    return error::none;
  });
}

}  // namespace

HEDDLE_CUDA result_t cuInit(unsigned flags) {
  if (flags != 0) return result::invalid_value;
  if (chip() == nullptr) return result::no_device;
  initialize_driver();
  return result::success;
}
HEDDLE_CUDA result_t cuDriverGetVersion(int* version) {
  return version == nullptr ? result::invalid_value : cudaDriverGetVersion(version);
}

HEDDLE_CUDA result_t cuDeviceGetCount(int* count) {
  return of_device(0, [&] { return put_result(count, 1); });
}
HEDDLE_CUDA result_t cuDeviceGet(device_t* device, int ordinal) {
  return of_device(ordinal, [&] { return put_result(device, 0); });
}
HEDDLE_CUDA result_t cuDeviceGetName(char* name, int bytes, device_t device) {
  return of_device(device, [&] {
    if (name == nullptr || bytes <= 0) return error::invalid_value;
    std::snprintf(name, static_cast<std::size_t>(bytes), "%s", chip()->name);
    return error::none;
  });
}
HEDDLE_CUDA result_t cuDeviceGetUuid(char* to, device_t device) { return uuid(to, device); }
HEDDLE_CUDA result_t cuDeviceGetUuid_v2(char* to, device_t device) { return uuid(to, device); }
/// Another system's name of the device.
HEDDLE_CUDA result_t cuDeviceGetLuid(char*, unsigned*, device_t device) {
  return of_device(device, [] { return error::not_supported; });
}
HEDDLE_CUDA result_t cuDeviceTotalMem_v2(std::size_t* bytes, device_t device) {
  return of_device(device, [&] { return put_result(bytes, chip()->memory_bytes); });
}
HEDDLE_CUDA result_t cuDeviceGetAttribute(int* value, int number, device_t device) {
  return of_device(
      device, [&] { return value == nullptr ? error::invalid_value : cudaDeviceGetAttribute(value, number, device); });
}
HEDDLE_CUDA result_t cuDeviceComputeCapability(int* major, int* minor, device_t device) {
  return of_device(device, [&] {
    if (any_null(major, minor)) return error::invalid_value;
    *major = chip()->major;
    *minor = chip()->minor;
    return error::none;
  });
}
HEDDLE_CUDA result_t cuDeviceGetProperties(driver_properties* p, device_t device) {
  return of_device(device, [&] {
    if (p == nullptr) return error::invalid_value;
    *p = {attribute(1),
          {attribute(2), attribute(3), attribute(4)},
          {attribute(5), attribute(6), attribute(7)},
          attribute(8),
          attribute(9),
          attribute(10),
          attribute(11),
          attribute(12),
          attribute(13),
          attribute(14)};
    return error::none;
  });
}
HEDDLE_CUDA result_t cuDeviceGetPCIBusId(char* text, int bytes, device_t device) {
  return of_device(device, [&] { return cudaDeviceGetPCIBusId(text, bytes, device); });
}
HEDDLE_CUDA result_t cuDeviceGetByPCIBusId(device_t* device, const char* text) {
  return of_device(0, [&] { return cudaDeviceGetByPCIBusId(device, text); });
}
HEDDLE_CUDA result_t cuDeviceCanAccessPeer(int* can, device_t device, device_t peer) {
  return of_device(device, [&] { return peer != 0 ? error::invalid_device : put_result(can, 0); });
}
HEDDLE_CUDA result_t cuDeviceGetP2PAttribute(int*, int, device_t, device_t) {
  return driver_is_initialized() ? result::invalid_device : result::not_initialized;
}
HEDDLE_CUDA result_t cuDeviceGetTexture1DLinearMaxWidth(std::size_t* width, int, unsigned, device_t device) {
  return of_device(device, [&] { return put_result(width, static_cast<std::size_t>(attribute(69))); });
}
HEDDLE_CUDA result_t cuDeviceGetExecAffinitySupport(int* supported, int, device_t device) {
  return of_device(device, [&] { return put_result(supported, 0); });
}
HEDDLE_CUDA result_t cuProfilerInitialize(const char*, const char*, int) { return result::not_supported; }
HEDDLE_CUDA result_t cuProfilerStart() { return ready(); }
HEDDLE_CUDA result_t cuProfilerStop() { return ready(); }
HEDDLE_CUDA result_t cuFlushGPUDirectRDMAWrites(int target, int scope) {
  return driven([&] { return cudaDeviceFlushGPUDirectRDMAWrites(target, scope); });
}
