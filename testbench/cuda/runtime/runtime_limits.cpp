// SPDX-License-Identifier: MIT
// The runtime: limits of the device. They are kept as CUDA rounds them; nothing follows from them.
#include <algorithm>
#include <mutex>

#include "testbench/cuda/core/capture.h"
#include "testbench/cuda/core/client.h"
#include "testbench/cuda/core/device_facts.h"
#include "testbench/cuda/core/runtime_calls.h"

using namespace heddle;
using namespace heddle::cuda;

namespace {

/// cudaLimit. The last two are not in the documentation and cannot be set.
enum limit : int { stack, printf_buffer, heap, nesting, pending, l2_fetch, persisting, shared_memory, last };
constexpr error_t unsupported_limit = 215;

library_mutex limits_mutex;

/// CUDA's defaults.
std::size_t* limits() {
  constexpr std::size_t default_fetch = 64;
  const auto& d = *chip();
  static std::size_t all[] = {1024,
                              std::size_t{65536} * static_cast<std::size_t>(d.sms),
                              std::size_t{8} << 20,
                              0,
                              2048,
                              default_fetch,
                              3 * persisting_unit(d),
                              static_cast<std::size_t>(d.shared_per_block_optin),
                              0};
  return all;
}

error_t rounded(int which, std::size_t& value) {
  constexpr std::size_t stack_unit = 16, most_stack = 262144, least_buffer = 524288, most_buffer = std::size_t{1} << 31,
                        least_heap = std::size_t{4} << 20, least_pending = 32, most_fetch = 128;
  const std::size_t unit = persisting_unit(*chip());
  switch (which) {
    case stack:
      if (value > most_stack) return error::invalid_value;
      value = (value + stack_unit - 1) / stack_unit * stack_unit;
      return error::none;
    case printf_buffer: value = std::clamp(value, least_buffer, most_buffer); return error::none;
    case heap: value = std::max(value, least_heap); return error::none;
    case pending: value = std::max(value, least_pending); return error::none;
    case l2_fetch: return value > most_fetch ? error::invalid_value : error::none;
    case persisting:
      if (value > most_persisting(*chip())) return error::invalid_value;
      value = unit == 0 ? 0 : (value + unit - 1) / unit * unit;
      return error::none;
    default: return error::not_permitted;
  }
}

error_t refused(int which) {
  if (chip() == nullptr) return error::no_device;
  return which < stack || which > last ? error::invalid_value : which == nesting ? unsupported_limit : error::none;
}

}  // namespace

HEDDLE_CUDA error_t cudaDeviceSetLimit(int which, std::size_t value) {
  if (const error_t e = refused(which); e != error::none) return noted(e);
  if (const error_t e = refused_by_capture(); e != error::none) return e;
  const error_t e = rounded(which, value);
  const std::lock_guard<std::mutex> lock(limits_mutex);
  if (e == error::none) limits()[which] = value;
  return noted(e);
}
HEDDLE_CUDA error_t cudaDeviceGetLimit(std::size_t* value, int which) {
  if (value == nullptr) return noted(error::invalid_value);
  const error_t e = refused(which);
  const std::lock_guard<std::mutex> lock(limits_mutex);
  if (e == error::none) *value = limits()[which];
  return noted(e);
}
