/* SPDX-License-Identifier: MIT */
/* The part of the driver API that its tests use, declared here so that they compile without NVIDIA's headers. */
#ifndef HEDDLE_TEST_DRIVER_H
#define HEDDLE_TEST_DRIVER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t address;
typedef void* handle;

typedef struct {
  size_t from_x, from_y;
  int from_type;
  const void* from_host;
  address from_device;
  handle from_array;
  size_t from_pitch;
  size_t to_x, to_y;
  int to_type;
  void* to_host;
  address to_device;
  handle to_array;
  size_t to_pitch;
  size_t width, height;
} copy_2d;
typedef struct {
  size_t from_x, from_y, from_z, from_level;
  int from_type;
  const void* from_host;
  address from_device;
  handle from_array, from_reserved;
  size_t from_pitch, from_height;
  size_t to_x, to_y, to_z, to_level;
  int to_type;
  void* to_host;
  address to_device;
  handle to_array, to_reserved;
  size_t to_pitch, to_height;
  size_t width, height, depth;
} copy_3d;
typedef struct {
  unsigned grid[3], block[3], shared;
  handle stream;
  void* attributes;
  unsigned attribute_count;
} launch_config;

int cuInit(unsigned);
int cuDriverGetVersion(int*);
int cuDeviceGet(int*, int);
int cuDeviceGetCount(int*);
int cuDeviceGetName(char*, int, int);
int cuDeviceGetAttribute(int*, int, int);
int cuDeviceTotalMem_v2(size_t*, int);
int cuDeviceGetPCIBusId(char*, int, int);
int cuDeviceComputeCapability(int*, int*, int);
int cuDevicePrimaryCtxRetain(handle*, int);
int cuDevicePrimaryCtxRelease_v2(int);
int cuDevicePrimaryCtxGetState(int, unsigned*, int*);
int cuCtxCreate_v2(handle*, unsigned, int);
int cuCtxDestroy_v2(handle);
int cuCtxPushCurrent_v2(handle);
int cuCtxPopCurrent_v2(handle*);
int cuCtxSetCurrent(handle);
int cuCtxGetCurrent(handle*);
int cuCtxSynchronize(void);
int cuModuleLoad(handle*, const char*);
int cuModuleLoadData(handle*, const void*);
int cuModuleLoadDataEx(handle*, const void*, unsigned, int*, void**);
int cuModuleUnload(handle);
int cuModuleGetFunction(handle*, handle, const char*);
int cuModuleGetGlobal_v2(address*, size_t*, handle, const char*);
int cuModuleGetFunctionCount(unsigned*, handle);
int cuLibraryLoadData(handle*, const void*, int*, void**, unsigned, int*, void**, unsigned);
int cuLibraryLoadFromFile(handle*, const char*, int*, void**, unsigned, int*, void**, unsigned);
int cuLibraryGetKernel(handle*, handle, const char*);
int cuKernelGetFunction(handle*, handle);
int cuLinkCreate_v2(unsigned, int*, void**, handle*);
int cuLinkAddFile_v2(handle, int, const char*, unsigned, int*, void**);
int cuLinkAddData_v2(handle, int, void*, size_t, const char*, unsigned, int*, void**);
int cuLinkComplete(handle, void**, size_t*);
int cuLinkDestroy(handle);
int cuFuncGetAttribute(int*, int, handle);
int cuLaunchCooperativeKernel(handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, handle,
                              void**);
int cuFuncGetParamInfo(handle, size_t, size_t*, size_t*);
int cuFuncSetBlockShape(handle, int, int, int);
int cuParamSetSize(handle, unsigned);
int cuParamSeti(handle, int, unsigned);
int cuParamSetv(handle, int, void*, unsigned);
int cuLaunchGrid(handle, int, int);
int cuLaunchKernel(handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, handle, void**,
                   void**);
