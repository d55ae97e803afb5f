// SPDX-License-Identifier: MIT
// The driver API: contexts.
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "testbench/cuda/core/client.h"
#include "testbench/cuda/core/device_facts.h"
#include "testbench/cuda/core/host_memory.h"
#include "testbench/cuda/core/runtime_calls.h"
#include "testbench/cuda/driver/driver.h"
#include "testbench/cuda/driver/driver_modules.h"

using namespace heddle;
using namespace heddle::cuda;

namespace heddle::cuda {

namespace {

std::atomic<bool> initialized{false};
library_mutex contexts_mutex;
unsigned long long next_id = 1;
unsigned retained = 0;         // references of the program to the primary context
bool used_by_runtime = false;  // the runtime keeps the primary context
unsigned primary_flags = 0;
std::vector<context*>& stack() { return value_of_thread<std::vector<context*>>(); }

context& primary() {
  static auto* p = new context;
  p->primary = true;
  return *p;
}
/// Contexts created by the program. They are kept after their destruction, because other threads may still refer to
/// them.
std::vector<std::unique_ptr<context>>& made() {
  static auto* all = new std::vector<std::unique_ptr<context>>;
  return *all;
}

void begin_primary() {
  context& p = primary();
  if (p.alive) return;
  p.alive = true;
  p.id = next_id++;
  p.flags = primary_flags;
}

bool known(const context* c) {
  return c == &primary() || std::any_of(made().begin(), made().end(), [c](const auto& m) { return m.get() == c; });
}

void set_current(context* c) {
  if (!stack().empty()) stack().pop_back();
  if (c != nullptr) stack().push_back(c);
}

/// Destroys a context: its memory and modules are released.
void end(context& c) {
  const error_t before = last_error;
  stack().push_back(&c);
  release_of(&c);
  unload_of(&c);
  stack().pop_back();
  last_error = before;
  c.alive = false;
}

result_t create(context** to, unsigned flags, device_t device) {
  if (!driver_is_initialized()) return result::not_initialized;
  if (to == nullptr || !are_context_flags(flags)) return result::invalid_value;
  if (device != 0) return result::invalid_device;
  if (gpu_failure() != error::none) return result_of(gpu_failure());
  const std::lock_guard<std::mutex> lock(contexts_mutex);
  made().push_back(std::make_unique<context>());
  context& c = *made().back();
  c.flags = flags;
  c.alive = true;
  c.id = next_id++;
  stack().push_back(&c);
  *to = &c;
  return result::success;
}

result_t destroy(context* c) {
  if (!driver_is_initialized()) return result::not_initialized;
  {
    const std::lock_guard<std::mutex> lock(contexts_mutex);
    if (c == nullptr) return result::invalid_value;
    if (!known(c) || c->primary || !c->alive) return result::invalid_context;
  }
  end(*c);
  if (!stack().empty() && stack().back() == c) stack().pop_back();
  return result::success;
}

result_t push(context* c) {
  if (!driver_is_initialized()) return result::not_initialized;
  const std::lock_guard<std::mutex> lock(contexts_mutex);
  if (c == nullptr) return result::invalid_value;
  if (!known(c)) return result::invalid_context;
  stack().push_back(c);  // the calls in a destroyed one are refused
  return result::success;
}

result_t pop(context** to) {
  if (!driver_is_initialized()) return result::not_initialized;
  if (stack().empty()) return result::invalid_context;
  if (to != nullptr) *to = stack().back();
  stack().pop_back();
  return result::success;
}

result_t release_primary(device_t device) {
  if (!driver_is_initialized()) return result::not_initialized;
  if (device != 0) return result::invalid_device;
  {
    const std::lock_guard<std::mutex> lock(contexts_mutex);
    if (retained == 0) return result::invalid_context;
    if (--retained != 0 || used_by_runtime) return result::success;
  }
  end(primary());
  primary_flags = 0;
  return result::success;
}

result_t reset_primary(device_t device) {
  if (!driver_is_initialized()) return result::not_initialized;
  if (device != 0) return result::invalid_device;
  if (primary().alive) end(primary());
  if (used_by_runtime) begin_primary();  // else with the next reference to it
  return result::success;
}

result_t set_primary_flags(device_t device, unsigned flags) {
  if (!driver_is_initialized()) return result::not_initialized;
  if (device != 0) return result::invalid_device;
  if (!are_context_flags(flags)) return result::invalid_value;
  primary_flags = flags;
  primary().flags = flags;
  return result::success;
}

}  // namespace

bool driver_is_initialized() { return initialized.load(); }
void initialize_driver() { initialized.store(true); }

context* current_context() { return stack().empty() ? nullptr : stack().back(); }

void give_context(context* c) { stack().assign(1, c); }

void use_primary_context() {
  if (!stack().empty()) return;
  initialize_driver();
  const std::lock_guard<std::mutex> lock(contexts_mutex);
  used_by_runtime = true;
  begin_primary();
  stack().push_back(&primary());
}

result_t ready() {
  if (!driver_is_initialized()) return result::not_initialized;
  const context* c = current_context();
  if (c == nullptr) return result::invalid_context;
  return c->alive ? result::success : result::context_is_destroyed;
}

context_for_release::context_for_release() : lent_(stack().empty()) {
  state_ = lent_ && driver_is_initialized() ? result::success : ready();
  if (lent_) stack().push_back(&primary());
}
context_for_release::~context_for_release() {
  if (lent_) stack().pop_back();
}

}  // namespace heddle::cuda

