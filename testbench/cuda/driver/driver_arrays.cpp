// SPDX-License-Identifier: MIT
// The driver API: arrays, textures and surfaces. They are the runtime's with other descriptors.
#include <cstring>

#include "testbench/cuda/core/array.h"
#include "testbench/cuda/core/texture_types.h"
#include "testbench/cuda/driver/driver.h"

using namespace heddle::cuda;

HEDDLE_CUDA error_t cudaMalloc3DArray(array_t* array, const channel_format* format, extent_t e, unsigned flags);
HEDDLE_CUDA error_t cudaFreeArray(array_t array);
HEDDLE_CUDA error_t cudaMallocMipmappedArray(mipmap_t* to, const channel_format* format, extent_t e, unsigned levels,
                                             unsigned flags);
HEDDLE_CUDA error_t cudaGetMipmappedArrayLevel(array_t* to, mipmap_t m, unsigned level);
HEDDLE_CUDA error_t cudaFreeMipmappedArray(mipmap_t m);
HEDDLE_CUDA error_t cudaCreateTextureObject_v2(std::uint64_t* handle, const void* resource,
                                               const texture_settings_v2* settings, const void* view);
HEDDLE_CUDA error_t cudaDestroyTextureObject(std::uint64_t handle);
HEDDLE_CUDA error_t cudaCreateSurfaceObject(std::uint64_t* handle, const void* resource);
HEDDLE_CUDA error_t cudaDestroySurfaceObject(std::uint64_t handle);
HEDDLE_CUDA error_t cudaGetTextureObjectResourceDesc(void* resource, std::uint64_t handle);
HEDDLE_CUDA error_t cudaGetTextureObjectTextureDesc_v2(void* settings, std::uint64_t handle);
HEDDLE_CUDA error_t cudaGetTextureObjectResourceViewDesc(void* view, std::uint64_t handle);
HEDDLE_CUDA error_t cudaGetSurfaceObjectResourceDesc(void* resource, std::uint64_t handle);

