// SPDX-License-Identifier: MIT
// tex with random images, shapes, types, filters and address modes at random coordinates, compared with the formulas in
// the appendix on texture fetching of the CUDA programming guide, texel by texel.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <random>

#include "tests/unit/ptx/ptx_machine.h"

namespace heddle {
namespace texture_sampling_test {

using simt::texel_type;
using simt::texture_address;
using u32 = std::uint32_t;

struct shape_row {
  const char* name;
  unsigned dimensions;
  bool layered;
};
constexpr shape_row shapes[] = {
    {"1d", 1, false}, {"2d", 2, false}, {"3d", 3, false}, {"a1d", 1, true}, {"a2d", 2, true}};

/// A texel's channels as numbers.
using texel = std::array<long double, 4>;

/// An image of numbers that its type can represent.
struct image {
  simt::texture_descriptor d;
  std::vector<long> raw;  // all channels of a texel in sequence; f16 and f32: small integers

  static bool is_normalised(texel_type t) { return t >= texel_type::unorm8; }
  [[nodiscard]] bool is_integer() const { return d.type <= texel_type::s32; }

  [[nodiscard]] texel at(std::int64_t x, std::int64_t y, std::int64_t z) const {
    texel t{0, 0, 0, 1};
    for (unsigned k = 0; k < d.channels; ++k) {
      const long v = raw[static_cast<std::size_t>(((z * d.height + y) * d.width + x) * d.channels + k)];
      static constexpr float tops[] = {255, 127, 65535, 32767};
      if (is_normalised(d.type))
        t[k] = std::max(-1.0f,
                        static_cast<float>(v) / tops[static_cast<int>(d.type) - static_cast<int>(texel_type::unorm8)]);
      else t[k] = v;
    }
    return t;
  }

