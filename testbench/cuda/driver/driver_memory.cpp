// SPDX-License-Identifier: MIT
// The driver API: memory and pointer attributes.
#include <cstring>

#include "testbench/cuda/core/capture.h"
#include "testbench/cuda/core/host_memory.h"
#include "testbench/cuda/core/runtime_calls.h"
#include "testbench/cuda/driver/driver.h"

using namespace heddle;
using namespace heddle::cuda;

namespace {

enum memory_place : unsigned { host_place = 1, device_place = 2 };  // CUmemorytype

result_t make(address_t* to, std::size_t bytes, wire::memory_kind kind, memory_type type, unsigned flags) {
  return driven([&]() -> error_t {
    if (to == nullptr || bytes == 0) return error::invalid_value;
    void* p = nullptr;
    error_t e = refused_by_capture();
    if (e == error::none) e = allocate(&p, bytes, kind, type, flags);
    if (e == error::none) *to = reinterpret_cast<address_t>(p);
    return e;
  });
}

result_t make_host(void** to, std::size_t bytes, unsigned flags) {
  return driven([&] {
    if (to == nullptr || flags > most_host_flags) return error::invalid_value;
    const error_t e = refused_by_capture();
    return e != error::none ? e : allocate(to, bytes, wire::memory_kind::host, host, flags);
  });
}

result_t free_of(address_t a) {
  return driven_release([&] {
    const error_t e = refused_by_capture();
    return e != error::none ? e : free_memory(pointer_of(a));
  });
}

/// Returns a CUpointer_attribute in `value`, in the attribute's own type.
error_t attribute_of(void* value, int attribute, address_t address) {
  const allocation a = allocation_of(pointer_of(address));
  const auto put = [value](auto v) {
    std::memcpy(value, &v, sizeof v);
    return error::none;
  };
  if (value == nullptr) return error::invalid_value;
  if (a.type == unregistered) return error::invalid_value;
  switch (attribute) {
    case 1: return put(a.owner != nullptr ? a.owner : static_cast<const void*>(current_context()));
    case 2: return put(static_cast<unsigned>(a.type == host ? host_place : device_place));
    case 3: return put(address);
    case 4: return a.type == device ? error::invalid_value : put(address);
    case 5: return put(std::uint64_t{0});  // no tokens of peers
    case 6: return put(std::uint8_t{1});   // copies are ordered in any case
    case 7: return put(static_cast<unsigned long long>(a.address));
    case 8: return put(std::uint8_t{a.type == managed});
    case 9: return put(int{0});
    case 10: return put(std::uint8_t{0});
    case 11: return put(a.address);
    case 12: return put(static_cast<std::size_t>(a.bytes));
    case 13: return put(std::uint8_t{1});
    case 14: return put(std::uint64_t{0});
    case 15: return put(std::uint8_t{0});
    case 16: return put(unsigned{a.type == unregistered ? 0u : 3u});  // read and write access
    case 17: return put(static_cast<void*>(nullptr));
    case 18: return put(static_cast<std::size_t>(a.bytes));
    case 19: return put(a.address);
    case 20: return put(static_cast<unsigned long long>(a.address));
    case 21: return put(int{0});  // no unit that decompresses
    default: return error::invalid_value;
  }
}

/// The size of an attribute's type, for unknown pointers, which have no attributes.
std::size_t bytes_of_attribute(int attribute) {
  switch (attribute) {
    case 6:
    case 8:
    case 10:
    case 13:
    case 15: return 1;
    case 2:
    case 9:
    case 16: return 4;
    default: return 8;
  }
}

}  // namespace

