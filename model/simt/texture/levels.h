// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/isa/texture.h"
#include "heddle/simt/texture/texture_descriptor.h"

namespace heddle::simt {

/// What an instruction says of the level, for one lane: a level, or how the coordinates change from one pixel to the
/// next, across and down.
struct level_request {
  float level = 0;
  float gradient[2][3] = {};
};

/// The two levels between which the texel lies, and what the second one counts, in 1/256.
struct level_choice {
  unsigned level[2] = {0, 0};
  std::uint32_t share = 0;
};

/// The levels for a request (CUDA programming guide: the fraction of a level has eight bits). Gradients give the binary
/// logarithm of the longer one in texels. `direction`: of a cube map.
level_choice levels_for(const isa::instruction& i, const texture_descriptor& d, const level_request& r,
                        const float (&direction)[3]);

/// The image of one level.
texture_descriptor image_of_level(const texture_descriptor& d, unsigned level, isa::texture_shape shape);

/// Coordinates of a direction, or of its change, on a face of a cube; `depth` goes out of the face.
struct face_coordinates {
  float s, t, depth;
};
unsigned face_of(const float (&direction)[3]);
face_coordinates on_face(unsigned face, const float (&v)[3]);

}  // namespace heddle::simt
