// SPDX-License-Identifier: MIT
// The runtime: CUDA arrays, and copies from, to and between them.
#include <algorithm>
#include <mutex>
#include <set>

#include "testbench/cuda/core/array.h"
#include "testbench/cuda/core/client.h"
#include "testbench/cuda/core/operations.h"

using namespace heddle;
using namespace heddle::cuda;

// Arrays are device memory, allocated by these functions.
HEDDLE_CUDA error_t cudaMalloc(void** p, std::size_t bytes);
HEDDLE_CUDA error_t cudaFree(void* p);

namespace heddle::cuda {

namespace {

library_mutex arrays_mutex;
std::set<array_t>& arrays() {
  static auto* all = new std::set<array_t>;
  return *all;
}

constexpr error_t invalid_channel_descriptor = 20;
constexpr std::size_t cube_faces = 6;

bool within(const extent_t& e, const extent_t& most) {
  return e.width <= most.width && e.height <= most.height && e.depth <= most.depth;
}

/// The largest textures, which no chip since Pascal has changed.
bool is_valid(const extent_t& e, unsigned flags) {
  const bool layered = (flags & array_flag::layered) != 0, cubes = (flags & array_flag::cubemap) != 0;
  if (e.width == 0) return false;
  if (cubes && (e.width != e.height || e.depth == 0 || (layered ? e.depth % cube_faces != 0 : e.depth != cube_faces)))
    return false;
  if ((flags & array_flag::gather) != 0 && (e.height == 0 || e.depth != 0)) return false;
  if (layered) return e.depth != 0 && within(e, {32768, 32768, 2048});
  if (e.depth == 0) return within(e, {131072, 65536, 0});
  return e.height != 0 && (within(e, {16384, 16384, 16384}) || within(e, {8192, 8192, 32768}));
}

error_t allocate(array_t* array, const channel_format* format, extent_t e, unsigned flags) {
  if (array == nullptr || format == nullptr) return noted(error::invalid_value);
  *array = nullptr;
  if (!is_valid(*format)) return noted(invalid_channel_descriptor);
  // The last three say how memory is provided, which is the same here.
  constexpr unsigned known = array_flag::layered | array_flag::surface | array_flag::cubemap | array_flag::gather |
                             array_flag::sparse | array_flag::deferred | array_flag::video;
  if ((flags & ~known) != 0 || !is_valid(e, flags)) return noted(error::invalid_value);
  auto* made = new array_record;
  made->format = *format;
  made->extent = e;
  made->flags = flags;
  void* p = nullptr;
  const error_t status = cudaMalloc(&p, made->layer_bytes() * made->layers());
  if (status != error::none) {
    delete made;
    return status;
  }
  made->address = reinterpret_cast<std::uint64_t>(p);
  const std::lock_guard<std::mutex> lock(arrays_mutex);
  arrays().insert(made);
  *array = made;
  return error::none;
}

/// One end of a copy: start and pitches.
struct box_end {
  char* at = nullptr;
  std::size_t pitch = 0, layer = 0;
};

/// The runtime's own check, before the position and the size of an array's elements count.
bool holds_rows(array_t array, const pitched_pointer& p, const extent_t& e) {
  if (array != nullptr || e.height * e.depth <= 1) return true;
  return p.pitch >= e.width && (p.height == 0 || e.depth <= 1 || p.height >= e.height);
}

/// An array is memory of the device, and arrays are copied to arrays whose elements have the same size.
error_t fits_arrays(const copy_3d& p) {
  const bool from_host = p.kind == host_to_host || p.kind == host_to_device;
  const bool to_host = p.kind == host_to_host || p.kind == device_to_host;
  if ((p.source_array != nullptr && from_host) || (p.destination_array != nullptr && to_host))
    return error::invalid_value;
  if (p.source_array == nullptr || p.destination_array == nullptr) return error::none;
  const array_record *from = known_array(p.source_array), *to = known_array(p.destination_array);
  if (from == nullptr || to == nullptr) return error::invalid_handle;
  return from->element_bytes() == to->element_bytes() ? error::none : error::invalid_value;
}

error_t end_of(array_t array, const position_t& at, const pitched_pointer& p, const copy_work& w, box_end& end) {
  if (array == nullptr) {
    const bool leaves_row = w.height * w.depth > 1 && w.width + at.x > p.pitch;
    const bool leaves_layer = w.depth > 1 && p.height != 0 && w.height + at.y > p.height;
    if (leaves_row || leaves_layer) return error::invalid_value;
    end.pitch = p.pitch;
    end.layer = p.pitch * (p.height != 0 ? p.height : w.height);
    end.at = static_cast<char*>(p.pointer) + at.z * end.layer + at.y * end.pitch + at.x;
    return error::none;
  }
  const array_record* a = known_array(array);
  if (a == nullptr) return error::invalid_handle;
  const std::size_t x = at.x * a->element_bytes();
  if (x + w.width > a->row_bytes() || at.y + w.height > a->rows() || at.z + w.depth > a->layers())
    return error::invalid_value;
  end.pitch = a->row_bytes();
  end.layer = a->layer_bytes();
  end.at = reinterpret_cast<char*>(a->address) + at.z * end.layer + at.y * end.pitch + x;
  return error::none;
}

/// In place of a height: bytes that may continue into the next rows.
constexpr std::size_t one_run = ~std::size_t{0};

/// The address of rows of an array, or of one run of bytes, from a byte offset on; null: outside of the array.
char* place_in(const array_record& a, std::size_t x, std::size_t y, std::size_t width, std::size_t height) {
  const bool fits = height == one_run
                        ? x < a.row_bytes() && y < a.rows() && y * a.row_bytes() + x + width <= a.layer_bytes()
                        : x + width <= a.row_bytes() && y + height <= a.rows();
  return fits ? reinterpret_cast<char*>(a.address) + y * a.row_bytes() + x : nullptr;
}

error_t copy_to_array(array_t to, std::size_t x, std::size_t y, const void* from, std::size_t pitch, std::size_t width,
                      std::size_t height, int kind, std::uint32_t stream, manner how) {
  const array_record* a = known_array(to);
  if (a == nullptr) return noted(error::invalid_handle);
  if (kind == host_to_host || kind == device_to_host) return noted(error::invalid_copy_direction);
  if (height > 1 && height != one_run && width > pitch) return noted(error::invalid_pitch);
  char* at = place_in(*a, x, y, width, height);
  if (at == nullptr) return noted(error::invalid_value);
  if (height == one_run) height = 1;
  return copy({at, a->row_bytes(), a->layer_bytes(), from, pitch, pitch * height, width, height, 1, kind}, stream, how);
}
error_t copy_from_array(void* to, std::size_t pitch, array_t from, std::size_t x, std::size_t y, std::size_t width,
                        std::size_t height, int kind, std::uint32_t stream, manner how) {
  const array_record* a = known_array(from);
  if (a == nullptr) return noted(error::invalid_handle);
  if (kind == host_to_host || kind == host_to_device) return noted(error::invalid_copy_direction);
  if (height > 1 && height != one_run && width > pitch) return noted(error::invalid_pitch);
  char* at = place_in(*a, x, y, width, height);
  if (at == nullptr) return noted(error::invalid_value);
  if (height == one_run) height = 1;
  return copy({to, pitch, pitch * height, at, a->row_bytes(), a->layer_bytes(), width, height, 1, kind}, stream, how);
}
error_t copy_between(array_t to, std::size_t to_x, std::size_t to_y, array_t from, std::size_t from_x,
                     std::size_t from_y, std::size_t width, std::size_t height, std::uint32_t stream) {
  const array_record* t = known_array(to);
  const array_record* f = known_array(from);
  if (t == nullptr || f == nullptr) return noted(error::invalid_handle);
  char* at = place_in(*t, to_x, to_y, width, height);
  const char* source = place_in(*f, from_x, from_y, width, height);
  if (at == nullptr || source == nullptr) return noted(error::invalid_value);
  if (height == one_run) height = 1;
  return copy({at, t->row_bytes(), t->layer_bytes(), source, f->row_bytes(), f->layer_bytes(), width, height, 1,
               device_to_device},
              stream, manner::waits);
}

struct copy_3d_peer {
  array_t source_array;
  position_t source_position;
  pitched_pointer source;
  int source_device;
  array_t destination_array;
  position_t destination_position;
  pitched_pointer destination;
  int destination_device;
  extent_t extent;
};

error_t copy_box(const copy_3d* p, std::uint32_t stream, manner how) {
  if (p == nullptr) return noted(error::invalid_value);
  copy_work w;
  const error_t e = box_of(*p, w);
  return e != error::none ? noted(e) : copy(w, stream, how);
}
error_t copy_box(const copy_3d_peer* p, std::uint32_t stream, manner how) {
  if (p == nullptr) return noted(error::invalid_value);
  if (p->source_device != 0 || p->destination_device != 0) return noted(error::invalid_device);
  const copy_3d same{p->source_array,         p->source_position, p->source, p->destination_array,
                     p->destination_position, p->destination,     p->extent, by_pointers};
  return copy_box(&same, stream, how);
}

}  // namespace

namespace {

/// Channels, if they are one, two or four of one size; 0: they are not.
int channels_used(const channel_format& f) {
  const int others[3] = {f.y, f.z, f.w};
  const auto used = std::count(std::begin(others), std::end(others), f.x),
             unused = std::count(std::begin(others), std::end(others), 0);
  if (used + unused != 3 || used == 2) return 0;
  return used == 3 ? 4 : f.z == 0 && f.w == 0 ? 1 + static_cast<int>(used) : 0;
}

constexpr int normalized_channels(int kind) { return 1 << (kind - first_normalized) % 3; }

}  // namespace

const array_record* known_array(array_t a) {
  const std::lock_guard<std::mutex> lock(arrays_mutex);
  return arrays().count(a) != 0 ? a : nullptr;
}

bool is_valid(const channel_format& f) {
  constexpr int signed_kind = 0, float_kind = 2;
  const int normalized = normalized_bits(f.kind);
  if (normalized != 0) return f.x == normalized && channels_used(f) == normalized_channels(f.kind);
  if (f.kind < signed_kind || f.kind > float_kind) return false;
  return (f.x == 32 || f.x == 16 || (f.x == 8 && f.kind != float_kind)) && channels_used(f) != 0;
}

error_t box_of(const copy_3d& p, copy_work& w) {
  const array_record* known = p.source_array != nullptr        ? known_array(p.source_array)
                              : p.destination_array != nullptr ? known_array(p.destination_array)
                                                               : nullptr;
  if (known == nullptr && (p.source_array != nullptr || p.destination_array != nullptr)) return error::invalid_handle;
  w.width = p.extent.width * (known != nullptr ? known->element_bytes() : 1);  // in elements if an array takes part
  w.height = p.extent.height;
  w.depth = p.extent.depth;
  w.kind = p.kind;
  if (w.width == 0 || w.height == 0 || w.depth == 0) return error::none;
  const bool one_source = (p.source_array == nullptr) != (p.source.pointer == nullptr);
  const bool one_destination = (p.destination_array == nullptr) != (p.destination.pointer == nullptr);
  if (!one_source || !one_destination) return error::invalid_value;
  if (!holds_rows(p.source_array, p.source, p.extent) || !holds_rows(p.destination_array, p.destination, p.extent))
    return error::invalid_pitch;
  if (const error_t e = fits_arrays(p); e != error::none) return e;
  box_end from, to;
  if (const error_t e = end_of(p.source_array, p.source_position, p.source, w, from); e != error::none) return e;
  if (const error_t e = end_of(p.destination_array, p.destination_position, p.destination, w, to); e != error::none)
    return e;
  w.from = from.at;
  w.from_pitch = from.pitch;
  w.from_layer = from.layer;
  w.to = to.at;
  w.to_pitch = to.pitch;
  w.to_layer = to.layer;
  return error::none;
}

}  // namespace heddle::cuda