int cuLaunchKernelEx(const launch_config*, handle, void**, void**);
int cuLaunchHostFunc(handle, void (*)(void*), void*);
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int*, handle, int, size_t);
int cuOccupancyMaxPotentialBlockSize(int*, int*, handle, size_t (*)(int), size_t, int);
int cuMemAddressFree(address, size_t);
int cuMemAddressReserve(address*, size_t, size_t, address, unsigned long long);
int cuMemAlloc_v2(address*, size_t);
int cuMemAllocManaged(address*, size_t, unsigned);
int cuMemAllocPitch_v2(address*, size_t*, size_t, size_t, unsigned);
int cuMemHostAlloc(void**, size_t, unsigned);
int cuMemFreeHost(void*);
int cuMemHostRegister_v2(void*, size_t, unsigned);
int cuMemHostUnregister(void*);
int cuMemFree_v2(address);
int cuMemGetInfo_v2(size_t*, size_t*);
int cuMemGetAddressRange_v2(address*, size_t*, address);
int cuPointerGetAttribute(void*, int, address);
int cuMemcpy(address, address, size_t);
int cuMemcpyHtoD_v2(address, const void*, size_t);
int cuMemcpyDtoH_v2(void*, address, size_t);
int cuMemcpyDtoD_v2(address, address, size_t);
int cuMemcpyHtoDAsync_v2(address, const void*, size_t, handle);
int cuMemcpyDtoHAsync_v2(void*, address, size_t, handle);
int cuMemcpy2D_v2(const copy_2d*);
int cuMemcpy3D_v2(const copy_3d*);
int cuMemcpy3DPeer(const copy_3d*);
int cuMemcpy3DPeerAsync(const copy_3d*, handle);
int cuMemcpyBatchAsync_v2(address*, address*, size_t*, size_t, void*, size_t*, size_t, handle);
int cuMemsetD8_v2(address, unsigned char, size_t);
int cuMemsetD16_v2(address, unsigned short, size_t);
int cuMemsetD32_v2(address, unsigned, size_t);
int cuMemsetD2D32_v2(address, size_t, unsigned, size_t, size_t);
int cuStreamCreate(handle*, unsigned);
int cuStreamDestroy_v2(handle);
int cuStreamSynchronize(handle);
int cuStreamSynchronize_ptsz(handle);
int cuStreamQuery(handle);
int cuEventCreate(handle*, unsigned);
int cuEventRecord(handle, handle);
int cuEventSynchronize(handle);
int cuEventElapsedTime(float*, handle, handle);
int cuEventDestroy_v2(handle);
int cuGetErrorName(int, const char**);
int cuGetErrorString(int, const char**);
int cuGetProcAddress_v2(const char*, void**, int, uint64_t, int*);
int cuGetExportTable(const void**, const void*);
int cuStreamBeginCapture_v2(handle, int);
int cuStreamEndCapture(handle, handle*);
int cuStreamIsCapturing(handle, int*);
int cuGraphInstantiateWithFlags(handle*, handle, unsigned long long);
int cuGraphAddKernelNode_v2(handle*, handle, const handle*, size_t, const void*);
int cuGraphGetNodes(handle, handle*, size_t*);
int cuGraphLaunch(handle, handle);
int cuGraphExecDestroy(handle);
int cuGraphDestroy(handle);
int cuMemAllocAsync(address*, size_t, handle);
int cuMemFreeAsync(address, handle);
int cuDeviceGetDefaultMemPool(handle*, int);
int cuArrayCreate_v2(handle*, const void*);
int cuArrayGetDescriptor_v2(void*, handle);
int cuArrayDestroy(handle);
int cuMulticastCreate(handle*, const void*);

/* Runtime functions. */
int cudaFree(void*);
int cudaMalloc(void**, size_t);
int cudaMemcpy(void*, const void*, size_t, int);
int cudaGetLastError(void);
int cudaStreamCreate(handle*);
int cudaStreamSynchronize(handle);
int cudaEventElapsedTime(float*, handle, handle);
int cudaGetDriverEntryPointByVersion(const char*, void**, unsigned, unsigned long long, int*);

/* A call with an unexpected result ends the test program. */
#define EXPECT(call, expected)                                                            \
  do {                                                                                    \
    const int came = (int)(call);                                                         \
    if (came != (int)(expected)) {                                                        \
      printf("line %d: %s is %d, expected %d\n", __LINE__, #call, came, (int)(expected)); \
      exit(1);                                                                            \
    }                                                                                     \
  } while (0)
#define GOOD(call) EXPECT(call, 0)

static char* text_of(const char* path) {
  FILE* file = fopen(path, "rb");
  char* text = calloc(1, 1 << 16);
  if (file == NULL || text == NULL || fread(text, 1, (1 << 16) - 1, file) == 0) exit(3);
  fclose(file);
  return text;
}

#endif