HEDDLE_CUDA result_t cuCtxCreate(context** c, unsigned flags, device_t device) { return create(c, flags, device); }
HEDDLE_CUDA result_t cuCtxCreate_v2(context** c, unsigned flags, device_t device) { return create(c, flags, device); }
HEDDLE_CUDA result_t cuCtxCreate_v3(context** c, void*, int affinities, unsigned flags, device_t device) {
  return affinities != 0 ? result::not_supported : create(c, flags, device);
}
HEDDLE_CUDA result_t cuCtxCreate_v4(context** c, const void* const* parameters, unsigned flags, device_t device) {
  const bool plain = parameters == nullptr ||
                     (parameters[0] == nullptr && parameters[2] == nullptr);  // no affinity, no shared graphics context
  return plain ? create(c, flags, device) : result::not_supported;
}
HEDDLE_CUDA result_t cuCtxDestroy(context* c) { return destroy(c); }
HEDDLE_CUDA result_t cuCtxDestroy_v2(context* c) { return destroy(c); }
HEDDLE_CUDA result_t cuCtxAttach(context** c, unsigned) {
  return driven([&] { return put_result(c, current_context()); });
}
HEDDLE_CUDA result_t cuCtxDetach(context*) { return ready(); }
HEDDLE_CUDA result_t cuCtxPushCurrent(context* c) { return push(c); }
HEDDLE_CUDA result_t cuCtxPushCurrent_v2(context* c) { return push(c); }
HEDDLE_CUDA result_t cuCtxPopCurrent(context** c) { return pop(c); }
HEDDLE_CUDA result_t cuCtxPopCurrent_v2(context** c) { return pop(c); }
HEDDLE_CUDA result_t cuCtxSetCurrent(context* c) {
  if (!driver_is_initialized()) return result::not_initialized;
  const std::lock_guard<std::mutex> lock(contexts_mutex);
  if (c != nullptr && !known(c)) return result::invalid_context;
  set_current(c);
  return result::success;
}
HEDDLE_CUDA result_t cuCtxGetCurrent(context** c) {
  if (!driver_is_initialized()) return result::not_initialized;
  if (c == nullptr) return result::invalid_value;
  *c = current_context();
  return result::success;
}
HEDDLE_CUDA result_t cuCtxGetDevice(device_t* device) {
  if (const result_t r = ready(); r != result::success) return r;
  return put_result(device, 0);  // even after a failure
}
// There is only one device, whichever context is given.
HEDDLE_CUDA result_t cuCtxGetDevice_v2(device_t* device, context*) { return cuCtxGetDevice(device); }
HEDDLE_CUDA result_t cuCtxGetFlags(unsigned* flags) {
  return driven([&] { return put_result(flags, current_context()->flags); });
}
HEDDLE_CUDA result_t cuCtxSetFlags(unsigned flags) {
  return driven([&] {
    if (!are_context_flags(flags)) return error::invalid_value;
    current_context()->flags = flags;
    return error::none;
  });
}
HEDDLE_CUDA result_t cuCtxGetId(context* c, unsigned long long* id) {
  return driven([&] { return put_result(id, (c != nullptr ? c : current_context())->id); });
}
HEDDLE_CUDA result_t cuCtxSynchronize() {
  return driven([] { return cudaDeviceSynchronize(); });
}
HEDDLE_CUDA result_t cuCtxSynchronize_v2(context*) { return cuCtxSynchronize(); }
HEDDLE_CUDA result_t cuCtxSetLimit(int limit, std::size_t value) {
  return driven([&] { return cudaDeviceSetLimit(limit, value); });
}
HEDDLE_CUDA result_t cuCtxGetLimit(std::size_t* value, int limit) {
  return driven([&] { return cudaDeviceGetLimit(value, limit); });
}
HEDDLE_CUDA result_t cuCtxSetCacheConfig(int preference) {
  return driven([&] {
    if (preference < 0 || preference > 3) return error::invalid_value;
    current_context()->cache_preference = preference;  // a hint without effect
    return error::none;
  });
}
HEDDLE_CUDA result_t cuCtxGetCacheConfig(int* preference) {
  return driven([&] { return put_result(preference, current_context()->cache_preference); });
}
// Banks have four bytes on all chips since Maxwell.
HEDDLE_CUDA result_t cuCtxSetSharedMemConfig(int banks) {
  return driven([&] { return banks < 0 || banks > 2 ? error::invalid_value : error::none; });
}
HEDDLE_CUDA result_t cuCtxGetSharedMemConfig(int* banks) {
  return driven([&] { return put_result(banks, 1); });
}
HEDDLE_CUDA result_t cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return driven([&] { return cudaDeviceGetStreamPriorityRange(least, greatest); });
}
HEDDLE_CUDA result_t cuCtxGetApiVersion(context*, unsigned* version) {
  return driven([&] { return put_result(version, 3020); });
}
HEDDLE_CUDA result_t cuCtxResetPersistingL2Cache() {
  return driven([] { return error::none; });
}
HEDDLE_CUDA result_t cuCtxEnablePeerAccess(context*, unsigned) {
  return driven([] { return error::peer_unsupported; });
}
HEDDLE_CUDA result_t cuCtxDisablePeerAccess(context*) {
  return driven([] { return error_t{705}; });  // peer access is not enabled
}

