// SPDX-License-Identifier: MIT
// The part of CUDA's runtime that the programs in this folder use, so that they can be compiled without a toolkit.
#pragma once

#include <cstddef>

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};
using cudaStream_t = struct stream*;
using cudaEvent_t = struct event*;
enum {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorNotReady = 600,
  cudaErrorIllegalAddress = 700,
  cudaErrorLaunchOutOfResources = 701,
  cudaErrorAssert = 710
};
enum {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};
struct cudaPointerAttributes {
  int type, device;
  void *devicePointer, *hostPointer;
  long reserved[8];
};
struct cudaFuncAttributes {
  std::size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes,
      preferredShmemCarveout, rest[32];
};
extern "C" {
void** __cudaRegisterFatBinary(void*);
void __cudaRegisterFatBinaryEnd(void**);
void __cudaUnregisterFatBinary(void**);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*);
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int);
void __cudaRegisterManagedVar(void**, void**, char*, const char*, int, std::size_t, int, int);
char __cudaInitModule(void**);
int cudaLaunchKernel(const void*, dim3, dim3, void**, std::size_t, cudaStream_t);
int cudaLaunchCooperativeKernel(const void*, dim3, dim3, void**, std::size_t, cudaStream_t);
int cudaMalloc(void**, std::size_t);
int cudaMallocManaged(void**, std::size_t, unsigned);
int cudaMallocPitch(void**, std::size_t*, std::size_t, std::size_t);
int cudaHostAlloc(void**, std::size_t, unsigned);
int cudaHostRegister(void*, std::size_t, unsigned);
int cudaHostUnregister(void*);
int cudaHostGetDevicePointer(void**, void*, unsigned);
int cudaFree(void*);
int cudaFreeHost(void*);
int cudaMemcpy(void*, const void*, std::size_t, int);
int cudaMemcpyAsync(void*, const void*, std::size_t, int, cudaStream_t);
int cudaMemcpy2D(void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t, int);
int cudaMemcpyToSymbol(const void*, const void*, std::size_t, std::size_t, int);
int cudaMemcpyFromSymbol(void*, const void*, std::size_t, std::size_t, int);
int cudaMemset(void*, int, std::size_t);
int cudaMemsetAsync(void*, int, std::size_t, cudaStream_t);
int cudaMemset2D(void*, std::size_t, int, std::size_t, std::size_t);
int cudaMemGetInfo(std::size_t*, std::size_t*);
int cudaPointerGetAttributes(cudaPointerAttributes*, const void*);
int cudaFuncGetAttributes(cudaFuncAttributes*, const void*);
int cudaFuncSetAttribute(const void*, int, int);
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int*, const void*, int, std::size_t);
int cudaStreamCreate(cudaStream_t*);
int cudaStreamCreateWithFlags(cudaStream_t*, unsigned);
int cudaStreamDestroy(cudaStream_t);
int cudaStreamSynchronize(cudaStream_t);
int cudaStreamQuery(cudaStream_t);
int cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned);
int cudaStreamAddCallback(cudaStream_t, void (*)(cudaStream_t, int, void*), void*, unsigned);
int cudaLaunchHostFunc(cudaStream_t, void (*)(void*), void*);
int cudaEventCreate(cudaEvent_t*);
int cudaEventDestroy(cudaEvent_t);
int cudaEventRecord(cudaEvent_t, cudaStream_t);
int cudaEventQuery(cudaEvent_t);
int cudaEventSynchronize(cudaEvent_t);
int cudaEventElapsedTime(float*, cudaEvent_t, cudaEvent_t);
int cudaDeviceSynchronize();
int cudaGetDeviceCount(int*);
int cudaDeviceGetAttribute(int*, int, int);
int cudaGetLastError();
int cudaPeekAtLastError();
const char* cudaGetErrorName(int);
const char* cudaGetErrorString(int);
int cudaRuntimeGetVersion(int*);
int cudaIpcGetMemHandle(void*, void*);
int cudaGraphicsGLRegisterBuffer(void*, unsigned, unsigned);
}
