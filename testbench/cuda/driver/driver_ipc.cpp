// SPDX-License-Identifier: MIT
// The driver API: memory and events for other processes, refused as systems do that cannot do it.
#include "testbench/cuda/driver/driver.h"

using namespace heddle::cuda;

namespace {

struct ipc_handle {
  char reserved[64];
};

result_t refused() {
  const result_t r = ready();
  return r == result::success ? result::not_supported : r;
}

}  // namespace

HEDDLE_CUDA result_t cuIpcGetMemHandle(ipc_handle*, address_t) { return refused(); }
HEDDLE_CUDA result_t cuIpcOpenMemHandle(address_t*, ipc_handle, unsigned) { return refused(); }
HEDDLE_CUDA result_t cuIpcOpenMemHandle_v2(address_t*, ipc_handle, unsigned) { return refused(); }
HEDDLE_CUDA result_t cuIpcCloseMemHandle(address_t) { return refused(); }
HEDDLE_CUDA result_t cuIpcGetEventHandle(ipc_handle*, void*) { return refused(); }
HEDDLE_CUDA result_t cuIpcOpenEventHandle(void**, ipc_handle) { return refused(); }
