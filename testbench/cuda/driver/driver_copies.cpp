// SPDX-License-Identifier: MIT
// The driver API: copies and fills.
#include "testbench/cuda/core/array.h"
#include "testbench/cuda/core/operations.h"
#include "testbench/cuda/driver/driver.h"
#include "testbench/cuda/driver/driver_copy.h"

using namespace heddle;
using namespace heddle::cuda;

namespace {

/// One side of CUDA_MEMCPY2D.
struct side_2d {
  std::size_t x_bytes, y;
  int where;
  const void* host;
  address_t device;
  array_t array;
  std::size_t pitch;
};
struct driver_copy_2d {
  side_2d from, to;
  std::size_t width_bytes, height;
};
side_3d side_of(const side_2d& s) {
  return {s.x_bytes, s.y, 0, 0, s.where, s.host, s.device, s.array, nullptr, s.pitch, 0};
}

/// The start of a side, and its pitches.
struct corner {
  char* at = nullptr;
  std::size_t pitch = 0, layer = 0;
};

error_t corner_of(const side_3d& s, std::size_t width, std::size_t height, std::size_t depth, corner& c) {
  if (s.level != 0) return error::invalid_value;
  if (s.where == in_array) {
    const array_record* a = known_array(s.array);
    if (a == nullptr || s.x_bytes + width > a->row_bytes() || s.y + height > a->rows() || s.z + depth > a->layers())
      return error::invalid_value;
    c = {reinterpret_cast<char*>(a->address) + s.z * a->layer_bytes() + s.y * a->row_bytes() + s.x_bytes,
         a->row_bytes(), a->layer_bytes()};
    return error::none;
  }
  if (s.where < in_host || s.where > by_pointer) return error::invalid_value;
  c.pitch = s.pitch != 0 ? s.pitch : s.x_bytes + width;
  c.layer = c.pitch * (s.height != 0 ? s.height : s.y + height);
  const bool leaves_layer = depth > 1 && s.height != 0 && s.y + height > s.height;
  if (c.pitch < s.x_bytes + width || leaves_layer) return error::invalid_value;
  const auto base = s.where == in_host ? reinterpret_cast<address_t>(s.host) : s.device;
  c.at = reinterpret_cast<char*>(base + s.z * c.layer + s.y * c.pitch + s.x_bytes);
  return base != 0 ? error::none : error::invalid_value;
}

error_t copy(const driver_copy_3d& c, std::uint32_t stream, manner how) {
  if (c.width_bytes == 0 || c.height == 0 || c.depth == 0) return error::none;
  corner from, to;
  error_t e = corner_of(c.from, c.width_bytes, c.height, c.depth, from);
  if (e == error::none) e = corner_of(c.to, c.width_bytes, c.height, c.depth, to);
  if (e != error::none) return e;
  return copy({to.at, to.pitch, to.layer, from.at, from.pitch, from.layer, c.width_bytes, c.height, c.depth,
               direction(c.from.where, c.to.where)},
              stream, how);
}

error_t copy(const driver_copy_2d* c, std::uint32_t stream, manner how) {
  if (c == nullptr) return error::invalid_value;
  return copy(driver_copy_3d{side_of(c->from), side_of(c->to), c->width_bytes, c->height, 1}, stream, how);
}

error_t copy(const driver_copy_3d* c, std::uint32_t stream, manner how) {
  return c == nullptr ? error::invalid_value : copy(*c, stream, how);
}

error_t copy(address_t to, address_t from, std::size_t bytes, int kind, std::uint32_t stream, manner how) {
  return copy(copy_of_row(pointer_of(to), pointer_of(from), bytes, kind), stream, how);
}

side_3d in_memory(int where, address_t a) { return {0, 0, 0, 0, where, pointer_of(a), a, nullptr, nullptr, 0, 0}; }
side_3d in_row(array_t a, std::size_t offset) { return {offset, 0, 0, 0, in_array, nullptr, 0, a, nullptr, 0, 0}; }

error_t copy_row(const side_3d& to, const side_3d& from, std::size_t bytes, std::uint32_t stream, manner how) {
  return copy(driver_copy_3d{from, to, bytes, 1, 1}, stream, how);
}

error_t fill(address_t to, std::size_t pitch, unsigned value, unsigned value_bytes, std::size_t width,
             std::size_t height, std::uint32_t stream, manner how) {
  const std::size_t bytes = width * value_bytes;
  if (to % value_bytes != 0 || (height > 1 && (pitch < bytes || pitch % value_bytes != 0))) return error::invalid_value;
  return fill({pointer_of(to), pitch != 0 ? pitch : bytes, (pitch != 0 ? pitch : bytes) * height, value, value_bytes,
               bytes, height, 1},
              stream, how);
}

address_t number_of(const void* p) { return reinterpret_cast<address_t>(p); }
/// The number of the default stream.
std::uint32_t usual(bool per_thread) { return stream_number(nullptr, per_thread); }

constexpr manner waits = manner::waits, no_wait = manner::asynchronous;

}  // namespace

