// SPDX-License-Identifier: MIT
// The runtime: texture and surface references, global variables that programs up to CUDA 11 bind to memory.
#include <cstring>
#include <map>

#include "testbench/cuda/core/array.h"
#include "testbench/cuda/core/client.h"
#include "testbench/cuda/core/registry.h"
#include "testbench/cuda/core/texture_image.h"

using namespace heddle;
using namespace heddle::cuda;

namespace {

struct reference {
  image* owner = nullptr;
  std::string name;
  bool read_normalized = false;
  bool bound = false;
};
library_mutex references_mutex;
std::map<const void*, reference>& references() {
  static auto* all = new std::map<const void*, reference>;
  return *all;
}

constexpr error_t invalid_texture = 18, invalid_texture_binding = 19, invalid_surface = 37;

void add(void** owner, const void* host, const char* name, bool read_normalized) {
  const std::lock_guard<std::mutex> lock(references_mutex);
  references()[host] = {reinterpret_cast<image*>(owner), name, read_normalized, false};
}
bool find(const void* host, reference& r) {
  const std::lock_guard<std::mutex> lock(references_mutex);
  const auto found = references().find(host);
  if (found != references().end()) r = found->second;
  return found != references().end();
}

// Earlier launches keep their bindings.
error_t give(const void* host, const reference& r, std::uint64_t handle) {
  error_t e = registry::get().load(*r.owner);
  if (e == error::none) e = wait(wire::wait_kind::device, 0);
  if (e == error::none)
    e = call(wire::call::bind_texture, wire::writer().put(r.owner->module).put_text(r.name).put(handle)).status;
  if (e != error::none) return e;
  const std::lock_guard<std::mutex> lock(references_mutex);
  references()[host].bound = true;
  return e;
}

error_t bind(const texture_reference* host, const resource_descriptor& r) {
  reference known;
  if (!find(host, known)) return noted(invalid_texture);
  texture_settings_v2 s{};
  std::memcpy(s.address_mode, host->address_mode, sizeof s.address_mode);
  s.filter = host->filter;
  s.read_normalized = known.read_normalized;
  s.srgb = host->srgb;
  s.normalized_coordinates = host->normalized_coordinates;
  wire::texture_request image;
  std::uint64_t handle = 0;
  error_t e = image_of(r, image);
  if (e == error::none) e = read_as(s, r, image);
  if (e == error::none) e = handle_of(image, handle);
  return noted(e == error::none ? give(host, known, handle) : e);
}

}  // namespace

HEDDLE_CUDA void __cudaRegisterTexture(void** owner, const texture_reference* host, const void**, const char* name, int,
                                       int normalized, int) {
  add(owner, host, name, normalized != 0);
}
HEDDLE_CUDA void __cudaRegisterSurface(void** owner, const surface_reference* host, const void**, const char* name, int,
                                       int) {
  add(owner, host, name, false);
}

// Textures need no alignment here, so the offset is always zero.
HEDDLE_CUDA error_t cudaBindTexture(std::size_t* offset, const texture_reference* host, const void* p,
                                    const channel_format* format, std::size_t bytes) {
  if (format == nullptr) return noted(error::invalid_value);
  if (offset != nullptr) *offset = 0;
  resource_descriptor r{};
  r.kind = of_linear_memory;
  r.of.linear = {const_cast<void*>(p), *format, bytes};
  return bind(host, r);
}
HEDDLE_CUDA error_t cudaBindTexture2D(std::size_t* offset, const texture_reference* host, const void* p,
                                      const channel_format* format, std::size_t width, std::size_t height,
                                      std::size_t pitch) {
  if (format == nullptr) return noted(error::invalid_value);
  if (offset != nullptr) *offset = 0;
  resource_descriptor r{};
  r.kind = of_pitched_memory;
  r.of.pitched = {const_cast<void*>(p), *format, width, height, pitch};
  return bind(host, r);
}
HEDDLE_CUDA error_t cudaBindTextureToArray(const texture_reference* host, array_t array, const channel_format*) {
  resource_descriptor r{};
  r.kind = of_array;
  r.of.array = array;
  return bind(host, r);
}
HEDDLE_CUDA error_t cudaUnbindTexture(const texture_reference* host) {
  const std::lock_guard<std::mutex> lock(references_mutex);
  const auto found = references().find(host);
  if (found == references().end()) return noted(invalid_texture);
  found->second.bound = false;
  return error::none;
}
HEDDLE_CUDA error_t cudaGetTextureAlignmentOffset(std::size_t* offset, const texture_reference* host) {
  reference known;
  if (!find(host, known)) return noted(invalid_texture);
  if (!known.bound) return noted(invalid_texture_binding);
  return put_result(offset, 0);
}
HEDDLE_CUDA error_t cudaGetTextureReference(const texture_reference** to, const void* symbol) {
  reference known;
  if (!find(symbol, known)) return noted(invalid_texture);
  return put_result(to, static_cast<const texture_reference*>(symbol));
}
HEDDLE_CUDA error_t cudaBindSurfaceToArray(const surface_reference* host, array_t array, const channel_format*) {
  reference known;
  if (!find(host, known)) return noted(invalid_surface);
  resource_descriptor r{};
  r.kind = of_array;
  r.of.array = array;
  wire::texture_request image;
  std::uint64_t handle = 0;
  error_t e = image_of(r, image);
  if (e == error::none) e = handle_of(image, handle);
  return noted(e == error::none ? give(host, known, handle) : e);
}
HEDDLE_CUDA error_t cudaGetSurfaceReference(const surface_reference** to, const void* symbol) {
  reference known;
  if (!find(symbol, known)) return noted(invalid_surface);
  return put_result(to, static_cast<const surface_reference*>(symbol));
}
