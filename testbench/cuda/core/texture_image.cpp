// SPDX-License-Identifier: MIT
#include "testbench/cuda/core/texture_image.h"

#include <cstdio>

#include "testbench/cuda/core/array.h"
#include "testbench/cuda/core/client.h"

namespace heddle::cuda {

namespace {

constexpr error_t invalid_channel_descriptor = 20, invalid_filter = 26, invalid_norm = 27;

/// The numbers of texel types in simt/texture/texture.h.
namespace texel {
constexpr std::uint8_t u8 = 0, s8 = 1, u16 = 2, s16 = 3, u32 = 4, s32 = 5, f16 = 6, f32 = 7,
                       normalized = 8;  // added to an 8- or 16-bit type
}
constexpr std::uint8_t wrap = 0, clamp = 1, border = 3;

error_t not_modelled(const char* what) {
  std::fprintf(stderr, "heddle: %s are not modelled\n", what);
  return error::not_supported;
}

error_t set_format(const channel_format& f, wire::texture_request& image) {
  if (!is_valid(f)) return invalid_channel_descriptor;
  image.channels = static_cast<std::uint8_t>(1 + (f.y != 0) + (f.z != 0) + (f.w != 0));
  const bool is_signed = f.kind == 0, is_float = f.kind == 2;
  if (is_float) {
    image.type = f.x == 16 ? texel::f16 : texel::f32;
  } else {
    image.type = static_cast<std::uint8_t>((f.x == 8 ? texel::u8 : f.x == 16 ? texel::u16 : texel::u32) + is_signed);
  }
  return error::none;
}

}  // namespace

error_t image_of(const resource_descriptor& r, wire::texture_request& image) {
  image = {};
  image.height = image.depth = 1;
  for (std::uint8_t& m : image.mode) m = clamp;
  switch (r.kind) {
    case of_array: {
      const array_record* a = known_array(r.of.array);
      if (a == nullptr) return error::invalid_handle;
      image.address = a->address;
      image.width = static_cast<std::uint32_t>(a->extent.width);
      image.height = static_cast<std::uint32_t>(a->rows());
      image.depth = static_cast<std::uint32_t>(a->layers());
      return set_format(a->format, image);
    }
    case of_linear_memory: {
      const error_t e = set_format(r.of.linear.format, image);
      if (e != error::none) return e;
      const std::size_t texel = static_cast<std::size_t>(r.of.linear.format.x) / 8 * image.channels;
      const std::size_t width = r.of.linear.bytes / texel;
      if (r.of.linear.pointer == nullptr || width == 0 || width > (std::size_t{1} << 28)) return error::invalid_value;
      image.address = reinterpret_cast<std::uint64_t>(r.of.linear.pointer);
      image.width = static_cast<std::uint32_t>(width);
      image.mode[0] = border;  // texels outside the image read as zero
      return error::none;
    }
    case of_pitched_memory: {
      const auto& p = r.of.pitched;
      const error_t e = set_format(p.format, image);
      if (e != error::none) return e;
      const std::size_t texel = static_cast<std::size_t>(p.format.x) / 8 * image.channels;
      if (p.pointer == nullptr || p.width == 0 || p.height == 0 || p.pitch < p.width * texel || p.pitch % texel != 0)
        return error::invalid_value;
      image.address = reinterpret_cast<std::uint64_t>(p.pointer);
      image.width = static_cast<std::uint32_t>(p.width);
      image.height = static_cast<std::uint32_t>(p.height);
      image.pitch_bytes = p.pitch;
      return error::none;
    }
    case of_mipmapped_array: return not_modelled("mipmapped textures");
    default: return error::invalid_value;
  }
}

error_t read_as(const texture_settings& s, const resource_descriptor& r, wire::texture_request& image) {
  const bool reads_integers = image.type <= texel::s32;
  if (s.read_normalized != 0 && reads_integers) {
    if (image.type >= texel::u32) return invalid_norm;
    image.type = static_cast<std::uint8_t>(texel::normalized + image.type);
  }
  if (s.filter != 0 && image.type <= texel::s32) return invalid_filter;
  if (s.srgb != 0) return not_modelled("sRGB textures");
  image.normalized = s.normalized_coordinates != 0;
  if (r.kind == of_linear_memory) return error::none;  // fetched by index, without filter
  image.linear = s.filter != 0;
  bool has_border = false;
  for (int k = 0; k < 3; ++k) {
    if (s.address_mode[k] < wrap || s.address_mode[k] > border) return error::invalid_value;
    image.mode[k] = static_cast<std::uint8_t>(s.address_mode[k]);
    has_border |= s.address_mode[k] == border;
  }
  for (const float b : s.border)
    if (has_border && b != 0) return not_modelled("textures with a border that is not zero");
  return error::none;
}

error_t handle_of(const wire::texture_request& image, std::uint64_t& handle) {
  const reply r = call(wire::call::make_texture, wire::writer().put(image));
  if (r.status == error::none) handle = r.read().get<std::uint64_t>();
  return r.status;
}

}  // namespace heddle::cuda
