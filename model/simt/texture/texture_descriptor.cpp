// SPDX-License-Identifier: MIT
#include "heddle/simt/texture/texture_descriptor.h"

#include <algorithm>
#include <string>

#include "heddle/config/error.h"

namespace heddle::simt {

void check_texture(const texture_descriptor& d) {
  constexpr std::uint32_t largest = 1u << 17;
  const auto fits = [](std::uint32_t n) { return n >= 1 && n <= largest; };
  // The width may be larger: its limit is that of textures over linear memory.
  if (d.width == 0 || d.width > (1u << 28) || !fits(d.height) || !fits(d.depth))
    throw input_error("a texture's width, height and depth: expected 1 to 268435456, 131072 and 131072");
  if (d.channels != 1 && d.channels != 2 && d.channels != 4)
    throw input_error("a texture of " + std::to_string(d.channels) + " channels, expected 1, 2 or 4");
  if (d.type > texel_type::snorm16) throw input_error("a texture of an unknown type");
  if (d.pitch_bytes != 0 &&
      (d.pitch_bytes < row_bytes(d) || d.pitch_bytes % texel_bytes(d) != 0 || d.pitch_bytes > std::uint64_t{1} << 32))
    throw input_error("a texture's pitch of " + std::to_string(d.pitch_bytes) + " bytes, expected whole texels, " +
                      std::to_string(row_bytes(d)) + " bytes or more");
  if ((d.linear || d.levels_linear) && !reads_as_float(d.type))
    throw input_error("a linear filter needs f16, f32 or a normalised type");
  const std::uint32_t side = std::max({d.width, d.height, d.depth});
  if (d.levels == 0 || d.levels > texture_descriptor::most_levels || (side >> (d.levels - 1)) == 0)
    throw input_error("a texture of " + std::to_string(d.levels) + " levels, expected 1 or more, to a single texel");
  for (const texture_address m : d.mode)
    if (m > texture_address::border) throw input_error("a texture with an unknown address mode");
}

}  // namespace heddle::simt