HEDDLE_CUDA channel_format cudaCreateChannelDesc(int x, int y, int z, int w, int kind) { return {x, y, z, w, kind}; }
HEDDLE_CUDA error_t cudaMallocArray(array_t* array, const channel_format* format, std::size_t width, std::size_t height,
                                    unsigned flags) {
  return allocate(array, format, {width, height, 0}, flags);
}
HEDDLE_CUDA error_t cudaMalloc3DArray(array_t* array, const channel_format* format, extent_t e, unsigned flags) {
  return allocate(array, format, e, flags);
}
HEDDLE_CUDA error_t cudaFreeArray(array_t array) {
  if (array == nullptr) return error::none;
  {
    const std::lock_guard<std::mutex> lock(arrays_mutex);
    if (arrays().erase(array) == 0) return noted(error::invalid_handle);
  }
  const error_t e = cudaFree(reinterpret_cast<void*>(array->address));
  delete array;
  return e;
}
HEDDLE_CUDA error_t cudaArrayGetInfo(channel_format* format, extent_t* extent, unsigned* flags, array_t array) {
  const array_record* a = known_array(array);
  if (a == nullptr) return noted(error::invalid_handle);
  if (format != nullptr) *format = a->format;
  if (extent != nullptr) *extent = a->extent;
  if (flags != nullptr) *flags = a->flags;
  return error::none;
}
HEDDLE_CUDA error_t cudaGetChannelDesc(channel_format* format, array_t array) {
  return format == nullptr ? noted(error::invalid_value) : cudaArrayGetInfo(format, nullptr, nullptr, array);
}