HEDDLE_DRIVER_BOTH(cuMemcpy, cuMemcpy_ptds, (address_t to, address_t from, std::size_t bytes),
                   { return copy(to, from, bytes, by_pointers, usual(per_thread), waits); })
HEDDLE_DRIVER_BOTH(cuMemcpyAsync, cuMemcpyAsync_ptsz, (address_t to, address_t from, std::size_t bytes, stream_t s),
                   { return copy(to, from, bytes, by_pointers, stream_number(s, per_thread), no_wait); })
HEDDLE_DRIVER_BOTH(cuMemcpyPeer, cuMemcpyPeer_ptds,
                   (address_t to, context*, address_t from, context*, std::size_t bytes),
                   { return copy(to, from, bytes, device_to_device, usual(per_thread), waits); })
HEDDLE_DRIVER_BOTH(cuMemcpyPeerAsync, cuMemcpyPeerAsync_ptsz,
                   (address_t to, context*, address_t from, context*, std::size_t bytes, stream_t s),
                   { return copy(to, from, bytes, device_to_device, stream_number(s, per_thread), no_wait); })
HEDDLE_DRIVER_BOTH(cuMemcpyHtoD_v2, cuMemcpyHtoD_v2_ptds, (address_t to, const void* from, std::size_t bytes),
                   { return copy(to, number_of(from), bytes, host_to_device, usual(per_thread), waits); })
HEDDLE_DRIVER_BOTH(cuMemcpyHtoDAsync_v2, cuMemcpyHtoDAsync_v2_ptsz,
                   (address_t to, const void* from, std::size_t bytes, stream_t s),
                   { return copy(to, number_of(from), bytes, host_to_device, stream_number(s, per_thread), no_wait); })
HEDDLE_DRIVER_BOTH(cuMemcpyDtoH_v2, cuMemcpyDtoH_v2_ptds, (void* to, address_t from, std::size_t bytes),
                   { return copy(number_of(to), from, bytes, device_to_host, usual(per_thread), waits); })
HEDDLE_DRIVER_BOTH(cuMemcpyDtoHAsync_v2, cuMemcpyDtoHAsync_v2_ptsz,
                   (void* to, address_t from, std::size_t bytes, stream_t s),
                   { return copy(number_of(to), from, bytes, device_to_host, stream_number(s, per_thread), no_wait); })
HEDDLE_DRIVER_BOTH(cuMemcpyDtoD_v2, cuMemcpyDtoD_v2_ptds, (address_t to, address_t from, std::size_t bytes),
                   { return copy(to, from, bytes, device_to_device, usual(per_thread), waits); })
HEDDLE_DRIVER_BOTH(cuMemcpyDtoDAsync_v2, cuMemcpyDtoDAsync_v2_ptsz,
                   (address_t to, address_t from, std::size_t bytes, stream_t s),
                   { return copy(to, from, bytes, device_to_device, stream_number(s, per_thread), no_wait); })
HEDDLE_DRIVER_BOTH(cuMemcpyHtoA_v2, cuMemcpyHtoA_v2_ptds,
                   (array_t to, std::size_t at, const void* from, std::size_t bytes), {
                     return copy_row(in_row(to, at), in_memory(in_host, number_of(from)), bytes, usual(per_thread),
                                     waits);
                   })
HEDDLE_DRIVER_BOTH(cuMemcpyHtoAAsync_v2, cuMemcpyHtoAAsync_v2_ptsz,
                   (array_t to, std::size_t at, const void* from, std::size_t bytes, stream_t s), {
                     return copy_row(in_row(to, at), in_memory(in_host, number_of(from)), bytes,
                                     stream_number(s, per_thread), no_wait);
                   })
