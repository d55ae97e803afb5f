/* SPDX-License-Identifier: MIT */
/* The driver API: the device, contexts, and combination with the runtime. */
#include "driver.h"

/* Numba releases what it holds after it has popped its contexts. */
static void releases_without_a_context(void) {
  static char registered[8192];
  handle context = NULL, stream = NULL, event = NULL, module = NULL, current = &context;
  address device = 0, shared = 0;
  void* pinned = NULL;
  GOOD(cuCtxCreate_v2(&context, 0, 0));
  GOOD(cuMemAlloc_v2(&device, 100));
  GOOD(cuMemAllocManaged(&shared, 100, 1));
  GOOD(cuMemHostAlloc(&pinned, 100, 0));
  GOOD(cuMemHostRegister_v2(registered, sizeof registered, 0));
  GOOD(cuStreamCreate(&stream, 0));
  GOOD(cuEventCreate(&event, 0));
  GOOD(cuModuleLoad(&module, "driver_kernels.ptx"));
  GOOD(cuCtxPopCurrent_v2(&current));
  GOOD(cuMemFree_v2(device));
  EXPECT(cuMemFree_v2(device), 1);
  GOOD(cuMemFree_v2(shared));
  GOOD(cuMemFreeHost(pinned));
  GOOD(cuMemHostUnregister(registered));
  GOOD(cuEventDestroy_v2(event));
  GOOD(cuStreamDestroy_v2(stream));
  GOOD(cuModuleUnload(module));
  GOOD(cuCtxGetCurrent(&current));
  EXPECT(current == NULL, 1);
  EXPECT(cuMemAlloc_v2(&device, 100), 201);
  GOOD(cuCtxDestroy_v2(context));
}

int main(void) {
  handle one, two, current, primary;
  address p;
  size_t before = 0, after = 0, total = 0;
  int value = 0, active = 9;
  unsigned flags = 9;
  EXPECT(cuCtxSynchronize(), 3);
  EXPECT(cuDeviceGetCount(&value), 3);
  GOOD(cuDriverGetVersion(&value));
  EXPECT(value >= 13000, 1);
  GOOD(cuInit(0));
  GOOD(cuDeviceGetCount(&value));
  EXPECT(value, 1);
  EXPECT(cuDeviceGet(&value, 1), 101);
  char name[64];
  GOOD(cuDeviceGetName(name, sizeof name, 0));
  puts(name);
  GOOD(cuDeviceGetAttribute(&value, 16, 0));
  EXPECT(value, 80);
  int minor = 9;
  GOOD(cuDeviceComputeCapability(&value, &minor, 0));
  EXPECT(10 * value + minor, 70);
  GOOD(cuDeviceTotalMem_v2(&total, 0));
  EXPECT(total >> 30, 16);

  /* Calls without a context fail. */
  EXPECT(cuMemAlloc_v2(&p, 100), 201);
  GOOD(cuCtxGetCurrent(&current));
  EXPECT(current == NULL, 1);
  EXPECT(cuCtxPopCurrent_v2(&current), 201);

  /* A stack of contexts; the resources of a context are released with it. */
  GOOD(cuCtxCreate_v2(&one, 0, 0));
  GOOD(cuCtxCreate_v2(&two, 0, 0));
  GOOD(cuMemGetInfo_v2(&before, &total));
  GOOD(cuMemAlloc_v2(&p, 1 << 20));
  GOOD(cuMemGetInfo_v2(&after, &total));
  EXPECT(before - after, 1 << 20);
  GOOD(cuCtxDestroy_v2(two));
  GOOD(cuCtxGetCurrent(&current));
  EXPECT(current == one, 1);
  GOOD(cuMemGetInfo_v2(&after, &total));
  EXPECT(after == before, 1);
  GOOD(cuCtxPushCurrent_v2(two)); /* nothing can be done in it */
  EXPECT(cuCtxSynchronize(), 709);
  GOOD(cuCtxPopCurrent_v2(&current));
  EXPECT(cuCtxPushCurrent_v2((handle)&value), 201);
  EXPECT(cuCtxDestroy_v2(two), 201);
  GOOD(cuCtxPopCurrent_v2(&current));
  EXPECT(current == one, 1);
  EXPECT(cuCtxSynchronize(), 201);

  /* The primary context exists while it is retained. */
  GOOD(cuDevicePrimaryCtxGetState(0, &flags, &active));
  EXPECT(active, 0);
  GOOD(cuDevicePrimaryCtxRetain(&primary, 0));
  GOOD(cuCtxSetCurrent(primary));
  GOOD(cuMemAlloc_v2(&p, 100));
  GOOD(cuDevicePrimaryCtxRelease_v2(0));
  EXPECT(cuMemAlloc_v2(&p, 100), 709);
  EXPECT(cuDevicePrimaryCtxRelease_v2(0), 201);
  GOOD(cuCtxSetCurrent(NULL));

  releases_without_a_context();

  /* A thread that calls the runtime uses the primary context, too; handles and memory are shared. */
  handle stream = NULL, begin, end;
  void* q = NULL;
  int from = 42, to = 0;
  float milliseconds = -1;
  GOOD(cudaFree(NULL));
  GOOD(cuCtxGetCurrent(&current));
  EXPECT(current == primary, 1);
  GOOD(cudaMalloc(&q, 4));
  GOOD(cudaStreamCreate(&stream));
  GOOD(cuEventCreate(&begin, 0));
  GOOD(cuEventCreate(&end, 0));
  GOOD(cuEventRecord(begin, stream));
  GOOD(cuMemcpyHtoDAsync_v2((address)q, &from, 4, stream));
  GOOD(cuEventRecord(end, stream));
  GOOD(cudaStreamSynchronize(stream));
  GOOD(cudaEventElapsedTime(&milliseconds, begin, end));
  EXPECT(milliseconds > 0, 1);
  GOOD(cudaMemcpy(&to, q, 4, 2));
  EXPECT(to, 42);
  EXPECT(cuMemFree_v2((address)q + 1), 1);
  GOOD(cudaGetLastError()); /* errors of the driver do not set the runtime's last error */
  GOOD(cuMemFree_v2((address)q));
  EXPECT(cudaFree(q), 1);

  const char* text = NULL;
  GOOD(cuGetErrorName(709, &text));
  EXPECT(strcmp(text, "CUDA_ERROR_CONTEXT_IS_DESTROYED"), 0);
  GOOD(cuGetErrorString(1, &text));
  EXPECT(strcmp(text, "invalid argument"), 0);
  EXPECT(cuGetErrorName(12345, &text), 1);
  puts("all is well");
  return 0;
}
