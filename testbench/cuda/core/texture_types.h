// SPDX-License-Identifier: MIT
// The binary interface of textures and surfaces, from CUDA's documentation. Enumerations are ints.
#pragma once

#include "testbench/cuda/core/array.h"
#include "testbench/cuda/core/types.h"

namespace heddle::cuda {

/// cudaResourceViewDesc: texels as another format of the same size.
struct resource_view {
  int format;
  std::size_t width, height, depth;
  unsigned first_level, last_level, first_layer, last_layer;
};

enum resource_kind : int { of_array, of_mipmapped_array, of_linear_memory, of_pitched_memory };

struct resource_descriptor {
  int kind;
  union {
    array_t array;
    mipmap_t mipmap;
    struct {
      void* pointer;
      channel_format format;
      std::size_t bytes;
    } linear;
    struct {
      void* pointer;
      channel_format format;
      std::size_t width, height, pitch;
    } pitched;
  } of;
};
/// Size of cudaResourceDesc in all releases; later ones append members that must be zero.
constexpr std::size_t resource_bytes = sizeof(resource_descriptor);
static_assert(resource_bytes == 64, "as CUDA has it");

struct texture_settings {
  int address_mode[3];
  int filter;           // 0 point, 1 linear
  int read_normalized;  // integers are converted to floats
  int srgb;
  float border[4];
  int normalized_coordinates;
  unsigned max_anisotropy;
  int mipmap_filter;
  float mipmap_bias, mipmap_least, mipmap_most;
  int disable_trilinear;
};
/// With the members appended in CUDA 11.8.
struct texture_settings_v2 : texture_settings {
  int seamless_cubemap;
};

struct texture_reference {
  int normalized_coordinates, filter, address_mode[3];
  channel_format format;
  int srgb;
  unsigned max_anisotropy;
  int mipmap_filter;
  float mipmap_bias, mipmap_least, mipmap_most;
  int disable_trilinear;
  int reserved[14];
};
struct surface_reference {
  channel_format format;
};

}  // namespace heddle::cuda