HEDDLE_DRIVER_BOTH(cuMemcpyAtoH_v2, cuMemcpyAtoH_v2_ptds, (void* to, array_t from, std::size_t at, std::size_t bytes), {
  return copy_row(in_memory(in_host, number_of(to)), in_row(from, at), bytes, usual(per_thread), waits);
})
HEDDLE_DRIVER_BOTH(cuMemcpyAtoHAsync_v2, cuMemcpyAtoHAsync_v2_ptsz,
                   (void* to, array_t from, std::size_t at, std::size_t bytes, stream_t s), {
                     return copy_row(in_memory(in_host, number_of(to)), in_row(from, at), bytes,
                                     stream_number(s, per_thread), no_wait);
                   })
HEDDLE_DRIVER_BOTH(cuMemcpyDtoA_v2, cuMemcpyDtoA_v2_ptds,
                   (array_t to, std::size_t at, address_t from, std::size_t bytes),
                   { return copy_row(in_row(to, at), in_memory(in_device, from), bytes, usual(per_thread), waits); })
HEDDLE_DRIVER_BOTH(cuMemcpyAtoD_v2, cuMemcpyAtoD_v2_ptds,
                   (address_t to, array_t from, std::size_t at, std::size_t bytes),
                   { return copy_row(in_memory(in_device, to), in_row(from, at), bytes, usual(per_thread), waits); })
HEDDLE_DRIVER_BOTH(cuMemcpyAtoA_v2, cuMemcpyAtoA_v2_ptds,
                   (array_t to, std::size_t to_at, array_t from, std::size_t from_at, std::size_t bytes),
                   { return copy_row(in_row(to, to_at), in_row(from, from_at), bytes, usual(per_thread), waits); })
HEDDLE_DRIVER_BOTH(cuMemcpy2D_v2, cuMemcpy2D_v2_ptds, (const driver_copy_2d* c),
                   { return copy(c, usual(per_thread), waits); })
HEDDLE_DRIVER_BOTH(cuMemcpy2DUnaligned_v2, cuMemcpy2DUnaligned_v2_ptds, (const driver_copy_2d* c),
                   { return copy(c, usual(per_thread), waits); })
HEDDLE_DRIVER_BOTH(cuMemcpy2DAsync_v2, cuMemcpy2DAsync_v2_ptsz, (const driver_copy_2d* c, stream_t s),
                   { return copy(c, stream_number(s, per_thread), no_wait); })
HEDDLE_DRIVER_BOTH(cuMemcpy3D_v2, cuMemcpy3D_v2_ptds, (const driver_copy_3d* c),
                   { return copy(c, usual(per_thread), waits); })
HEDDLE_DRIVER_BOTH(cuMemcpy3DAsync_v2, cuMemcpy3DAsync_v2_ptsz, (const driver_copy_3d* c, stream_t s),
                   { return copy(c, stream_number(s, per_thread), no_wait); })

HEDDLE_DRIVER_BOTH(cuMemsetD8_v2, cuMemsetD8_v2_ptds, (address_t to, std::uint8_t value, std::size_t count),
                   { return fill(to, 0, value, 1, count, 1, usual(per_thread), waits); })
HEDDLE_DRIVER_BOTH(cuMemsetD16_v2, cuMemsetD16_v2_ptds, (address_t to, std::uint16_t value, std::size_t count),
                   { return fill(to, 0, value, 2, count, 1, usual(per_thread), waits); })
HEDDLE_DRIVER_BOTH(cuMemsetD32_v2, cuMemsetD32_v2_ptds, (address_t to, std::uint32_t value, std::size_t count),
                   { return fill(to, 0, value, 4, count, 1, usual(per_thread), waits); })
HEDDLE_DRIVER_BOTH(cuMemsetD8Async, cuMemsetD8Async_ptsz,
                   (address_t to, std::uint8_t value, std::size_t count, stream_t s),
                   { return fill(to, 0, value, 1, count, 1, stream_number(s, per_thread), no_wait); })
HEDDLE_DRIVER_BOTH(cuMemsetD16Async, cuMemsetD16Async_ptsz,
                   (address_t to, std::uint16_t value, std::size_t count, stream_t s),
                   { return fill(to, 0, value, 2, count, 1, stream_number(s, per_thread), no_wait); })
HEDDLE_DRIVER_BOTH(cuMemsetD32Async, cuMemsetD32Async_ptsz,
                   (address_t to, std::uint32_t value, std::size_t count, stream_t s),
                   { return fill(to, 0, value, 4, count, 1, stream_number(s, per_thread), no_wait); })
