// SPDX-License-Identifier: MIT
// The runtime: memory and events for other processes. Refused as systems do that cannot do it, for programs that can do
// without.
#include "testbench/cuda/core/registry.h"

using namespace heddle::cuda;

namespace {
struct ipc_handle {
  char reserved[64];
};
}  // namespace

HEDDLE_CUDA heddle::cuda::error_t cudaIpcGetMemHandle(ipc_handle*, void*) { return noted(error::not_supported); }
HEDDLE_CUDA heddle::cuda::error_t cudaIpcOpenMemHandle(void**, ipc_handle, unsigned) {
  return noted(error::not_supported);
}
HEDDLE_CUDA heddle::cuda::error_t cudaIpcCloseMemHandle(void*) { return noted(error::not_supported); }
HEDDLE_CUDA heddle::cuda::error_t cudaIpcGetEventHandle(ipc_handle*, event_t) { return noted(error::not_supported); }
HEDDLE_CUDA heddle::cuda::error_t cudaIpcOpenEventHandle(event_t*, ipc_handle) { return noted(error::not_supported); }