namespace {

struct array_descriptor {
  std::size_t width, height;
  int format;
  unsigned channels;
};
struct array_descriptor_3d {
  std::size_t width, height, depth;
  int format;
  unsigned channels, flags;
};
struct driver_resource {
  int kind;
  union {
    array_t array;
    mipmap_t mipmap;
    struct {
      address_t address;
      int format;
      unsigned channels;
      std::size_t bytes;
    } linear;
    struct {
      address_t address;
      int format;
      unsigned channels;
      std::size_t width, height, pitch;
    } pitched;
    int reserved[32];
  } of;
  unsigned flags;
};
struct driver_texture {
  int address_mode[3];
  int filter;
  unsigned flags, max_anisotropy;
  int mipmap_filter;
  float mipmap_bias, mipmap_least, mipmap_most, border[4];
  int reserved[12];
};

namespace flag {
constexpr unsigned as_integer = 1, normalized_coordinates = 2, srgb = 0x10, disable_trilinear = 0x20,
                   seamless_cubemap = 0x40;
}

constexpr int linear_filter = 1;

/// CUarray_format: number of bits and kind.
struct element {
  int format, bits, kind;
};
enum kind_of_channel : int { is_signed, is_unsigned, is_float };
constexpr element elements[] = {{0x01, 8, is_unsigned}, {0x02, 16, is_unsigned}, {0x03, 32, is_unsigned},
                                {0x08, 8, is_signed},   {0x09, 16, is_signed},   {0x0a, 32, is_signed},
                                {0x10, 16, is_float},   {0x20, 32, is_float}};

bool channels_of(int format, unsigned count, channel_format& f) {
  for (const element& e : elements) {
    if (e.format != format || count == 0 || count > 4) continue;
    f = {e.bits, count > 1 ? e.bits : 0, count > 2 ? e.bits : 0, count > 3 ? e.bits : 0, e.kind};
    return true;
  }
  return false;
}

int format_of(const channel_format& f) {
  for (const element& e : elements)
    if (e.bits == f.x && e.kind == f.kind) return e.format;
  return 0;
}
unsigned count_of(const channel_format& f) { return f.w != 0 ? 4 : f.z != 0 ? 3 : f.y != 0 ? 2 : 1; }

result_t create(array_t* array, const array_descriptor_3d& d) {
  return driven([&]() -> error_t {
    channel_format f{};
    if (array == nullptr || !channels_of(d.format, d.channels, f)) return error::invalid_value;
    return cudaMalloc3DArray(array, &f, {d.width, d.height, d.depth}, d.flags);
  });
}

error_t translated(const driver_resource& from, resource_descriptor& to, channel_format& format) {
  to = {};
  to.kind = from.kind;
  switch (from.kind) {
    case of_array: {
      const array_record* a = known_array(from.of.array);
      if (a == nullptr) return error::invalid_handle;
      format = a->format;
      to.of.array = from.of.array;
      return error::none;
    }
    case of_linear_memory:
      if (!channels_of(from.of.linear.format, from.of.linear.channels, format)) return error::invalid_value;
      to.of.linear = {pointer_of(from.of.linear.address), format, from.of.linear.bytes};
      return error::none;
    case of_pitched_memory:
      if (!channels_of(from.of.pitched.format, from.of.pitched.channels, format)) return error::invalid_value;
      to.of.pitched = {pointer_of(from.of.pitched.address), format, from.of.pitched.width, from.of.pitched.height,
                       from.of.pitched.pitch};
      return error::none;
    case of_mipmapped_array:
      if (known_mipmap(from.of.mipmap) == nullptr) return error::invalid_handle;
      format = from.of.mipmap->levels.front()->format;
      to.of.mipmap = from.of.mipmap;
      return error::none;
    default: return error::invalid_value;
  }
}

/// The other way round.
driver_resource translated(const resource_descriptor& from) {
  driver_resource to{};
  to.kind = from.kind;
  if (from.kind == of_array) to.of.array = from.of.array;
  if (from.kind == of_mipmapped_array) to.of.mipmap = from.of.mipmap;
  if (from.kind == of_linear_memory) {
    const auto& l = from.of.linear;
    to.of.linear = {reinterpret_cast<address_t>(l.pointer), format_of(l.format), count_of(l.format), l.bytes};
  }
  if (from.kind == of_pitched_memory) {
    const auto& p = from.of.pitched;
    to.of.pitched = {
        reinterpret_cast<address_t>(p.pointer), format_of(p.format), count_of(p.format), p.width, p.height, p.pitch};
  }
  return to;
}

/// Of values that are never read as numbers, CUDA does not ask whether they are: the flag is then not set.
driver_texture translated(const texture_settings_v2& s, const channel_format& f) {
  const bool may_be_read_as_numbers = f.kind != is_float && f.x < 32;
  driver_texture to{};
  std::memcpy(to.address_mode, s.address_mode, sizeof to.address_mode);
  std::memcpy(to.border, s.border, sizeof to.border);
  to.filter = s.filter;
  to.flags = (may_be_read_as_numbers && s.read_normalized == 0 ? flag::as_integer : 0) |
             (s.srgb != 0 ? flag::srgb : 0) | (s.normalized_coordinates != 0 ? flag::normalized_coordinates : 0) |
             (s.disable_trilinear != 0 ? flag::disable_trilinear : 0) |
             (s.seamless_cubemap != 0 ? flag::seamless_cubemap : 0);
  to.max_anisotropy = s.max_anisotropy;
  to.mipmap_filter = s.mipmap_filter;
  to.mipmap_bias = s.mipmap_bias;
  to.mipmap_least = s.mipmap_least;
  to.mipmap_most = s.mipmap_most;
  return to;
}

template <class F>
result_t get_resource(driver_resource* to, std::uint64_t handle, F&& runtime) {
  return driven([&]() -> error_t {
    resource_descriptor r{};
    if (to == nullptr) return error::invalid_value;
    const error_t e = runtime(&r, handle);
    if (e == error::none) *to = translated(r);
    return e;
  });
}

}  // namespace

HEDDLE_CUDA result_t cuArrayCreate_v2(array_t* array, const array_descriptor* d) {
  return d == nullptr ? result::invalid_value : create(array, {d->width, d->height, 0, d->format, d->channels, 0});
}
HEDDLE_CUDA result_t cuArray3DCreate_v2(array_t* array, const array_descriptor_3d* d) {
  return d == nullptr ? result::invalid_value : create(array, *d);
}
HEDDLE_CUDA result_t cuArrayDestroy(array_t array) {
  return driven(
      [&]() -> error_t { return known_array(array) == nullptr ? error::invalid_handle : cudaFreeArray(array); });
}
HEDDLE_CUDA result_t cuArray3DGetDescriptor_v2(array_descriptor_3d* d, array_t array) {
  return driven([&]() -> error_t {
    const array_record* a = known_array(array);
    if (a == nullptr) return error::invalid_handle;
    if (d == nullptr) return error::invalid_value;
    *d = {a->extent.width, a->extent.height, a->extent.depth, format_of(a->format), count_of(a->format), a->flags};
    return error::none;
  });
}
HEDDLE_CUDA result_t cuArrayGetDescriptor_v2(array_descriptor* d, array_t array) {
  array_descriptor_3d whole{};
  const result_t r = cuArray3DGetDescriptor_v2(&whole, array);
  if (r != result::success || d == nullptr) return r != result::success ? r : result::invalid_value;
  *d = {whole.width, whole.height, whole.format, whole.channels};
  return r;
}

