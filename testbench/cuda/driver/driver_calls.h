// SPDX-License-Identifier: MIT
// Driver functions that the runtime offers under other names.
#pragma once

#include "testbench/cuda/driver/driver.h"

namespace heddle::cuda {

HEDDLE_CUDA result_t cuLibraryLoadData(image** l, const void* data, const int* names, void** values, unsigned count,
                                       const int*, void**, unsigned);
HEDDLE_CUDA result_t cuLibraryLoadFromFile(image** l, const char* path, const int* names, void** values, unsigned count,
                                           const int*, void**, unsigned);
HEDDLE_CUDA result_t cuLibraryUnload(image* l);
HEDDLE_CUDA result_t cuLibraryGetKernel(void** kernel, image* l, const char* name);
HEDDLE_CUDA result_t cuLibraryGetKernelCount(unsigned* count, image* l);
HEDDLE_CUDA result_t cuKernelSetAttribute(int attribute, int value, const void* kernel, device_t device);
HEDDLE_CUDA result_t cuLibraryEnumerateKernels(void** kernels, unsigned most, image* l);
HEDDLE_CUDA result_t cuLibraryGetGlobal(address_t* a, std::size_t* bytes, image* l, const char* name);
HEDDLE_CUDA result_t cuLibraryGetManaged(address_t* a, std::size_t* bytes, image* l, const char* name);

}  // namespace heddle::cuda
