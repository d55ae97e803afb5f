// SPDX-License-Identifier: MIT
// The runtime: attributes of streams. They are checked and kept, and say nothing to the simulator.
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "testbench/cuda/core/client.h"
#include "testbench/cuda/core/operations.h"
#include "testbench/cuda/core/runtime_calls.h"
#include "testbench/cuda/core/streams.h"

using namespace heddle;
using namespace heddle::cuda;

namespace {

/// cudaLaunchAttributeID, as far as streams have them.
enum attribute : int { access_window = 1, synchronization = 3, priority = 8, domain_map = 9, domain = 10 };

/// cudaLaunchAttributeValue.
union attribute_value {
  char bytes[64];
  int number;
  struct {
    void* base;
    std::size_t bytes;
    float hit_ratio;
    int hit, miss;
  } window;
};

library_mutex attributes_mutex;
std::map<std::pair<std::uint32_t, int>, attribute_value>& attributes() {
  static auto* all = new std::map<std::pair<std::uint32_t, int>, attribute_value>;
  return *all;
}

bool is_attribute(int a) { return a == access_window || a == synchronization || (a >= priority && a <= domain); }

attribute_value initial(int a, stream_t s) {
  attribute_value v{};
  if (a == synchronization) v.number = -1;  // as the device does
  if (a == priority) cudaStreamGetPriority(s, &v.number);
  if (a == domain_map) v.bytes[1] = 1;  // its own domain for remote memory
  return v;
}

bool is_valid(int a, const attribute_value& v) {
  constexpr int first_policy = 1, last_policy = 4, persisting = 2;
  constexpr std::size_t largest_window = std::size_t{128} << 20;
  if (a == synchronization) return v.number >= first_policy && v.number <= last_policy;
  if (a != access_window) return true;
  const auto& w = v.window;
  return w.bytes <= largest_window && w.hit_ratio >= 0 && w.hit_ratio <= 1 && w.miss != persisting;
}

error_t get(stream_t s, std::uint32_t stream, int a, attribute_value* v) {
  if (!is_stream(stream)) return error::invalid_handle;
  if (!is_attribute(a) || v == nullptr) return error::invalid_value;
  const std::lock_guard<std::mutex> lock(attributes_mutex);
  const auto found = attributes().find({stream, a});
  *v = found != attributes().end() ? found->second : initial(a, s);
  return error::none;
}

error_t set(std::uint32_t stream, int a, const attribute_value* v) {
  if (!is_stream(stream)) return error::invalid_handle;
  if (!is_attribute(a) || v == nullptr || !is_valid(a, *v)) return error::invalid_value;
  if (a == priority) return error::not_supported;  // a stream keeps the one with which it was made
  const std::lock_guard<std::mutex> lock(attributes_mutex);
  attributes()[{stream, a}] = *v;
  return error::none;
}

error_t copy_all(std::uint32_t to, std::uint32_t from) {
  if (!is_stream(to) || !is_stream(from)) return error::invalid_handle;
  const std::lock_guard<std::mutex> lock(attributes_mutex);
  for (const int a : {access_window, synchronization, domain_map, domain}) {
    const auto found = attributes().find({from, a});
    if (found != attributes().end()) {
      attributes()[{to, a}] = attribute_value{found->second};
    } else {
      attributes().erase({to, a});
    }
  }
  return error::none;
}

}  // namespace

HEDDLE_BOTH(cudaStreamGetAttribute, cudaStreamGetAttribute_ptsz, (stream_t s, int a, attribute_value* v),
            return noted(get(s, stream_number(s, per_thread), a, v));)
HEDDLE_BOTH(cudaStreamSetAttribute, cudaStreamSetAttribute_ptsz, (stream_t s, int a, const attribute_value* v),
            return noted(set(stream_number(s, per_thread), a, v));)
HEDDLE_BOTH(cudaStreamCopyAttributes, cudaStreamCopyAttributes_ptsz, (stream_t to, stream_t from),
            return noted(copy_all(stream_number(to, per_thread), stream_number(from, per_thread)));)
HEDDLE_CUDA error_t cudaCtxResetPersistingL2Cache() { return noted(error::none); }  // no effect
