// SPDX-License-Identifier: MIT
// Runtime functions that the driver API uses. The files that define them include this header, so that the compiler
// checks the declarations.
#pragma once

#include <cstddef>

#include "testbench/cuda/core/registry.h"

namespace heddle::cuda {

HEDDLE_CUDA error_t cudaDeviceGetAttribute(int* value, int attribute, int device);
HEDDLE_CUDA error_t cudaDeviceGetPCIBusId(char* text, int bytes, int device);
HEDDLE_CUDA error_t cudaDeviceGetByPCIBusId(int* device, const char* text);
HEDDLE_CUDA error_t cudaDeviceSynchronize();
HEDDLE_CUDA error_t cudaDeviceSetLimit(int limit, std::size_t value);
HEDDLE_CUDA error_t cudaDeviceGetLimit(std::size_t* value, int limit);
HEDDLE_CUDA error_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
HEDDLE_CUDA error_t cudaDeviceFlushGPUDirectRDMAWrites(int target, int scope);
HEDDLE_CUDA error_t cudaDriverGetVersion(int* version);
HEDDLE_CUDA const char* cudaGetErrorString(error_t e);

HEDDLE_CUDA error_t cudaFreeHost(void* p);
HEDDLE_CUDA error_t cudaHostRegister(void* p, std::size_t bytes, unsigned flags);
HEDDLE_CUDA error_t cudaHostUnregister(void* p);
HEDDLE_CUDA error_t cudaHostGetDevicePointer(void** to, void* p, unsigned flags);
HEDDLE_CUDA error_t cudaHostGetFlags(unsigned* flags, void* p);
HEDDLE_CUDA error_t cudaMemGetInfo(std::size_t* free, std::size_t* total);
HEDDLE_CUDA error_t cudaMallocAsync(void** p, std::size_t bytes, stream_t s);
HEDDLE_CUDA error_t cudaMallocAsync_ptsz(void** p, std::size_t bytes, stream_t s);
HEDDLE_CUDA error_t cudaFreeAsync(void* p, stream_t s);
HEDDLE_CUDA error_t cudaFreeAsync_ptsz(void* p, stream_t s);

HEDDLE_CUDA error_t cudaStreamCreateWithPriority(stream_t* s, unsigned flags, int priority);
HEDDLE_CUDA error_t cudaStreamDestroy(stream_t s);
HEDDLE_CUDA error_t cudaStreamSynchronize(stream_t s);
HEDDLE_CUDA error_t cudaStreamSynchronize_ptsz(stream_t s);
HEDDLE_CUDA error_t cudaStreamQuery(stream_t s);
HEDDLE_CUDA error_t cudaStreamQuery_ptsz(stream_t s);
HEDDLE_CUDA error_t cudaStreamWaitEvent(stream_t s, event_t e, unsigned flags);
HEDDLE_CUDA error_t cudaStreamWaitEvent_ptsz(stream_t s, event_t e, unsigned flags);
HEDDLE_CUDA error_t cudaStreamGetId(stream_t s, unsigned long long* id);
HEDDLE_CUDA error_t cudaStreamGetId_ptsz(stream_t s, unsigned long long* id);
HEDDLE_CUDA error_t cudaStreamGetPriority(stream_t s, int* priority);
HEDDLE_CUDA error_t cudaStreamGetFlags(stream_t s, unsigned* flags);
HEDDLE_CUDA error_t cudaStreamAddCallback(stream_t s, void (*f)(stream_t, error_t, void*), void* data, unsigned flags);
HEDDLE_CUDA error_t cudaStreamAddCallback_ptsz(stream_t s, void (*f)(stream_t, error_t, void*), void* data,
                                               unsigned flags);
HEDDLE_CUDA error_t cudaLaunchHostFunc(stream_t s, void (*f)(void*), void* data);
HEDDLE_CUDA error_t cudaLaunchHostFunc_ptsz(stream_t s, void (*f)(void*), void* data);

HEDDLE_CUDA error_t cudaEventCreateWithFlags(event_t* e, unsigned flags);
HEDDLE_CUDA error_t cudaEventDestroy(event_t e);
HEDDLE_CUDA error_t cudaEventRecord(event_t e, stream_t s);
HEDDLE_CUDA error_t cudaEventRecord_ptsz(event_t e, stream_t s);
HEDDLE_CUDA error_t cudaEventRecordWithFlags(event_t e, stream_t s, unsigned flags);
HEDDLE_CUDA error_t cudaEventRecordWithFlags_ptsz(event_t e, stream_t s, unsigned flags);
HEDDLE_CUDA error_t cudaEventSynchronize(event_t e);
HEDDLE_CUDA error_t cudaEventQuery(event_t e);
HEDDLE_CUDA error_t cudaEventElapsedTime(float* milliseconds, event_t from, event_t to);

HEDDLE_CUDA error_t cudaFuncGetAttributes(function_attributes* a, const void* function);
HEDDLE_CUDA error_t cudaFuncSetAttribute(const void* function, int attribute, int value);
HEDDLE_CUDA error_t cudaFuncSetCacheConfig(const void* function, int preference);
HEDDLE_CUDA error_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function,
                                                                           int threads, std::size_t dynamic,
                                                                           unsigned flags);
HEDDLE_CUDA error_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* function, int blocks,
                                                              int threads);

}  // namespace heddle::cuda