HEDDLE_BOTH(cudaMemcpyToArray, cudaMemcpyToArray_ptds,
            (array_t to, std::size_t x, std::size_t y, const void* from, std::size_t bytes, int kind),
            return copy_to_array(to, x, y, from, bytes, bytes, one_run, kind, stream_number(nullptr, per_thread),
                                 manner::waits);)
HEDDLE_BOTH(cudaMemcpyToArrayAsync, cudaMemcpyToArrayAsync_ptsz,
            (array_t to, std::size_t x, std::size_t y, const void* from, std::size_t bytes, int kind, stream_t s),
            return copy_to_array(to, x, y, from, bytes, bytes, one_run, kind, stream_number(s, per_thread),
                                 manner::asynchronous);)
HEDDLE_BOTH(cudaMemcpyFromArray, cudaMemcpyFromArray_ptds,
            (void* to, array_t from, std::size_t x, std::size_t y, std::size_t bytes, int kind),
            return copy_from_array(to, bytes, from, x, y, bytes, one_run, kind, stream_number(nullptr, per_thread),
                                   manner::waits);)
HEDDLE_BOTH(cudaMemcpyFromArrayAsync, cudaMemcpyFromArrayAsync_ptsz,
            (void* to, array_t from, std::size_t x, std::size_t y, std::size_t bytes, int kind, stream_t s),
            return copy_from_array(to, bytes, from, x, y, bytes, one_run, kind, stream_number(s, per_thread),
                                   manner::asynchronous);)
