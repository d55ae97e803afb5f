// SPDX-License-Identifier: MIT
// Common parts of the driver API. Its functions are the runtime's under other names: streams, events, memory and
// kernels are shared between both.
#pragma once

#include <cstddef>
#include <cstdint>

#include "testbench/cuda/core/context.h"
#include "testbench/cuda/core/registry.h"

namespace heddle::cuda {

using result_t = int;
using device_t = int;
using address_t = std::uint64_t;  // CUdeviceptr

/// CUresult values for which the runtime has no error with the same number and meaning.
namespace result {
constexpr result_t success = 0, invalid_value = 1, out_of_memory = 2, not_initialized = 3, no_device = 100,
                   invalid_device = 101, invalid_image = 200, invalid_context = 201, no_binary_for_gpu = 209,
                   unsupported_limit = 215, invalid_ptx = 218, unsupported_ptx_version = 222, invalid_source = 300,
                   file_not_found = 301, invalid_handle = 400, not_found = 500, context_already_current = 202,
                   primary_context_active = 708, context_is_destroyed = 709, not_supported = 801, key_rotation = 916;
}

/// The CUresult of a runtime error.
result_t result_of(error_t e);
/// success: the driver is initialised and the thread has a context.
result_t ready();

/// While it lives, a thread without a context has one, in which it can release what needs none.
class context_for_release {
 public:
  context_for_release();
  ~context_for_release();
  context_for_release(const context_for_release&) = delete;
  context_for_release& operator=(const context_for_release&) = delete;
  [[nodiscard]] result_t state() const { return state_; }

 private:
  bool lent_;
  result_t state_;
};

template <class F>
result_t driven_in_context(F&& f) {
  const error_t before = last_error;
  const error_t e = noted(f());
  last_error = before;
  return result_of(e);
}

/// Runs the body of a driver function and returns its result. The runtime's last error is unchanged.
template <class F>
result_t driven(F&& f) {
  const result_t r = ready();
  return r != result::success ? r : driven_in_context(f);
}

/// The same for a function that releases what its argument names: it needs no current context.
template <class F>
result_t driven_release(F&& f) {
  const context_for_release here;
  return here.state() != result::success ? here.state() : driven_in_context(f);
}

inline void* pointer_of(address_t a) { return reinterpret_cast<void*>(a); }

}  // namespace heddle::cuda

/// Defines a function, and its variant for programs compiled with per-thread default streams.
#define HEDDLE_DRIVER_BOTH(name, twin, arguments, body) \
  HEDDLE_CUDA result_t name arguments {                 \
    [[maybe_unused]] constexpr bool per_thread = false; \
    return driven([&]() -> error_t { body });           \
  }                                                     \
  HEDDLE_CUDA result_t twin arguments {                 \
    [[maybe_unused]] constexpr bool per_thread = true;  \
    return driven([&]() -> error_t { body });           \
  }
