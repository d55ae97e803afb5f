// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "heddle/frontend/ptx/syntax/ast.h"
#include "heddle/isa/texture.h"

namespace heddle::ptx {

/// The decoded words of tex, tld4, suld, sust, txq and suq.
struct texture_form {
  isa::texture_shape shape = isa::texture_shape::one;
  bool shaped = false;
  bool level = false;      // a level of detail follows the coordinates
  bool gradients = false;  // two gradients follow them
  unsigned component = 0;  // tld4
  unsigned vector = 1;
  unsigned types = 0;
  isa::dtype type[2] = {};    // result, coordinates; surfaces: element
  std::uint8_t boundary = 0;  // suld, sust
  isa::texture_query query = isa::texture_query::width;

  /// How many operands follow the coordinates.
  [[nodiscard]] unsigned more_operands() const { return (level ? 1 : 0) + (gradients ? 2 : 0); }
  /// The number of coordinates, including the layer.
  [[nodiscard]] unsigned coordinates() const { return isa::dimensions(shape) + (isa::is_array(shape) ? 1 : 0); }
};

/// Decodes the words. Throws input_error for an unknown word, such as a cube map for surfaces.
texture_form decode_texture_form(const ast_instruction& i, const std::string& file);

}  // namespace heddle::ptx
