// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace heddle::simt {

/// Memory format of a texel's channel. Normalised types are read as floats from 0 or -1 to 1.
enum class texel_type : std::uint8_t { u8, s8, u16, s16, u32, s32, f16, f32, unorm8, snorm8, unorm16, snorm16 };
enum class texture_address : std::uint8_t { wrap, clamp, mirror, border };

/// A texture or surface: an image in device memory, stored by rows and layers; a texture may have further levels, each
/// half as large as the one before.
struct texture_descriptor {
  std::uint64_t address = 0;
  std::uint32_t width = 1;
  std::uint32_t height = 1;
  std::uint32_t depth = 1;  // or number of layers
  texel_type type = texel_type::f32;
  std::uint8_t channels = 1;      // 1, 2 or 4
  bool linear = false;            // filter; only for types read as floats
  bool normalized = false;        // coordinates from 0 to 1
  std::uint64_t pitch_bytes = 0;  // distance between rows; 0: rows without gaps
  std::array<texture_address, 3> mode{texture_address::clamp, texture_address::clamp, texture_address::clamp};
  static constexpr unsigned most_levels = 18;
  std::uint8_t levels = 1;
  bool levels_linear = false;                            // filter between two levels; only for types read as floats
  float bias = 0, least_level = 0, most_level = 0;       // added to the level; limits of the sum
  std::array<std::uint64_t, most_levels - 1> further{};  // addresses of the levels from 1 on
};
using texture_table = std::vector<texture_descriptor>;

constexpr bool reads_as_float(texel_type t) { return t >= texel_type::f16; }
constexpr unsigned channel_bytes(texel_type t) {
  switch (t) {
    case texel_type::u8:
    case texel_type::s8:
    case texel_type::unorm8:
    case texel_type::snorm8: return 1;
    case texel_type::u32:
    case texel_type::s32:
    case texel_type::f32: return 4;
    default: return 2;
  }
}
inline unsigned texel_bytes(const texture_descriptor& d) { return channel_bytes(d.type) * d.channels; }
inline std::uint64_t row_bytes(const texture_descriptor& d) { return std::uint64_t{d.width} * texel_bytes(d); }

/// Throws input_error if a descriptor is inconsistent: sizes of 0 or above 2^17 (the texture units' own limit), three
/// channels, a linear filter over integers, rows that overlap or cut texels, levels beyond a single texel.
void check_texture(const texture_descriptor& d);

}  // namespace heddle::simt