HEDDLE_CUDA result_t cuDevicePrimaryCtxRetain(context** c, device_t device) {
  if (!driver_is_initialized()) return result::not_initialized;
  if (device != 0) return result::invalid_device;
  if (c == nullptr) return result::invalid_value;
  const std::lock_guard<std::mutex> lock(contexts_mutex);
  ++retained;
  begin_primary();
  *c = &primary();
  return result::success;
}
HEDDLE_CUDA result_t cuDevicePrimaryCtxRelease(device_t device) { return release_primary(device); }
HEDDLE_CUDA result_t cuDevicePrimaryCtxRelease_v2(device_t device) { return release_primary(device); }
HEDDLE_CUDA result_t cuDevicePrimaryCtxReset(device_t device) { return reset_primary(device); }
HEDDLE_CUDA result_t cuDevicePrimaryCtxReset_v2(device_t device) { return reset_primary(device); }
HEDDLE_CUDA result_t cuDevicePrimaryCtxSetFlags(device_t device, unsigned flags) {
  return set_primary_flags(device, flags);
}
HEDDLE_CUDA result_t cuDevicePrimaryCtxSetFlags_v2(device_t device, unsigned flags) {
  return set_primary_flags(device, flags);
}
HEDDLE_CUDA result_t cuDevicePrimaryCtxGetState(device_t device, unsigned* flags, int* active) {
  if (!driver_is_initialized()) return result::not_initialized;
  if (device != 0) return result::invalid_device;
  if (flags != nullptr) *flags = primary_flags;
  if (active != nullptr) *active = primary().alive ? 1 : 0;
  return result::success;
}
