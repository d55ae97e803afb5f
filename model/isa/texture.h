// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "heddle/isa/instruction.h"

namespace heddle::isa {

/// Shape of a texture or surface, in the low bits of instruction::sub. Coordinates are in the order of PTX: an array's
/// layer first. A cube map's coordinates are a direction.
enum class texture_shape : std::uint8_t { one, two, three, one_array, two_array, cube, cube_array };

/// Flags beside the shape.
namespace texture {
constexpr std::uint8_t shape_mask = 7;
constexpr std::uint8_t trap = 0, clamp = 8, zero = 16, boundary_mask = 24;  // suld, sust: boundary mode
constexpr unsigned component_shift = 3;                                     // tld4: the channel
// tex: where the level comes from. src[2] is the level, or src[2] and src[3] are how the coordinates change from one
// pixel to the next, across and down.
constexpr std::uint8_t level = 8, gradients = 16;
}  // namespace texture

/// txq: the queried property.
enum class texture_query : std::uint8_t { width, height, depth, channels };

inline texture_shape texture_shape_of(const instruction& i) {
  return static_cast<texture_shape>(i.sub & texture::shape_mask);
}
inline bool is_array(texture_shape s) {
  return s == texture_shape::one_array || s == texture_shape::two_array || s == texture_shape::cube_array;
}
inline bool is_cube(texture_shape s) { return s == texture_shape::cube || s == texture_shape::cube_array; }
/// Coordinates without the layer.
inline unsigned dimensions(texture_shape s) {
  return s == texture_shape::one || s == texture_shape::one_array ? 1 : s == texture_shape::three || is_cube(s) ? 3 : 2;
}
constexpr bool is_texture(opcode op) { return info(op).timing == op_class::texture; }

/// Suffix of the mnemonic: ".2D.F32", ".2D.64.TRAP".
std::string texture_suffix(const instruction& i);

}  // namespace heddle::isa
