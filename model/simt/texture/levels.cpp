// SPDX-License-Identifier: MIT
// Levels of mipmapped textures, and faces of cube maps.
#include "heddle/simt/texture/levels.h"

#include <algorithm>
#include <cmath>

namespace heddle::simt {

namespace {

/// How far the coordinates move from one pixel to the next, in texels.
double length_of(const texture_descriptor& d, isa::texture_shape shape, const float (&change)[3],
                 const float (&direction)[3]) {
  double at[3] = {change[0], change[1], change[2]};
  unsigned n = isa::dimensions(shape);
  if (isa::is_cube(shape)) {
    const unsigned face = face_of(direction);
    const face_coordinates p = on_face(face, direction), c = on_face(face, change);
    const double depth = p.depth;
    at[0] = (c.s * depth - p.s * static_cast<double>(c.depth)) / (2 * depth * depth);
    at[1] = (c.t * depth - p.t * static_cast<double>(c.depth)) / (2 * depth * depth);
    n = 2;
  }
  const double sizes[3] = {static_cast<double>(d.width), static_cast<double>(d.height), static_cast<double>(d.depth)};
  double sum = 0;
  for (unsigned k = 0; k < n; ++k) sum += at[k] * sizes[k] * at[k] * sizes[k];
  return std::sqrt(sum);
}

}  // namespace

level_choice levels_for(const isa::instruction& i, const texture_descriptor& d, const level_request& r,
                        const float (&direction)[3]) {
  const isa::texture_shape shape = isa::texture_shape_of(i);
  double level = 0;
  if ((i.sub & isa::texture::level) != 0) level = r.level;
  if ((i.sub & isa::texture::gradients) != 0)
    level = std::log2(
        std::max(length_of(d, shape, r.gradient[0], direction), length_of(d, shape, r.gradient[1], direction)));
  level = std::min(std::max(level + d.bias, static_cast<double>(d.least_level)), static_cast<double>(d.most_level));
  if (level != level) level = 0;
  const unsigned last = d.levels - 1u;
  const auto fixed = static_cast<unsigned>(std::floor(std::clamp(level, 0.0, static_cast<double>(last)) * 256 + 0.5));
  level_choice c;
  if (!d.levels_linear) {
    c.level[0] = c.level[1] = std::min((fixed + 128) / 256, last);
    return c;
  }
  c.level[0] = fixed / 256;
  c.level[1] = std::min(c.level[0] + 1, last);
  c.share = fixed % 256;
  return c;
}

texture_descriptor image_of_level(const texture_descriptor& d, unsigned level, isa::texture_shape shape) {
  texture_descriptor one = d;
  if (level == 0) return one;
  const auto halved = [level](std::uint32_t n) { return std::max(n >> level, 1u); };
  one.address = d.further[level - 1];
  one.width = halved(d.width);
  one.height = halved(d.height);
  if (shape == isa::texture_shape::three) one.depth = halved(d.depth);
  return one;
}

unsigned face_of(const float (&direction)[3]) {
  const float x = direction[0], y = direction[1], z = direction[2];
  const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  if (ax >= ay && ax >= az) return x < 0 ? 1 : 0;
  if (ay >= az) return y < 0 ? 3 : 2;
  return z < 0 ? 5 : 4;
}

face_coordinates on_face(unsigned face, const float (&v)[3]) {
  const float x = v[0], y = v[1], z = v[2];
  switch (face) {
    case 0: return {-z, -y, x};
    case 1: return {z, -y, -x};
    case 2: return {x, z, y};
    case 3: return {x, -z, -y};
    case 4: return {x, -y, z};
    default: return {-x, -y, -z};
  }
}

}  // namespace heddle::simt
