// SPDX-License-Identifier: MIT
#include "heddle/isa/texture.h"

namespace heddle::isa {

std::string texture_suffix(const instruction& i) {
  static constexpr const char* shapes[] = {".1D", ".2D", ".3D", ".ARRAY_1D", ".ARRAY_2D", ".CUBE", ".ARRAY_CUBE"};
  static constexpr const char* queries[] = {".WIDTH", ".HEIGHT", ".DEPTH", ".CHANNELS"};
  static constexpr const char* boundaries[] = {".TRAP", ".IGN_CLAMP", ".IGN_ZERO"};
  if (i.op == opcode::txq) return queries[i.sub & 3];
  const unsigned shape = i.sub & texture::shape_mask;
  std::string s = shape < 7 ? shapes[shape] : "";
  if (i.op == opcode::suld || i.op == opcode::sust) {
    const unsigned boundary = (i.sub & texture::boundary_mask) / texture::clamp;
    return s + "." + std::to_string(8 * size_of(i.type)) + (boundary < 3 ? boundaries[boundary] : "");
  }
  if (i.op == opcode::tld4) s += std::string(".") + "RGBA"[i.sub >> texture::component_shift & 3];
  if (i.op == opcode::tex && (i.sub & texture::level) != 0) s += ".LL";
  if (i.op == opcode::tex && (i.sub & texture::gradients) != 0) s += ".GRAD";
  return s + (i.src_type == dtype::s32 ? ".S32" : ".F32");
}

}  // namespace heddle::isa