  [[nodiscard]] std::vector<std::uint8_t> bytes() const {
    std::vector<std::uint8_t> b;
    const unsigned n = simt::channel_bytes(d.type);
    for (const long v : raw) {
      u32 code = static_cast<u32>(v);
      const float f = static_cast<float>(v);
      if (d.type == texel_type::f32 || d.type == texel_type::f16) std::memcpy(&code, &f, 4);
      if (d.type == texel_type::f16)
        code = v == 0 ? 0 : (code >> 16 & 0x8000) | ((code >> 23 & 0xff) - 112) << 10 | (code >> 13 & 0x3ff);
      for (unsigned k = 0; k < n; ++k) b.push_back(static_cast<std::uint8_t>(code >> (8 * k)));
    }
    return b;
  }
};

image random_image(std::mt19937& random, const shape_row& s, texel_type type) {
  const auto pick = [&](u32 n) { return static_cast<u32>(random() % n); };
  image m;
  m.d.type = type;
  m.d.width = 1 + pick(9);
  m.d.height = s.dimensions > 1 ? 1 + pick(5) : 1;
  m.d.depth = s.dimensions > 2 || s.layered ? 1 + pick(4) : 1;
  m.d.channels = static_cast<std::uint8_t>(1u << pick(3));
  m.d.normalized = pick(2) != 0;
  m.d.linear = type >= texel_type::f16 && pick(2) != 0;
  for (texture_address& a : m.d.mode) a = static_cast<texture_address>(pick(4));
  static constexpr long low[] = {0, -128, 0, -32768, 0, -1000000, -900, -100000, 0, -128, 0, -32768},
                        high[] = {255, 127, 65535, 32767, 1000000, 1000000, 900, 100000, 255, 127, 65535, 32767};
  const auto t = static_cast<unsigned>(type);
  for (std::size_t k = 0; k < std::size_t{m.d.width} * m.d.height * m.d.depth * m.d.channels; ++k)
    m.raw.push_back(low[t] + static_cast<long>(random() % static_cast<unsigned long>(high[t] - low[t] + 1)));
  return m;
}

/// N(x): the position, in [0, size) or beyond, of a coordinate before it is split into index and fraction.
long double place_of(float coordinate, u32 size, texture_address mode, bool normalized) {
  long double x = coordinate;
  if (!normalized) return x;
  const long double turn = std::floor(x), share = x - turn;
  if (mode == texture_address::wrap) x = share;
  if (mode == texture_address::mirror) x = std::fmod(turn, 2.0L) == 0 ? share : 1 - share;
  return x * size;
}

/// Applies the address mode to an index; false: outside, with border mode.
bool index_of(std::int64_t& i, u32 size, texture_address mode, bool normalized) {
  if (i >= 0 && i < static_cast<std::int64_t>(size)) return true;
  if (mode == texture_address::border) return false;
  if (mode == texture_address::wrap && normalized) i = (i % size + size) % size;
  else i = i < 0 ? 0 : size - 1;
  return true;
}

/// The weight of the texel at the upper side of the axes in `upper`: products of shares are rounded to 1/256, and what
/// the others have adds up to each share, as on an H100.
long double weight_of(const long double (&share)[3], unsigned dimensions, unsigned upper) {
  const auto rounded = [](long double w) { return std::floor(w * 256 + 0.5L) / 256; };
  /// All of the axes in `which` on their upper side, the others on either.
  const auto together = [&](unsigned which) {
    long double w = 1;
    for (unsigned k = 0; k < dimensions; ++k)
      if ((which >> k & 1) != 0) w = rounded(w * share[k]);
    return w;
  };
  // Inclusion and exclusion over the axes that are on their lower side.
  long double sum = 0;
  for (unsigned which = 0; which < 1u << dimensions; ++which)
    if ((which & upper) == upper) sum += (__builtin_popcount(which ^ upper) % 2 != 0 ? -1 : 1) * together(which);
  return sum;
}

/// The ISA's tex at one coordinate.
texel sample(const image& m, const shape_row& s, const float (&c)[3], u32 layer, bool integers) {
  const u32 sizes[3] = {m.d.width, m.d.height, m.d.depth};
  const bool linear = m.d.linear && !integers;
  std::int64_t base[3] = {0, 0, 0};
  long double share[3] = {0, 0, 0};
  for (unsigned k = 0; k < s.dimensions; ++k) {
    const long double x =
        integers ? static_cast<long double>(c[k]) : place_of(c[k], sizes[k], m.d.mode[k], m.d.normalized);
    const long double low = std::floor(linear ? x - 0.5L : x);
    base[k] = static_cast<std::int64_t>(low);
    if (linear) share[k] = std::floor((x - 0.5L - low) * 256 + 0.5L) / 256;  // 8 bits of fraction
  }
  texel sum{0, 0, 0, 0};
  for (unsigned corner = 0; corner < (linear ? 1u << s.dimensions : 1u); ++corner) {
    std::int64_t i[3] = {0, 0, 0};
    const long double weight = linear ? weight_of(share, s.dimensions, corner) : 1;
    bool inside = true;
    for (unsigned k = 0; k < s.dimensions; ++k) {
      i[k] = base[k] + (corner >> k & 1);
      inside = index_of(i[k], sizes[k], m.d.mode[k], m.d.normalized && !integers) && inside;
    }
    if (s.layered) i[2] = std::min(layer, m.d.depth - 1);
    if (!inside) continue;
    const texel t = m.at(i[0], i[1], i[2]);
    for (unsigned k = 0; k < 4; ++k) sum[k] += weight * t[k];
  }
  return sum;
}

/// The ISA's tld4 of a plane: one channel of the four texels that a linear filter would use, whatever the texture's own
/// filter is; lower left first, then lower right, upper right, upper left.
texel gather(const image& m, const float (&c)[3], unsigned channel) {
  const u32 sizes[2] = {m.d.width, m.d.height};
  std::int64_t i[2][2];
  bool inside[2][2];
  for (unsigned k = 0; k < 2; ++k)
    for (unsigned side = 0; side < 2; ++side) {
      i[k][side] =
          static_cast<std::int64_t>(std::floor(place_of(c[k], sizes[k], m.d.mode[k], m.d.normalized) - 0.5L)) + side;
      inside[k][side] = index_of(i[k][side], sizes[k], m.d.mode[k], m.d.normalized);
    }
  constexpr unsigned places[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
  texel t{0, 0, 0, 0};
  for (unsigned k = 0; k < 4; ++k) {
    const auto [x, y] = places[k];
    if (inside[0][x] && inside[1][y]) t[k] = m.at(i[0][x], i[1][y], 0)[channel];
  }
  return t;
}

/// `operation`: "tex.", "tex.level.", "tld4.g."
std::string kernel(const shape_row& s, const char* result, bool integers, const std::string& operation) {
  const bool level = operation == "tex.level.";
  std::string at = s.layered ? "%n" : "";
  const char* const names[] = {"x", "y", "z"};
  for (unsigned k = 0; k < s.dimensions; ++k)
    at += (at.empty() ? "%" : ", %") + std::string(integers ? "" : "f") + names[k];
  if (s.dimensions + (s.layered ? 1 : 0) == 3)
    at += std::string(", %") + (integers ? "x" : "fx");  // the fourth coordinate is not read
  const std::string type = std::string(result) + (integers ? ".s32" : ".f32");
  return ".version 8.4\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 texture, .param .u64 in, .param .u64 out) {\n"
         ".reg .b64 %p<3>, %t; .reg .b32 %x, %y, %z, %n, %l, %o<4>; .reg .f32 %fx, %fy, %fz, %zero;\n"
         "mov.u32 %l, %tid.x; ld.param.u64 %t, [texture]; ld.param.u64 %p0, [in]; mad.wide.u32 %p1, %l, 16, %p0; mov.f32 %zero, 0f00000000;\n"
         "ld.global.v4.u32 {%x, %y, %z, %n}, [%p1]; mov.b32 %fx, %x; mov.b32 %fy, %y; mov.b32 %fz, %z;\n" +
         operation + s.name + ".v4." + type + " {%o0, %o1, %o2, %o3}, [%t, {" + at + "}]" + (level ? ", %zero;" : ";") +
         "\nld.param.u64 %p0, [out]; mad.wide.u32 %p1, %l, 16, %p0; st.global.v4.u32 [%p1], {%o0, %o1, %o2, %o3}; ret; }\n";
}

float coordinate(std::mt19937& random, u32 size, bool normalized, bool integer) {
  const double extent = normalized && !integer ? 1 : size;
  if (integer) return static_cast<float>(static_cast<int>(random() % (2 * size + 4)) - static_cast<int>(size));
  switch (random() % 4) {
    case 0:
      return static_cast<float>(extent *
                                (static_cast<double>(random() % 17) / 4 - 2));  // edges of texels and of the image
    case 1: return static_cast<float>(extent * (random() % 64) / (size * 2.0 * 8));
    default: return static_cast<float>(extent * (static_cast<double>(random()) / 4294967296.0 * 5 - 2));
  }
}

/// `gathered`: the channel that tld4 gathers; without it, the instruction is tex.
unsigned differing(std::mt19937& random, const shape_row& s, const image& m, bool integers,
                   std::optional<unsigned> gathered = {}) {
  const std::string operation = gathered                         ? std::string("tld4.") + "rgba"[*gathered] + "."
                                : !integers && random() % 4 == 0 ? "tex.level."
                                                                 : "tex.";
  ptx_machine machine(kernel(
      s,
      m.is_integer()
          ? (m.d.type == texel_type::s8 || m.d.type == texel_type::s16 || m.d.type == texel_type::s32 ? "s32" : "u32")
          : "f32",
      integers, operation));
  simt::texture_descriptor d = m.d;
  d.address = machine.buffer(m.bytes());
  machine.textures = {d};
  std::vector<std::array<u32, 4>> in(32);
  std::vector<std::array<float, 3>> points(32);
  const u32 sizes[3] = {d.width, d.height, d.depth};
  for (unsigned l = 0; l < 32; ++l) {
    for (unsigned k = 0; k < 3; ++k) {
      points[l][k] = coordinate(random, sizes[k], d.normalized, integers);
      if (integers) in[l][k] = static_cast<u32>(static_cast<int>(points[l][k]));
      else std::memcpy(&in[l][k], &points[l][k], 4);
    }
    in[l][3] = static_cast<u32>(random() % (d.depth + 1));
  }
  const std::uint64_t from = machine.buffer(in), to = machine.buffer(std::vector<u32>(128));
  machine.run("k", {1, 1, 1}, {32, 1, 1}, {1, from, to});
  const auto got = machine.read<std::array<u32, 4>>(to, 32);
  unsigned wrong = 0;
  for (unsigned l = 0; l < 32; ++l) {
    const float c[3] = {points[l][0], points[l][1], points[l][2]};
    const texel expected = gathered ? gather(m, c, *gathered) : sample(m, s, c, in[l][3], integers);
    for (unsigned k = 0; k < 4; ++k) {
      float f;
      std::memcpy(&f, &got[l][k], 4);
      bool same = f == static_cast<float>(expected[k]);
      if (m.is_integer()) same = got[l][k] == static_cast<u32>(static_cast<std::int64_t>(expected[k]));
      else if (image::is_normalised(d.type) && d.linear)
        same = std::fabs(f - static_cast<double>(expected[k])) <= 0x1p-24;  // sums that no double holds exactly
      if (same) continue;
      if (++wrong > 2) continue;
      ADD_FAILURE() << operation << s.name << ", type " << static_cast<int>(d.type) << (d.linear ? " linear" : " point")
                    << (d.normalized ? " normalised" : "") << (integers ? " s32" : "") << ", modes "
                    << static_cast<int>(d.mode[0]) << static_cast<int>(d.mode[1]) << static_cast<int>(d.mode[2]) << ", "
                    << d.width << "x" << d.height << "x" << d.depth << " at " << c[0] << " " << c[1] << " " << c[2]
                    << " layer " << in[l][3] << ", channel " << k << ": got " << f << " (" << got[l][k]
                    << "), expected " << static_cast<double>(expected[k]);
    }
  }
  return wrong;
}

TEST(texture_sampling, of_every_shape_type_filter_and_address_mode) {
  std::mt19937 random(2026);
  unsigned wrong = 0;
  for (const shape_row& s : shapes)
    for (unsigned t = 0; t <= static_cast<unsigned>(texel_type::snorm16); ++t)
      for (unsigned k = 0; k < 24 && wrong < 20; ++k) {
        const image m = random_image(random, s, static_cast<texel_type>(t));
        wrong += differing(random, s, m, k % 6 == 5);
      }
  EXPECT_EQ(wrong, 0u);
}

TEST(texture_sampling, gathers_of_every_type_channel_and_address_mode) {
  std::mt19937 random(410);
  unsigned wrong = 0;
  for (unsigned t = 0; t <= static_cast<unsigned>(texel_type::snorm16); ++t)
    for (unsigned modes = 0; modes < 16 && wrong < 20; ++modes)
      for (const bool normalized : {true, false}) {
        image m = random_image(random, shapes[1], static_cast<texel_type>(t));
        m.d.mode[0] = static_cast<texture_address>(modes % 4);
        m.d.mode[1] = static_cast<texture_address>(modes / 4);
        m.d.normalized = normalized;
        wrong += differing(random, shapes[1], m, false, static_cast<unsigned>(random() % 4));
      }
  EXPECT_EQ(wrong, 0u);
}

}  // namespace texture_sampling_test
}  // namespace heddle