HEDDLE_CUDA result_t cuMipmappedArrayCreate(mipmap_t* to, const array_descriptor_3d* d, unsigned levels) {
  return driven([&]() -> error_t {
    channel_format f{};
    if (any_null(to, d) || !channels_of(d->format, d->channels, f)) return error::invalid_value;
    return cudaMallocMipmappedArray(to, &f, {d->width, d->height, d->depth}, levels, d->flags);
  });
}
HEDDLE_CUDA result_t cuMipmappedArrayGetLevel(array_t* to, mipmap_t m, unsigned level) {
  return driven([&] { return cudaGetMipmappedArrayLevel(to, m, level); });
}
HEDDLE_CUDA result_t cuMipmappedArrayDestroy(mipmap_t m) {
  return driven([&] { return known_mipmap(m) == nullptr ? error::invalid_handle : cudaFreeMipmappedArray(m); });
}

HEDDLE_CUDA result_t cuTexObjectCreate(std::uint64_t* handle, const driver_resource* resource,
                                       const driver_texture* texture, const void* view) {
  return driven([&]() -> error_t {
    constexpr unsigned known_flags = 0x7f;
    if (any_null(handle, resource, texture) || resource->flags != 0 || (texture->flags & ~known_flags) != 0 ||
        texture->filter < 0 || texture->filter > linear_filter)
      return error::invalid_value;
    resource_descriptor r;
    channel_format f{};
    const error_t e = translated(*resource, r, f);
    if (e != error::none) return e;
    texture_settings_v2 s{};
    std::memcpy(s.address_mode, texture->address_mode, sizeof s.address_mode);
    std::memcpy(s.border, texture->border, sizeof s.border);
    const bool is_filtered = f.kind == is_float || ((texture->flags & flag::as_integer) == 0 && f.x < 32);
    s.filter = is_filtered ? texture->filter : 0;  // CUDA takes it, and integers have no filter
    s.read_normalized = (texture->flags & flag::as_integer) == 0 && f.kind != is_float &&
                        f.x < 32;  // 32-bit integers are not converted
    s.srgb = (texture->flags & flag::srgb) != 0;
    s.normalized_coordinates = (texture->flags & flag::normalized_coordinates) != 0;
    s.disable_trilinear = (texture->flags & flag::disable_trilinear) != 0;
    s.seamless_cubemap = (texture->flags & flag::seamless_cubemap) != 0;
    s.max_anisotropy = texture->max_anisotropy;
    s.mipmap_filter = texture->mipmap_filter;
    s.mipmap_bias = texture->mipmap_bias;
    s.mipmap_least = texture->mipmap_least;
    s.mipmap_most = texture->mipmap_most;
    return cudaCreateTextureObject_v2(handle, &r, &s, view);
  });
}
HEDDLE_CUDA result_t cuTexObjectDestroy(std::uint64_t handle) {
  return driven([&] { return cudaDestroyTextureObject(handle); });
}
HEDDLE_CUDA result_t cuSurfObjectCreate(std::uint64_t* handle, const driver_resource* resource) {
  return driven([&]() -> error_t {
    if (handle == nullptr || resource == nullptr) return error::invalid_value;
    resource_descriptor r;
    channel_format f{};
    const error_t e = translated(*resource, r, f);
    return e != error::none ? e : cudaCreateSurfaceObject(handle, &r);
  });
}
HEDDLE_CUDA result_t cuSurfObjectDestroy(std::uint64_t handle) {
  return driven([&] { return cudaDestroySurfaceObject(handle); });
}
HEDDLE_CUDA result_t cuTexObjectGetResourceDesc(driver_resource* to, std::uint64_t handle) {
  return get_resource(to, handle, cudaGetTextureObjectResourceDesc);
}
HEDDLE_CUDA result_t cuSurfObjectGetResourceDesc(driver_resource* to, std::uint64_t handle) {
  return get_resource(to, handle, cudaGetSurfaceObjectResourceDesc);
}
HEDDLE_CUDA result_t cuTexObjectGetResourceViewDesc(void* view, std::uint64_t handle) {
  return driven([&] { return cudaGetTextureObjectResourceViewDesc(view, handle); });
}
HEDDLE_CUDA result_t cuTexObjectGetTextureDesc(driver_texture* to, std::uint64_t handle) {
  return driven([&]() -> error_t {
    texture_settings_v2 s{};
    if (to == nullptr) return error::invalid_value;
    if (const error_t e = cudaGetTextureObjectTextureDesc_v2(&s, handle); e != error::none) return e;
    resource_descriptor r{}, same;
    channel_format f{};
    if (const error_t e = cudaGetTextureObjectResourceDesc(&r, handle); e != error::none) return e;
    if (const error_t e = translated(translated(r), same, f); e != error::none) return e;
    *to = translated(s, f);
    return error::none;
  });
}
