// SPDX-License-Identifier: MIT
// The runtime: texture and surface objects.
#include <cstring>
#include <map>

#include "testbench/cuda/core/array.h"
#include "testbench/cuda/core/client.h"
#include "testbench/cuda/core/registry.h"
#include "testbench/cuda/core/runtime_version.h"
#include "testbench/cuda/core/texture_image.h"

using namespace heddle;
using namespace heddle::cuda;

namespace {

struct object {
  resource_descriptor resource{};
  texture_settings_v2 settings{};
  resource_view view{};
  unsigned uses = 0;  // textures of the same image share a handle
};
library_mutex objects_mutex;
using object_table = std::map<std::uint64_t, object>;
object_table& textures() {
  static auto* all = new object_table;
  return *all;
}
object_table& surfaces() {
  static auto* all = new object_table;
  return *all;
}

void note(object_table& table, std::uint64_t handle, const object& o) {
  const std::lock_guard<std::mutex> lock(objects_mutex);
  object& kept = table[handle];
  const unsigned uses = kept.uses + 1;
  kept = o;
  kept.uses = uses;
}
/// As in CUDA, any number may be destroyed.
error_t forget(object_table& table, std::uint64_t handle) {
  const std::lock_guard<std::mutex> lock(objects_mutex);
  const auto found = table.find(handle);
  if (found != table.end() && --found->second.uses == 0) table.erase(found);
  return noted(error::none);
}
bool find(object_table& table, std::uint64_t handle, object& o) {
  const std::lock_guard<std::mutex> lock(objects_mutex);
  const auto found = table.find(handle);
  if (found != table.end()) o = found->second;
  return found != table.end();
}

resource_descriptor copy_of(const void* resource) {
  resource_descriptor r{};
  std::memcpy(&r, resource, resource_bytes);
  return r;
}

error_t create(std::uint64_t* handle, const void* resource, const texture_settings_v2& settings, const void* view) {
  object o;
  o.resource = copy_of(resource);
  o.settings = settings;
  wire::texture_request image;
  error_t e = image_of(o.resource, image);
  if (e == error::none && !is_placed(o.resource)) e = error::invalid_value;
  if (view != nullptr) std::memcpy(&o.view, view, sizeof o.view);
  if (e == error::none) e = see_as(o.view, o.resource, image);
  if (e == error::none) e = read_as(settings, o.resource, image);
  if (e == error::none) e = handle_of(image, *handle);
  if (e == error::none) note(textures(), *handle, o);
  return noted(e);
}

}  // namespace

HEDDLE_CUDA error_t cudaCreateTextureObject(std::uint64_t* handle, const void* resource,
                                            const texture_settings* settings, const void* view) {
  if (handle == nullptr || resource == nullptr) return noted(error::invalid_value);
  if (settings == nullptr) return noted(error::invalid_handle);
  texture_settings_v2 s{};
  std::memcpy(&s, settings, runtime_version() >= 12000 ? sizeof s : sizeof *settings);
  return create(handle, resource, s, view);
}
HEDDLE_CUDA error_t cudaCreateTextureObject_v2(std::uint64_t* handle, const void* resource,
                                               const texture_settings_v2* settings, const void* view) {
  if (handle == nullptr || resource == nullptr) return noted(error::invalid_value);
  if (settings == nullptr) return noted(error::invalid_handle);
  return create(handle, resource, *settings, view);
}
HEDDLE_CUDA error_t cudaDestroyTextureObject(std::uint64_t handle) { return forget(textures(), handle); }
HEDDLE_CUDA error_t cudaGetTextureObjectResourceDesc(void* resource, std::uint64_t handle) {
  object o;
  if (resource == nullptr || !find(textures(), handle, o)) return noted(error::invalid_value);
  std::memcpy(resource, &o.resource, resource_bytes);
  return error::none;
}
/// Since CUDA 12, the program's structure has the appended members.
HEDDLE_CUDA error_t cudaGetTextureObjectTextureDesc(void* settings, std::uint64_t handle) {
  object o;
  if (settings == nullptr || !find(textures(), handle, o)) return noted(error::invalid_value);
  std::memcpy(settings, &o.settings,
              runtime_version() >= 12000 ? sizeof(texture_settings_v2) : sizeof(texture_settings));
  return error::none;
}
HEDDLE_CUDA error_t cudaGetTextureObjectTextureDesc_v2(void* settings, std::uint64_t handle) {
  object o;
  if (settings == nullptr || !find(textures(), handle, o)) return noted(error::invalid_value);
  std::memcpy(settings, &o.settings, sizeof(texture_settings_v2));
  return error::none;
}
/// Without a view, one that is all zero.
HEDDLE_CUDA error_t cudaGetTextureObjectResourceViewDesc(void* view, std::uint64_t handle) {
  object o;
  if (view == nullptr || !find(textures(), handle, o)) return noted(error::invalid_value);
  std::memcpy(view, &o.view, sizeof o.view);
  return error::none;
}

HEDDLE_CUDA error_t cudaCreateSurfaceObject(std::uint64_t* handle, const void* resource) {
  if (handle == nullptr || resource == nullptr) return noted(error::invalid_value);
  object o;
  o.resource = copy_of(resource);
  wire::texture_request image;
  if (o.resource.kind != of_array) return noted(error::invalid_value);
  error_t e = image_of(o.resource, image);
  if (e == error::none) e = handle_of(image, *handle);
  if (e == error::none) note(surfaces(), *handle, o);
  return noted(e);
}
HEDDLE_CUDA error_t cudaDestroySurfaceObject(std::uint64_t handle) { return forget(surfaces(), handle); }
HEDDLE_CUDA error_t cudaGetSurfaceObjectResourceDesc(void* resource, std::uint64_t handle) {
  object o;
  if (resource == nullptr || !find(surfaces(), handle, o)) return noted(error::invalid_value);
  std::memcpy(resource, &o.resource, resource_bytes);
  return error::none;
}
HEDDLE_CUDA error_t cudaDeviceGetTexture1DLinearMaxWidth(std::size_t* width, const channel_format* format, int device) {
  if (device != 0) return noted(error::invalid_device);
  if (width == nullptr || format == nullptr || !is_valid(*format)) return noted(error::invalid_value);
  *width = most_texels(*format);
  return error::none;
}