HEDDLE_CUDA result_t cuMemAlloc_v2(address_t* a, std::size_t bytes) {
  if (a != nullptr && bytes == 0) *a = 0;
  return make(a, bytes, wire::memory_kind::device, device, 0);
}
HEDDLE_CUDA result_t cuMemAllocManaged(address_t* a, std::size_t bytes, unsigned flags) {
  if (flags != 1 && flags != 2) return result::invalid_value;  // attached globally, or to the host
  return make(a, bytes, wire::memory_kind::managed, managed, flags);
}
HEDDLE_CUDA result_t cuMemAllocPitch_v2(address_t* a, std::size_t* pitch, std::size_t width, std::size_t height,
                                        unsigned element) {
  if (pitch == nullptr) return result::invalid_value;
  *pitch = 0;
  if (element != 4 && element != 8 && element != 16) return result::invalid_value;
  *pitch = (width + 511) / 512 * 512;
  return make(a, *pitch * height, wire::memory_kind::device, device, 0);
}
HEDDLE_CUDA result_t cuMemFree_v2(address_t a) { return free_of(a); }
HEDDLE_CUDA result_t cuMemHostAlloc(void** p, std::size_t bytes, unsigned flags) { return make_host(p, bytes, flags); }
HEDDLE_CUDA result_t cuMemAllocHost_v2(void** p, std::size_t bytes) { return make_host(p, bytes, 0); }
HEDDLE_CUDA result_t cuMemFreeHost(void* p) {
  return driven_release([&] { return cudaFreeHost(p); });
}

HEDDLE_DRIVER_BOTH(cuMemAllocAsync, cuMemAllocAsync_ptsz, (address_t * a, std::size_t bytes, stream_t s), {
  void* p = nullptr;
  if (a == nullptr || bytes == 0) return error::invalid_value;
  const error_t e = per_thread ? cudaMallocAsync_ptsz(&p, bytes, s) : cudaMallocAsync(&p, bytes, s);
  if (e == error::none) *a = reinterpret_cast<address_t>(p);
  return e;
})
HEDDLE_DRIVER_BOTH(cuMemFreeAsync, cuMemFreeAsync_ptsz, (address_t a, stream_t s),
                   { return per_thread ? cudaFreeAsync_ptsz(pointer_of(a), s) : cudaFreeAsync(pointer_of(a), s); })

HEDDLE_CUDA result_t cuMemHostRegister_v2(void* p, std::size_t bytes, unsigned flags) {
  return driven([&] { return cudaHostRegister(p, bytes, flags); });
}
HEDDLE_CUDA result_t cuMemHostUnregister(void* p) {
  return driven_release([&] { return cudaHostUnregister(p); });
}
HEDDLE_CUDA result_t cuMemHostGetDevicePointer_v2(address_t* a, void* p, unsigned flags) {
  return driven([&] {
    void* to = nullptr;
    const error_t e = cudaHostGetDevicePointer(&to, p, flags);
    return e != error::none ? e : put_result(a, reinterpret_cast<address_t>(to));
  });
}
HEDDLE_CUDA result_t cuMemHostGetFlags(unsigned* flags, void* p) {
  return driven([&] { return cudaHostGetFlags(flags, p); });
}

HEDDLE_CUDA result_t cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  return driven([&] { return cudaMemGetInfo(free, total); });
}
HEDDLE_CUDA result_t cuMemGetAddressRange_v2(address_t* begin, std::size_t* bytes, address_t a) {
  return driven([&]() -> error_t {
    const allocation found = allocation_of(pointer_of(a));
    if (found.type == unregistered) return error::not_found;
    if (begin != nullptr) *begin = found.address;
    if (bytes != nullptr) *bytes = found.bytes;
    return error::none;
  });
}
HEDDLE_CUDA result_t cuPointerGetAttribute(void* value, int attribute, address_t a) {
  return driven([&] { return attribute_of(value, attribute, a); });
}
/// As in CUDA, the attributes of an unknown pointer are zero.
HEDDLE_CUDA result_t cuPointerGetAttributes(unsigned count, const int* attributes, void** values, address_t a) {
  return driven([&]() -> error_t {
    if (count == 0 || any_null(attributes, values)) return error::invalid_value;
    for (unsigned k = 0; k < count; ++k) {
      const error_t e = attribute_of(values[k], attributes[k], a);
      if (e == error::invalid_value && values[k] != nullptr) {
        std::memset(values[k], 0, bytes_of_attribute(attributes[k]));
        if (attributes[k] == 9) *static_cast<int*>(values[k]) = -2;  // no device
      } else if (e != error::none) {
        return e;
      }
    }
    return error::none;
  });
}
HEDDLE_CUDA result_t cuPointerSetAttribute(const void*, int attribute, address_t) {
  return driven([&] { return attribute == 6 ? error::none : error::invalid_value; });  // copies are ordered anyway
}