HEDDLE_BOTH(cudaMemcpy2DToArray, cudaMemcpy2DToArray_ptds,
            (array_t to, std::size_t x, std::size_t y, const void* from, std::size_t pitch, std::size_t width,
             std::size_t height, int kind),
            return copy_to_array(to, x, y, from, pitch, width, height, kind, stream_number(nullptr, per_thread),
                                 manner::waits);)
HEDDLE_BOTH(cudaMemcpy2DToArrayAsync, cudaMemcpy2DToArrayAsync_ptsz,
            (array_t to, std::size_t x, std::size_t y, const void* from, std::size_t pitch, std::size_t width,
             std::size_t height, int kind, stream_t s),
            return copy_to_array(to, x, y, from, pitch, width, height, kind, stream_number(s, per_thread),
                                 manner::asynchronous);)
HEDDLE_BOTH(cudaMemcpy2DFromArray, cudaMemcpy2DFromArray_ptds,
            (void* to, std::size_t pitch, array_t from, std::size_t x, std::size_t y, std::size_t width,
             std::size_t height, int kind),
            return copy_from_array(to, pitch, from, x, y, width, height, kind, stream_number(nullptr, per_thread),
                                   manner::waits);)
HEDDLE_BOTH(cudaMemcpy2DFromArrayAsync, cudaMemcpy2DFromArrayAsync_ptsz,
            (void* to, std::size_t pitch, array_t from, std::size_t x, std::size_t y, std::size_t width,
             std::size_t height, int kind, stream_t s),
            return copy_from_array(to, pitch, from, x, y, width, height, kind, stream_number(s, per_thread),
                                   manner::asynchronous);)
HEDDLE_BOTH(cudaMemcpyArrayToArray, cudaMemcpyArrayToArray_ptds,
            (array_t to, std::size_t to_x, std::size_t to_y, array_t from, std::size_t from_x, std::size_t from_y,
             std::size_t bytes, int),
            return copy_between(to, to_x, to_y, from, from_x, from_y, bytes, one_run,
                                stream_number(nullptr, per_thread));)
HEDDLE_BOTH(cudaMemcpy2DArrayToArray, cudaMemcpy2DArrayToArray_ptds,
            (array_t to, std::size_t to_x, std::size_t to_y, array_t from, std::size_t from_x, std::size_t from_y,
             std::size_t width, std::size_t height, int),
            return copy_between(to, to_x, to_y, from, from_x, from_y, width, height,
                                stream_number(nullptr, per_thread));)
HEDDLE_BOTH(cudaMemcpy3D, cudaMemcpy3D_ptds, (const copy_3d* p),
            return copy_box(p, stream_number(nullptr, per_thread), manner::waits);)
HEDDLE_BOTH(cudaMemcpy3DAsync, cudaMemcpy3DAsync_ptsz, (const copy_3d* p, stream_t s),
            return copy_box(p, stream_number(s, per_thread), manner::asynchronous);)
HEDDLE_BOTH(cudaMemcpy3DPeer, cudaMemcpy3DPeer_ptds, (const copy_3d_peer* p),
            return copy_box(p, stream_number(nullptr, per_thread), manner::waits);)
HEDDLE_BOTH(cudaMemcpy3DPeerAsync, cudaMemcpy3DPeerAsync_ptsz, (const copy_3d_peer* p, stream_t s),
            return copy_box(p, stream_number(s, per_thread), manner::asynchronous);)
