// SPDX-License-Identifier: MIT
// Texture and surface fetches: selection of texels, and filtering (CUDA programming guide, appendix on texture
// fetching).
#include "heddle/simt/texture/texture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "heddle/config/error.h"
#include "heddle/isa/texture.h"
#include "heddle/simt/scalar/soft_float.h"
#include "heddle/simt/scalar/topics.h"
#include "heddle/simt/texture/levels.h"
#include "heddle/simt/warp/lane_loop.h"

namespace heddle::simt {

namespace {

using isa::instruction;
using isa::opcode;
using isa::texture_shape;

const texture_descriptor& descriptor_of(const warp_state& w, std::uint64_t handle) {
  const auto& table = w.block->launch->textures;
  if (table && handle != 0 && handle <= table->size()) return (*table)[handle - 1];
  char text[80];
  std::snprintf(text, sizeof text, "0x%llx is not the handle of a texture or surface",
                static_cast<unsigned long long>(handle));
  throw program_error(text);
}

/// The texels on either side of a coordinate, and the weight of the second one in 1/256.
struct axis {
  std::int64_t texel[2] = {0, 0};
  bool inside[2] = {true, true};
  std::uint32_t share = 0;
};

/// Applies the address mode to a texel number; returns false if the texel is outside and reads as zero.
bool wrap_coordinate(std::int64_t& t, std::uint32_t size, texture_address mode) {
  if (t >= 0 && t < size) return true;
  if (mode == texture_address::border) return false;
  if (mode == texture_address::wrap) {
    t %= size;
    if (t < 0) t += size;
  } else {
    t = std::clamp<std::int64_t>(t, 0, size - 1);
  }
  return true;
}

axis axis_of_integer(std::int32_t at, std::uint32_t size, texture_address mode) {
  axis a;
  a.texel[0] = at;
  // Wrapping and mirroring apply to normalised coordinates only.
  a.inside[0] = wrap_coordinate(a.texel[0], size, mode == texture_address::border ? mode : texture_address::clamp);
  return a;
}

/// `between`: both neighbours are needed (linear filter, gather).
axis axis_of(float coordinate, std::uint32_t size, texture_address mode, bool normalized, bool between) {
  double x = coordinate;
  if (x != x) x = 0;
  if (!normalized && (mode == texture_address::wrap || mode == texture_address::mirror)) mode = texture_address::clamp;
  if (mode == texture_address::wrap || mode == texture_address::mirror) {
    if (x - x != 0) x = 0;  // infinite
    const double period = std::floor(x);
    x -= period;
    if (mode == texture_address::mirror && std::fmod(period, 2) != 0) x = 1 - x;
  }
  if (normalized) x *= size;
  x = std::clamp(x, -1e9, 5e9);
  axis a;
  if (!between) {
    a.texel[0] = static_cast<std::int64_t>(std::floor(x));
    a.inside[0] = wrap_coordinate(a.texel[0], size, mode);
    return a;
  }
  x -= 0.5;
  const double low = std::floor(x);
  a.share = static_cast<std::uint32_t>(std::floor((x - low) * 256 + 0.5));
  for (unsigned k = 0; k < 2; ++k) {
    a.texel[k] = static_cast<std::int64_t>(low) + k;
    a.inside[k] = wrap_coordinate(a.texel[k], size, mode);
  }
  return a;
}

std::uint64_t texel_address(const texture_descriptor& d, std::uint64_t x, std::uint64_t y, std::uint64_t z,
                            unsigned bytes) {
  return d.address + (z * d.height + y) * (d.pitch_bytes != 0 ? d.pitch_bytes : row_bytes(d)) + x * bytes;
}

/// The coordinate words of a lane; an array's layer is separate.
struct coordinates {
  std::uint32_t word[3] = {0, 0, 0};
  std::uint32_t layer = 0;
};

coordinates coordinates_of(const std::uint32_t* const (&c)[4], texture_shape shape, unsigned lane) {
  coordinates r;
  const unsigned first = isa::is_array(shape) ? 1 : 0;
  for (unsigned k = 0; k < isa::dimensions(shape); ++k) r.word[k] = c[first + k][lane];
  if (first) r.layer = c[0][lane];
  return r;
}

float float_of(std::uint32_t bits) {
  float f;
  std::memcpy(&f, &bits, sizeof f);
  return f;
}

/// Converts a direction to cubemap coordinates: the layer is the face, the coordinates on it range from 0 to 1 (CUDA
/// programming guide, cubemap textures).
coordinates face_of_direction(const coordinates& c) {
  constexpr std::uint32_t faces = 6;
  const float direction[3] = {float_of(c.word[0]), float_of(c.word[1]), float_of(c.word[2])};
  coordinates r;
  r.layer = face_of(direction);
  const face_coordinates on = on_face(r.layer, direction);
  const float at[2] = {(on.s / on.depth + 1) / 2, (on.t / on.depth + 1) / 2};
  std::memcpy(r.word, at, sizeof at);
  r.layer += std::min(c.layer, ~std::uint32_t{0} / faces - 1) * faces;
  return r;
}

/// What each corner counts, in 1/256, as measured on an H100: products of shares are rounded, and the weights of
/// corners that share a coordinate add up to that of the coordinate. In three dimensions the chip's weights differ from
/// these in one of twelve results.
std::array<std::int32_t, 8> weights_of_corners(const axis (&axes)[3], unsigned n) {
  constexpr int one = 256;
  const auto product = [](int x, int y) { return (x * y + one / 2) / one; };
  const auto share = [&](unsigned k) { return k < n ? static_cast<int>(axes[k].share) : 0; };
  const int x = share(0), y = share(1), z = share(2);
  const int xy = product(x, y), xz = product(x, z), yz = product(y, z), xyz = product(xy, z);
  return {one - x - y - z + xy + xz + yz - xyz,
          x - xy - xz + xyz,
          y - xy - yz + xyz,
          xy - xyz,
          z - xz - yz + xyz,
          xz - xyz,
          yz - xyz,
          xyz};
}

/// The texels of one image, which counts `weight` / 256; `first`: number of its first corner.
void plan_image(const instruction& i, const texture_descriptor& d, const coordinates& given, unsigned lane,
                texture_access& a, unsigned first = 0, std::int32_t weight = 256) {
  const texture_shape shape = isa::texture_shape_of(i);
  const bool cube = isa::is_cube(shape);
  const coordinates c = cube ? face_of_direction(given) : given;
  const unsigned n = cube ? 2 : isa::dimensions(shape);
  const std::uint32_t sizes[3] = {d.width, d.height, d.depth};
  const bool integer = i.src_type == isa::dtype::s32, gather = i.op == opcode::tld4,
             between = gather || (d.linear && !integer);
  axis axes[3];
  for (unsigned k = 0; k < n; ++k) {
    axes[k] = integer ? axis_of_integer(static_cast<std::int32_t>(c.word[k]), sizes[k], d.mode[k])
              : cube  ? axis_of(float_of(c.word[k]), sizes[k], texture_address::clamp, true, between)
                      : axis_of(float_of(c.word[k]), sizes[k], d.mode[k], d.normalized, between);
  }
  if (cube || isa::is_array(shape)) axes[2].texel[0] = axes[2].texel[1] = std::min(c.layer, d.depth - 1);
  const unsigned corners = between ? 1u << n : 1;
  a.count = std::max(a.count, first + corners);
  const std::array<std::int32_t, 8> weights = between ? weights_of_corners(axes, n) : std::array<std::int32_t, 8>{256};
  for (unsigned corner = 0; corner < corners; ++corner) {
    std::uint64_t at[3];
    bool inside = true;
    for (unsigned k = 0; k < 3; ++k) {
      const unsigned side = k < n ? corner >> k & 1 : 0;
      at[k] = static_cast<std::uint64_t>(axes[k].texel[side]);
      if (k >= n) continue;
      inside = inside && axes[k].inside[side];
    }
    a.weights[first + corner][lane] = weights[corner] * weight;
    if (!inside || (weights[corner] == 0 && !gather)) continue;
    a.addresses[first + corner][lane] = texel_address(d, at[0], at[1], at[2], a.bytes);
    a.mask[first + corner] |= lane_bit[lane];
  }
}

void plan_lane(const instruction& i, const texture_descriptor& d, const coordinates& given, const level_request& wanted,
               unsigned lane, texture_access& a) {
  if (d.levels == 1 || i.op == opcode::tld4) return plan_image(i, d, given, lane, a);
  const texture_shape shape = isa::texture_shape_of(i);
  const float direction[3] = {float_of(given.word[0]), float_of(given.word[1]), float_of(given.word[2])};
  const level_choice c = levels_for(i, d, wanted, direction);
  const auto share = static_cast<std::int32_t>(c.share);
  plan_image(i, image_of_level(d, c.level[0], shape), given, lane, a, 0, 256 - share);
  if (share != 0) plan_image(i, image_of_level(d, c.level[1], shape), given, lane, a, texture_access::corners, share);
}

void plan_surface_lane(const instruction& i, const texture_descriptor& d, const coordinates& c, unsigned lane,
                       texture_access& a) {
  const texture_shape shape = isa::texture_shape_of(i);
  const std::uint32_t row = d.width * texel_bytes(d), sizes[3] = {row, d.height, d.depth};
  std::uint32_t at[3] = {0, 0, isa::is_array(shape) ? c.layer : 0};
  const unsigned boundary = i.sub & isa::texture::boundary_mask;
  bool inside = at[2] < d.depth;
  for (unsigned k = 0; k < isa::dimensions(shape); ++k) {
    const std::uint32_t end = k == 0 ? (row >= a.bytes ? row - a.bytes + 1 : 0) : sizes[k];
    at[k] = c.word[k];
    const bool fits = at[k] < end;
    if (!fits && boundary == isa::texture::clamp && end != 0)
      at[k] = static_cast<std::int32_t>(at[k]) < 0 ? 0 : end - 1;
    else inside = inside && fits;
  }
  if (boundary == isa::texture::clamp) at[2] = std::min(at[2], d.depth - 1);
  if (boundary == isa::texture::clamp && row >= a.bytes) inside = true;
  if (at[0] % a.bytes != 0) {
    if (boundary != isa::texture::clamp)
      throw program_error("misaligned surface coordinate: x counts bytes, in whole elements");
    at[0] -= at[0] % a.bytes;
  }
  if (!inside && boundary == isa::texture::trap) throw program_error("surface coordinate outside the surface");
  if (!inside) return;
  a.addresses[0][lane] = texel_address(d, 0, at[1], at[2], 1) + at[0];
  a.mask[0] |= lane_bit[lane];
}

std::uint32_t bits_of(float f) {
  std::uint32_t b;
  std::memcpy(&b, &f, sizeof b);
  return f != f ? nan_f32 : b;
}

/// Channel k of a texel as 32 bits: a float, or an extended integer.
std::uint32_t channel(const texture_descriptor& d, const std::uint32_t (&words)[4][warp_size], unsigned lane,
                      unsigned k) {
  if (k >= d.channels) return k == 3 ? (reads_as_float(d.type) ? 0x3f800000u : 1u) : 0u;
  const unsigned bytes = channel_bytes(d.type), at = k * bytes;
  const std::uint32_t raw = words[at / 4][lane] >> at % 4 * 8;
  const auto s8 = static_cast<std::int8_t>(raw);
  const auto s16 = static_cast<std::int16_t>(raw);
  switch (d.type) {
    case texel_type::u8: return raw & 0xff;
    case texel_type::s8: return static_cast<std::uint32_t>(s8);
    case texel_type::u16: return raw & 0xffff;
    case texel_type::s16: return static_cast<std::uint32_t>(s16);
    case texel_type::f16: return bits_of(static_cast<float>(widen(format_f16, raw & 0xffff)));
    case texel_type::unorm8: return bits_of(static_cast<float>(raw & 0xff) / 255.0f);
    case texel_type::snorm8: return bits_of(std::max(static_cast<float>(s8) / 127.0f, -1.0f));
    case texel_type::unorm16: return bits_of(static_cast<float>(raw & 0xffff) / 65535.0f);
    case texel_type::snorm16: return bits_of(std::max(static_cast<float>(s16) / 32767.0f, -1.0f));
    default: return raw;
  }
}

/// The weighted sum of the corners: exact products, added in order in double precision.
std::uint32_t filtered(const texture_access& a, unsigned lane, unsigned k) {
  const texture_descriptor& d = *a.descriptor[lane];
  double sum = 0;
  for (unsigned corner = 0; corner < a.count; ++corner) {
    if (!(a.mask[corner] & lane_bit[lane])) continue;
    const std::uint32_t bits = channel(d, a.words[corner], lane, k);
    float f;
    std::memcpy(&f, &bits, sizeof f);
    sum += static_cast<double>(f) * a.weights[corner][lane] * 0x1p-16;
  }
  return bits_of(static_cast<float>(sum));
}

std::uint32_t result(const instruction& i, const texture_access& a, unsigned lane, unsigned k) {
  const texture_descriptor& d = *a.descriptor[lane];
  if (i.op == opcode::tld4) {
    static constexpr unsigned order[4] = {2, 3, 1, 0};  // lower left, lower right, upper right, upper left
    const unsigned corner = order[k];
    if (!(a.mask[corner] & lane_bit[lane])) return 0;
    return channel(d, a.words[corner], lane, i.sub >> isa::texture::component_shift & 3);
  }
  if ((d.linear || d.levels_linear) && i.src_type != isa::dtype::s32) return filtered(a, lane, k);
  return a.mask[0] & lane_bit[lane] ? channel(d, a.words[0], lane, k) : 0;
}

void txq(const instruction& i, warp_state& w, lane_mask mask) {
  alignas(64) std::uint32_t d[warp_size] = {};
  const wide_operand handle(i.src[0], w);
  for_each_lane(mask, [&](unsigned l) {
    const auto& table = w.block->launch->textures;
    if (!table || handle[l] == 0 || handle[l] > table->size()) return;
    const texture_descriptor& t = (*table)[handle[l] - 1];
    const std::uint32_t values[] = {t.width, t.height, t.depth, t.channels};
    d[l] = values[i.sub & 3];
  });
  write_lanes(i, w, mask, d);
}

/// The operands behind the coordinates.
class level_operands {
 public:
  level_operands(const instruction& i, const warp_state& w) {
    if (i.op != opcode::tex) return;
    levels_ = (i.sub & isa::texture::level) != 0;
    const bool gradients = (i.sub & isa::texture::gradients) != 0;
    dimensions_ = gradients ? isa::dimensions(isa::texture_shape_of(i)) : 0;
    if (levels_) word_[0][0] = fetch(i.src[2], w, scratch_[0][0]);
    for (unsigned g = 0; g < 2; ++g)
      for (unsigned k = 0; k < dimensions_; ++k) word_[g][k] = fetch(i.src[2 + g], w, scratch_[g][k], k);
  }
  [[nodiscard]] level_request of(unsigned lane) const {
    level_request r;
    if (levels_) r.level = float_of(word_[0][0][lane]);
    for (unsigned g = 0; g < 2; ++g)
      for (unsigned k = 0; k < dimensions_; ++k) r.gradient[g][k] = float_of(word_[g][k][lane]);
    return r;
  }