HEDDLE_CUDA error_t cudaMemRangeGetAttribute(void* data, std::size_t data_bytes, int attribute, const void* p,
                                             std::size_t bytes);
HEDDLE_CUDA result_t cuMemRangeGetAttribute(void* data, std::size_t data_bytes, int attribute, address_t a,
                                            std::size_t bytes) {
  return driven([&] { return cudaMemRangeGetAttribute(data, data_bytes, attribute, pointer_of(a), bytes); });
}
HEDDLE_CUDA error_t cudaMemRangeGetAttributes(void** data, std::size_t* data_bytes, const int* attributes,
                                              std::size_t count, const void* p, std::size_t bytes);
HEDDLE_CUDA result_t cuMemRangeGetAttributes(void** data, std::size_t* data_bytes, const int* attributes,
                                             std::size_t count, address_t a, std::size_t bytes) {
  return driven([&] { return cudaMemRangeGetAttributes(data, data_bytes, attributes, count, pointer_of(a), bytes); });
}

/// CUmemLocation, which is cudaMemLocation.
struct memory_location {
  int type, id;
};
namespace {
/// Before CUDA 12.2 a device, or -1 for the host.
memory_location location_of_device(device_t device) {
  constexpr int on_device = 1, on_host = 2;
  return device == -1 ? memory_location{on_host, 0} : memory_location{on_device, device};
}
}  // namespace
HEDDLE_CUDA error_t cudaMemAdvise_v2(const void* p, std::size_t bytes, int advice, memory_location where);
HEDDLE_CUDA result_t cuMemAdvise_v2(address_t a, std::size_t bytes, int advice, memory_location where) {
  return driven([&] { return cudaMemAdvise_v2(pointer_of(a), bytes, advice, where); });
}
HEDDLE_CUDA result_t cuMemAdvise(address_t a, std::size_t bytes, int advice, device_t device) {
  return cuMemAdvise_v2(a, bytes, advice, location_of_device(device));
}
HEDDLE_CUDA error_t cudaMemPrefetchAsync_v2(const void* p, std::size_t bytes, memory_location where, unsigned flags,
                                            stream_t s);
HEDDLE_CUDA error_t cudaMemPrefetchAsync_v2_ptsz(const void* p, std::size_t bytes, memory_location where,
                                                 unsigned flags, stream_t s);
HEDDLE_DRIVER_BOTH(cuMemPrefetchAsync_v2, cuMemPrefetchAsync_v2_ptsz,
                   (address_t a, std::size_t bytes, memory_location where, unsigned flags, stream_t s), {
                     return per_thread ? cudaMemPrefetchAsync_v2_ptsz(pointer_of(a), bytes, where, flags, s)
                                       : cudaMemPrefetchAsync_v2(pointer_of(a), bytes, where, flags, s);
                   })
HEDDLE_CUDA error_t cudaMemPrefetchBatchAsync(void* const* at, const std::size_t* bytes, std::size_t count,
                                              const memory_location* where, const std::size_t* first_ranges,
                                              std::size_t where_count, unsigned long long flags, stream_t s);
HEDDLE_CUDA error_t cudaMemPrefetchBatchAsync_ptsz(void* const* at, const std::size_t* bytes, std::size_t count,
                                                   const memory_location* where, const std::size_t* first_ranges,
                                                   std::size_t where_count, unsigned long long flags, stream_t s);
