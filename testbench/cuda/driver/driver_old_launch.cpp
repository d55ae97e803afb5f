// SPDX-License-Identifier: MIT
// The driver API: launches in the style before CUDA 4, where block size, shared memory and parameters are state of the
// kernel.
#include <cstring>
#include <map>
#include <mutex>

#include "testbench/cuda/core/client.h"
#include "testbench/cuda/core/operations.h"
#include "testbench/cuda/driver/driver.h"

using namespace heddle;
using namespace heddle::cuda;

namespace {

struct kept_launch {
  dim3_t block{1, 1, 1};
  unsigned shared_bytes = 0;
  std::vector<std::uint8_t> parameters;
};
library_mutex kept_mutex;
std::map<const void*, kept_launch>& kept() {
  static auto* all = new std::map<const void*, kept_launch>;
  return *all;
}

template <class F>
result_t of_kernel(const void* function, F&& f) {
  return driven([&]() -> error_t {
    if (registry::get().function(function) == nullptr) return error::invalid_handle;
    const std::lock_guard<std::mutex> lock(kept_mutex);
    return f(kept()[function]);
  });
}

constexpr unsigned most_bytes = 32764;  // of parameters

result_t set_parameter(const void* function, int offset, const void* value, unsigned bytes) {
  return of_kernel(function, [&](kept_launch& k) {
    if (offset < 0 || value == nullptr || static_cast<unsigned>(offset) > most_bytes || bytes > most_bytes)
      return error::invalid_value;
    const std::size_t end = static_cast<std::size_t>(offset) + bytes;
    if (k.parameters.size() < end) k.parameters.resize(end);
    std::memcpy(k.parameters.data() + offset, value, bytes);
    return error::none;
  });
}

result_t launch_kept(const void* function, int width, int height, stream_t stream) {
  kept_launch k;
  const result_t r = of_kernel(function, [&](const kept_launch& own) {
    k = own;
    return width > 0 && height > 0 ? error::none : error::invalid_value;
  });
  if (r != result::success) return r;
  return driven([&]() -> error_t {
    std::size_t bytes = k.parameters.size();
    void* extra[] = {reinterpret_cast<void*>(1), k.parameters.data(), reinterpret_cast<void*>(2), &bytes, nullptr};
    kernel_work w;
    const dim3_t grid{static_cast<unsigned>(width), static_cast<unsigned>(height), 1};
    const error_t e = kernel_of(function, grid, k.block, nullptr, extra, k.shared_bytes, {}, w);
    return e != error::none ? e : launch(w, stream_number(stream), manner::asynchronous);
  });
}

}  // namespace

HEDDLE_CUDA result_t cuFuncSetBlockShape(const void* f, int x, int y, int z) {
  return of_kernel(f, [&](kept_launch& k) {
    const long most = chip()->max_threads_per_block;
    if (x <= 0 || y <= 0 || z <= 0 || x > most || y > most || z > most || long{x} * y * z > most)
      return error::invalid_value;
    k.block = {static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z)};
    return error::none;
  });
}
HEDDLE_CUDA result_t cuFuncSetSharedSize(const void* f, unsigned bytes) {
  return of_kernel(f, [&](kept_launch& k) {
    k.shared_bytes = bytes;
    return error::none;
  });
}
HEDDLE_CUDA result_t cuParamSetSize(const void* f, unsigned bytes) {
  return of_kernel(f, [&](kept_launch& k) {
    if (bytes > most_bytes) return error::invalid_value;
    k.parameters.resize(bytes);
    return error::none;
  });
}
HEDDLE_CUDA result_t cuParamSeti(const void* f, int offset, unsigned value) {
  return set_parameter(f, offset, &value, sizeof value);
}
HEDDLE_CUDA result_t cuParamSetf(const void* f, int offset, float value) {
  return set_parameter(f, offset, &value, sizeof value);
}
HEDDLE_CUDA result_t cuParamSetv(const void* f, int offset, const void* value, unsigned bytes) {
  return set_parameter(f, offset, value, bytes);
}
HEDDLE_CUDA result_t cuLaunch(const void* f) { return launch_kept(f, 1, 1, nullptr); }
HEDDLE_CUDA result_t cuLaunchGrid(const void* f, int width, int height) {
  return launch_kept(f, width, height, nullptr);
}
HEDDLE_CUDA result_t cuLaunchGridAsync(const void* f, int width, int height, stream_t s) {
  return launch_kept(f, width, height, s);
}