 private:
  bool levels_ = false;
  unsigned dimensions_ = 0;  // of gradients
  const std::uint32_t* word_[2][3] = {};
  alignas(64) std::uint32_t scratch_[2][3][warp_size];
};

}  // namespace

void plan_texture(const instruction& i, const warp_state& w, lane_mask mask, texture_access& a, unsigned& bad_lane) {
  alignas(64) std::uint32_t scratch[4][warp_size];
  const std::uint32_t* c[4];
  for (unsigned k = 0; k < 4; ++k) c[k] = fetch(i.src[1], w, scratch[k], k);
  const wide_operand handle(i.src[0], w);
  const level_operands levels(i, w);
  const bool surface = !isa::samples_texture(i.op);
  a.bytes = surface ? isa::size_of(i.type) : 0;
  a.count = 1;
  a.lanes = mask;
  a.mask.fill(0);
  for_each_lane(mask, [&](unsigned l) {
    bad_lane = l;
    const texture_descriptor& d = descriptor_of(w, handle[l]);
    a.descriptor[l] = &d;
    const coordinates at = coordinates_of(c, isa::texture_shape_of(i), l);
    if (surface) return plan_surface_lane(i, d, at, l, a);
    if (a.bytes != 0 && a.bytes != texel_bytes(d))
      throw program_error("the lanes' textures have texels of different sizes");
    a.bytes = texel_bytes(d);
    plan_lane(i, d, at, levels.of(l), l, a);
  });
  std::memset(a.words, 0, a.count * sizeof a.words[0]);
  if (i.op != opcode::sust) return;
  for (unsigned k = 0; k < (a.bytes + 3) / 4; ++k)
    std::memcpy(a.words[0][k], fetch(i.src[2], w, scratch[0], k), sizeof a.words[0][k]);
}

void finish_texture(const instruction& i, warp_state& w, texture_access& a) {
  alignas(64) std::uint32_t d[warp_size] = {};
  if (i.op == opcode::suld) {
    for (unsigned k = 0; k < i.dst_count; ++k) write_lanes(i, w, a.lanes, a.words[0][k], k);
    return;
  }
  for (unsigned k = 0; k < i.dst_count; ++k) {
    for_each_lane(a.lanes, [&](unsigned l) { d[l] = result(i, a, l, k); });
    write_lanes(i, w, a.lanes, d, k);
  }
}

execute_function select_texture(const instruction& i) { return i.op == opcode::txq ? txq : nullptr; }

}  // namespace heddle::simt