HEDDLE_CUDA error_t cudaMemDiscardAndPrefetchBatchAsync(void* const* at, const std::size_t* bytes, std::size_t count,
                                                        const memory_location* where, const std::size_t* first_ranges,
                                                        std::size_t where_count, unsigned long long flags, stream_t s);
HEDDLE_CUDA error_t cudaMemDiscardAndPrefetchBatchAsync_ptsz(void* const* at, const std::size_t* bytes,
                                                             std::size_t count, const memory_location* where,
                                                             const std::size_t* first_ranges, std::size_t where_count,
                                                             unsigned long long flags, stream_t s);
HEDDLE_CUDA error_t cudaMemDiscardBatchAsync(void* const* at, const std::size_t* bytes, std::size_t count,
                                             unsigned long long flags, stream_t s);
HEDDLE_CUDA error_t cudaMemDiscardBatchAsync_ptsz(void* const* at, const std::size_t* bytes, std::size_t count,
                                                  unsigned long long flags, stream_t s);
HEDDLE_DRIVER_BOTH(cuMemPrefetchBatchAsync, cuMemPrefetchBatchAsync_ptsz,
                   (void* const* at, const std::size_t* bytes, std::size_t count, const memory_location* where,
                    const std::size_t* first_ranges, std::size_t where_count, unsigned long long flags, stream_t s),
                   {
                     const auto f = per_thread ? cudaMemPrefetchBatchAsync_ptsz : cudaMemPrefetchBatchAsync;
                     return f(at, bytes, count, where, first_ranges, where_count, flags, s);
                   })
HEDDLE_DRIVER_BOTH(cuMemDiscardAndPrefetchBatchAsync, cuMemDiscardAndPrefetchBatchAsync_ptsz,
                   (void* const* at, const std::size_t* bytes, std::size_t count, const memory_location* where,
                    const std::size_t* first_ranges, std::size_t where_count, unsigned long long flags, stream_t s),
                   {
                     const auto f =
                         per_thread ? cudaMemDiscardAndPrefetchBatchAsync_ptsz : cudaMemDiscardAndPrefetchBatchAsync;
                     return f(at, bytes, count, where, first_ranges, where_count, flags, s);
                   })
HEDDLE_DRIVER_BOTH(cuMemDiscardBatchAsync, cuMemDiscardBatchAsync_ptsz,
                   (void* const* at, const std::size_t* bytes, std::size_t count, unsigned long long flags, stream_t s),
                   {
                     return (per_thread ? cudaMemDiscardBatchAsync_ptsz : cudaMemDiscardBatchAsync)(at, bytes, count,
                                                                                                    flags, s);
                   })
HEDDLE_CUDA result_t cuMemPrefetchAsync(address_t a, std::size_t bytes, device_t device, stream_t s) {
  return cuMemPrefetchAsync_v2(a, bytes, location_of_device(device), 0, s);
}
HEDDLE_CUDA result_t cuMemPrefetchAsync_ptsz(address_t a, std::size_t bytes, device_t device, stream_t s) {
  return cuMemPrefetchAsync_v2_ptsz(a, bytes, location_of_device(device), 0, s);
}
HEDDLE_CUDA error_t cudaStreamAttachMemAsync(stream_t s, void* p, std::size_t bytes, unsigned flags);
HEDDLE_CUDA error_t cudaStreamAttachMemAsync_ptsz(stream_t s, void* p, std::size_t bytes, unsigned flags);
HEDDLE_DRIVER_BOTH(cuStreamAttachMemAsync, cuStreamAttachMemAsync_ptsz,
                   (stream_t s, address_t a, std::size_t bytes, unsigned flags), {
                     return per_thread ? cudaStreamAttachMemAsync_ptsz(s, pointer_of(a), bytes, flags)
                                       : cudaStreamAttachMemAsync(s, pointer_of(a), bytes, flags);
                   })
