// SPDX-License-Identifier: MIT
#include "testbench/cuda/core/texture_image.h"

#include <algorithm>
#include <cstdio>

#include "testbench/cuda/core/array.h"
#include "testbench/cuda/core/client.h"
#include "testbench/cuda/core/host_memory.h"

namespace heddle::cuda {

namespace {

constexpr error_t invalid_channel_descriptor = 20, invalid_filter = 26, invalid_norm = 27;

/// The numbers of texel types in simt/texture/texture.h.
namespace texel {
constexpr std::uint8_t u8 = 0, s8 = 1, u16 = 2, s16 = 3, u32 = 4, s32 = 5, f16 = 6, f32 = 7,
                       normalized = 8;  // added to an 8- or 16-bit type
}
constexpr std::uint8_t wrap = 0, clamp = 1, border = 3;

/// Of linear and pitched memory.
constexpr std::size_t texture_alignment = 512, pitch_alignment = 32;

error_t not_modelled(const char* what) {
  std::fprintf(stderr, "heddle: %s are not modelled\n", what);
  return error::not_supported;
}

error_t set_format(const channel_format& f, wire::texture_request& image) {
  if (!is_valid(f)) return invalid_channel_descriptor;
  image.channels = static_cast<std::uint8_t>(1 + (f.y != 0) + (f.z != 0) + (f.w != 0));
  const bool is_signed = f.kind == 0 || f.kind >= first_signed_normalized, is_float = f.kind == 2;
  if (is_float) {
    image.type = f.x == 16 ? texel::f16 : texel::f32;
  } else {
    image.type = static_cast<std::uint8_t>((f.x == 8 ? texel::u8 : f.x == 16 ? texel::u16 : texel::u32) + is_signed);
  }
  if (normalized_bits(f.kind) != 0) image.type = static_cast<std::uint8_t>(texel::normalized + image.type);
  return error::none;
}

std::size_t bytes_of_texel(const channel_format& f) { return static_cast<std::size_t>(f.x + f.y + f.z + f.w) / 8; }

error_t image_of_array(const array_record* a, wire::texture_request& image) {
  if (a == nullptr) return error::invalid_handle;
  image.address = a->address;
  image.width = static_cast<std::uint32_t>(a->extent.width);
  image.height = static_cast<std::uint32_t>(a->rows());
  image.depth = static_cast<std::uint32_t>(a->layers());
  return set_format(a->format, image);
}

/// Its levels from `first` to `last`.
error_t image_of_mipmap(mipmap_t m, std::size_t first, std::size_t last, wire::texture_request& image) {
  if (known_mipmap(m) == nullptr) return error::invalid_handle;
  last = std::min(last, m->levels.size() - 1);
  if (first > last) return error::invalid_value;
  if (const error_t e = image_of_array(known_array(m->levels[first]), image); e != error::none) return e;
  image.levels = static_cast<std::uint8_t>(last - first + 1);
  for (std::size_t k = first + 1; k <= last; ++k) image.further[k - first - 1] = m->levels[k]->address;
  return error::none;
}

bool is_cube(const resource_descriptor& r) {
  const array_record* a = r.kind == of_array ? known_array(r.of.array) : nullptr;
  return a != nullptr && (a->flags & array_flag::cubemap) != 0;
}

}  // namespace

std::size_t most_texels(const channel_format& f) { return (std::size_t{1} << 32) / bytes_of_texel(f); }

bool is_placed(const resource_descriptor& r) {
  if (r.kind != of_linear_memory && r.kind != of_pitched_memory) return true;
  const void* p = r.kind == of_linear_memory ? r.of.linear.pointer : r.of.pitched.pointer;
  return address_number(p) % texture_alignment == 0 && device_allocation_of(p).type != unregistered;
}

error_t see_as(const resource_view& v, const resource_descriptor& r, wire::texture_request& image) {
  // cudaResourceViewFormat: three formats each, of one, two and four channels; then blocks of texels.
  constexpr int blocks = 25, bits[] = {8, 8, 16, 16, 32, 32, 16, 32}, kinds[] = {1, 0, 1, 0, 1, 0, 2, 2};
  const bool has_levels = r.kind == of_mipmapped_array;
  const array_record* a = r.kind == of_array ? known_array(r.of.array)
                          : has_levels       ? known_array(r.of.mipmap->levels.front())
                                             : nullptr;
  if (v.format == 0 || a == nullptr) return error::none;
  if (has_levels)
    if (const error_t e = image_of_mipmap(r.of.mipmap, v.first_level, v.last_level, image); e != error::none) return e;
  if (v.format < 0 || v.format > blocks + 13) return error::invalid_value;
  if (v.format >= blocks) return not_modelled("views of compressed blocks");
  const int of = (v.format - 1) / 3, channels = 1 << (v.format - 1) % 3;
  const auto channel = [&](int k) { return channels > k ? bits[of] : 0; };
  const channel_format f{channel(0), channel(1), channel(2), channel(3), kinds[of]};
  if (bytes_of_texel(f) != a->element_bytes() || v.width != a->extent.width || v.height != a->extent.height ||
      v.depth != a->extent.depth)
    return error::invalid_value;
  if (v.first_layer != 0 || (v.last_layer != 0 && v.last_layer + 1 != a->layers()))
    return not_modelled("views of some layers");
  return set_format(f, image);
}

error_t image_of(const resource_descriptor& r, wire::texture_request& image) {
  image = {};
  image.height = image.depth = 1;
  image.levels = 1;
  for (std::uint8_t& m : image.mode) m = clamp;
  switch (r.kind) {
    case of_array: return image_of_array(known_array(r.of.array), image);
    case of_linear_memory: {
      const error_t e = set_format(r.of.linear.format, image);
      if (e != error::none) return e;
      const std::size_t width = r.of.linear.bytes / bytes_of_texel(r.of.linear.format);
      if (r.of.linear.pointer == nullptr || width > most_texels(r.of.linear.format)) return error::invalid_value;
      image.address = address_number(r.of.linear.pointer);
      image.width = static_cast<std::uint32_t>(std::max<std::size_t>(width, 1));
      image.mode[0] = border;  // texels outside the image read as zero
      return error::none;
    }
    case of_pitched_memory: {
      constexpr std::size_t most_width = 131072, most_height = 65000, most_pitch = 2097120;
      const auto& p = r.of.pitched;
      const error_t e = set_format(p.format, image);
      if (e != error::none) return e;
      if (p.pointer == nullptr || p.width > most_width || p.height > most_height || p.pitch > most_pitch ||
          p.pitch % pitch_alignment != 0)
        return error::invalid_value;
      image.address = address_number(p.pointer);
      image.width = static_cast<std::uint32_t>(std::max<std::size_t>(p.width, 1));
      image.height = static_cast<std::uint32_t>(std::max<std::size_t>(p.height, 1));
      image.pitch_bytes = p.pitch;
      return error::none;
    }
    case of_mipmapped_array: return image_of_mipmap(r.of.mipmap, 0, ~std::size_t{0}, image);
    default: return error::invalid_value;
  }
}

error_t read_as(const texture_settings_v2& s, const resource_descriptor& r, wire::texture_request& image) {
  constexpr int as_elements = 0, normalized = 1, most_read_mode = 2, linear_filter = 1;
  const bool reads_integers = image.type <= texel::s32,
             reads_words = image.type == texel::u32 || image.type == texel::s32;
  const bool becomes_float = s.read_normalized == normalized && reads_integers && !reads_words;
  if (s.filter == linear_filter && reads_integers && !becomes_float) return invalid_filter;
  if (s.read_normalized == normalized && !becomes_float) return invalid_norm;
  if (s.read_normalized < as_elements || s.read_normalized > most_read_mode || s.filter < 0 ||
      s.filter > linear_filter || (s.seamless_cubemap != 0 && !is_cube(r)))
    return error::invalid_value;
  if (becomes_float) image.type = static_cast<std::uint8_t>(texel::normalized + image.type);
  if (s.srgb != 0 && image.type == texel::normalized + texel::u8) return not_modelled("sRGB textures");
  if (s.mipmap_filter < 0 || s.mipmap_filter > linear_filter) return error::invalid_value;
  image.normalized = s.normalized_coordinates != 0;
  if (r.kind == of_linear_memory) return error::none;  // fetched by index, without filter
  if (image.normalized == 0) image.levels = 1;
  if (image.levels > 1) {
    image.levels_linear = s.mipmap_filter != 0;
    if (image.levels_linear != 0 && reads_integers && !becomes_float) return invalid_filter;
    image.bias = s.mipmap_bias;
    image.least_level = s.mipmap_least;
    image.most_level = s.mipmap_most;
  }
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
