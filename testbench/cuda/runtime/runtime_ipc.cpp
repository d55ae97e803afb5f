// SPDX-License-Identifier: MIT
// The runtime: memory and events for other processes. Refused as systems do that cannot do it, for programs that can do
// without.
#include "testbench/cuda/core/host_memory.h"
#include "testbench/cuda/core/registry.h"
#include "testbench/cuda/core/streams.h"

using namespace heddle::cuda;

namespace {
struct ipc_handle {
  char reserved[64];
};
}  // namespace

HEDDLE_CUDA heddle::cuda::error_t cudaIpcGetMemHandle(ipc_handle* h, void* p) {
  return noted(h == nullptr || allocation_of(p).type != device ? error::invalid_value : error::not_supported);
}
// There is no handle that these could know.
HEDDLE_CUDA heddle::cuda::error_t cudaIpcOpenMemHandle(void**, ipc_handle, unsigned) {
  return noted(error::invalid_value);
}
HEDDLE_CUDA heddle::cuda::error_t cudaIpcCloseMemHandle(void*) { return noted(error::invalid_value); }
HEDDLE_CUDA heddle::cuda::error_t cudaIpcGetEventHandle(ipc_handle* h, event_t e) {
  return noted(h == nullptr ? error::invalid_value : has_time(e) ? error::invalid_handle : error::not_supported);
}
HEDDLE_CUDA heddle::cuda::error_t cudaIpcOpenEventHandle(event_t*, ipc_handle) { return noted(error::invalid_value); }
