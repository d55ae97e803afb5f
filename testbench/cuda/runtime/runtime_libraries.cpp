// SPDX-License-Identifier: MIT
// The runtime: libraries that the program loads itself. They are the driver's libraries.
#include "testbench/cuda/driver/driver_calls.h"

using namespace heddle::cuda;

namespace {

/// Calls the driver with a current context; its errors and the runtime's have the same numbers.
template <class F>
error_t by_driver(F&& f) {
  if (chip() == nullptr) return noted(error::no_device);
  use_primary_context();
  return noted(f());
}

}  // namespace

HEDDLE_CUDA error_t cudaLibraryLoadData(image** l, const void* data, const int* names, void** values, unsigned count,
                                        const int* own_names, void** own_values, unsigned own_count) {
  return by_driver([&] { return cuLibraryLoadData(l, data, names, values, count, own_names, own_values, own_count); });
}
HEDDLE_CUDA error_t cudaLibraryLoadFromFile(image** l, const char* path, const int* names, void** values,
                                            unsigned count, const int* own_names, void** own_values,
                                            unsigned own_count) {
  return by_driver(
      [&] { return cuLibraryLoadFromFile(l, path, names, values, count, own_names, own_values, own_count); });
}
HEDDLE_CUDA error_t cudaLibraryUnload(image* l) {
  return by_driver([&] { return cuLibraryUnload(l); });
}
HEDDLE_CUDA error_t cudaLibraryGetKernel(void** kernel, image* l, const char* name) {
  return by_driver([&] { return cuLibraryGetKernel(kernel, l, name); });
}
HEDDLE_CUDA error_t cudaLibraryGetKernelCount(unsigned* count, image* l) {
  return by_driver([&] { return cuLibraryGetKernelCount(count, l); });
}
HEDDLE_CUDA error_t cudaLibraryEnumerateKernels(void** kernels, unsigned most, image* l) {
  return by_driver([&] { return cuLibraryEnumerateKernels(kernels, most, l); });
}
HEDDLE_CUDA error_t cudaKernelSetAttributeForDevice(const void* kernel, int attribute, int value, int device) {
  return by_driver([&] { return cuKernelSetAttribute(attribute, value, kernel, device); });
}
HEDDLE_CUDA error_t cudaLibraryGetGlobal(void** to, std::size_t* bytes, image* l, const char* name) {
  address_t a = 0;
  const error_t e = by_driver([&] { return cuLibraryGetGlobal(&a, bytes, l, name); });
  if (e == error::none && to != nullptr) *to = pointer_of(a);
  return e;
}
HEDDLE_CUDA error_t cudaLibraryGetManaged(void** to, std::size_t* bytes, image* l, const char* name) {
  address_t a = 0;
  const error_t e = by_driver([&] { return cuLibraryGetManaged(&a, bytes, l, name); });
  if (e == error::none && to != nullptr) *to = pointer_of(a);
  return e;
}