HEDDLE_DRIVER_BOTH(cuMemsetD2D8_v2, cuMemsetD2D8_v2_ptds,
                   (address_t to, std::size_t pitch, std::uint8_t value, std::size_t width, std::size_t height),
                   { return fill(to, pitch, value, 1, width, height, usual(per_thread), waits); })
HEDDLE_DRIVER_BOTH(cuMemsetD2D16_v2, cuMemsetD2D16_v2_ptds,
                   (address_t to, std::size_t pitch, std::uint16_t value, std::size_t width, std::size_t height),
                   { return fill(to, pitch, value, 2, width, height, usual(per_thread), waits); })
HEDDLE_DRIVER_BOTH(cuMemsetD2D32_v2, cuMemsetD2D32_v2_ptds,
                   (address_t to, std::size_t pitch, std::uint32_t value, std::size_t width, std::size_t height),
                   { return fill(to, pitch, value, 4, width, height, usual(per_thread), waits); })
HEDDLE_DRIVER_BOTH(cuMemsetD2D8Async, cuMemsetD2D8Async_ptsz,
                   (address_t to, std::size_t pitch, std::uint8_t value, std::size_t width, std::size_t height,
                    stream_t s),
                   { return fill(to, pitch, value, 1, width, height, stream_number(s, per_thread), no_wait); })
HEDDLE_DRIVER_BOTH(cuMemsetD2D16Async, cuMemsetD2D16Async_ptsz,
                   (address_t to, std::size_t pitch, std::uint16_t value, std::size_t width, std::size_t height,
                    stream_t s),
                   { return fill(to, pitch, value, 2, width, height, stream_number(s, per_thread), no_wait); })
HEDDLE_DRIVER_BOTH(cuMemsetD2D32Async, cuMemsetD2D32Async_ptsz,
                   (address_t to, std::size_t pitch, std::uint32_t value, std::size_t width, std::size_t height,
                    stream_t s),
                   { return fill(to, pitch, value, 4, width, height, stream_number(s, per_thread), no_wait); })
HEDDLE_DRIVER_BOTH(cuMemcpyBatchAsync, cuMemcpyBatchAsync_ptsz,
                   (void* const* to, void* const* from, const std::size_t* bytes, std::size_t count,
                    const copy_attributes* attributes, const std::size_t* first_copies, std::size_t attribute_count,
                    std::size_t* failed, stream_t s),
                   {
                     return copy(row_batch{to, from, bytes, count, attributes, first_copies, attribute_count}, failed,
                                 stream_number(s, per_thread));
                   })
HEDDLE_DRIVER_BOTH(cuMemcpyBatchAsync_v2, cuMemcpyBatchAsync_v2_ptsz,
                   (void* const* to, void* const* from, const std::size_t* bytes, std::size_t count,
                    const copy_attributes* attributes, const std::size_t* first_copies, std::size_t attribute_count,
                    stream_t s),
                   {
                     return copy(row_batch{to, from, bytes, count, attributes, first_copies, attribute_count}, nullptr,
                                 stream_number(s, per_thread));
                   })
HEDDLE_DRIVER_BOTH(cuMemcpy3DBatchAsync, cuMemcpy3DBatchAsync_ptsz,
                   (std::size_t count, const batch_box* boxes, std::size_t* failed, unsigned long long flags,
                    stream_t s),
                   { return copy(boxes, count, flags, failed, stream_number(s, per_thread)); })
HEDDLE_DRIVER_BOTH(cuMemcpy3DBatchAsync_v2, cuMemcpy3DBatchAsync_v2_ptsz,
                   (std::size_t count, const batch_box* boxes, unsigned long long flags, stream_t s),
                   { return copy(boxes, count, flags, nullptr, stream_number(s, per_thread)); })
/// CUDA_MEMCPY3D_PEER has a context where CUDA_MEMCPY3D has a reserved word; there is one device.
HEDDLE_DRIVER_BOTH(cuMemcpy3DPeer, cuMemcpy3DPeer_ptds, (const driver_copy_3d* c),
                   { return copy(c, usual(per_thread), waits); })
HEDDLE_DRIVER_BOTH(cuMemcpy3DPeerAsync, cuMemcpy3DPeerAsync_ptsz, (const driver_copy_3d* c, stream_t s),
                   { return copy(c, stream_number(s, per_thread), no_wait); })
