// SPDX-License-Identifier: MIT
// Textures and surfaces through PTX: the texels read, their values, and the texels written.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "heddle/config/error.h"
#include "tests/unit/ptx/ptx_machine.h"

namespace heddle {
namespace texture_test {

using simt::texel_type;
using simt::texture_address;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

u32 bits(float f) {
  u32 b;
  std::memcpy(&b, &f, sizeof b);
  return b;
}
float real(u32 b) {
  float f;
  std::memcpy(&f, &b, sizeof f);
  return f;
}

/// One lane's coordinates x, y, z are %x %y %z (.b32, also as %fx %fy %fz); results in %o0 to %o3.
std::string kernel(const std::string& code) {
  return ".version 8.4\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 texture, .param .u64 in, .param .u64 out) {\n"
         ".reg .b64 %p<3>, %t; .reg .b32 %x, %y, %z, %l, %o<4>, %n; .reg .f32 %fx, %fy, %fz; .reg .b16 %h<4>; .reg .pred %q;\n"
         "mov.u32 %l, %tid.x; ld.param.u64 %t, [texture]; ld.param.u64 %p0, [in]; mad.wide.u32 %p1, %l, 16, %p0;\n"
         "ld.global.u32 %x, [%p1]; ld.global.u32 %y, [%p1+4]; ld.global.u32 %z, [%p1+8]; mov.b32 %fx, %x; mov.b32 %fy, %y; mov.b32 %fz, %z;\n"
         "mov.u32 %o0, 0; mov.u32 %o1, 0; mov.u32 %o2, 0; mov.u32 %o3, 0;\n" +
         code +
         "\nld.param.u64 %p0, [out]; mad.wide.u32 %p1, %l, 16, %p0; st.global.v4.u32 [%p1], {%o0, %o1, %o2, %o3}; ret; }\n";
}

struct point {
  float x, y = 0, z = 0;
};
using quad = std::array<u32, 4>;

struct run_result {
  std::vector<quad> values;
  std::vector<std::uint8_t> image;
};

/// Runs the code on one lane per coordinate, with the image.
template <class T>
run_result run(const std::string& code, simt::texture_descriptor d, const std::vector<T>& image,
               const std::vector<std::array<u32, 3>>& at) {
  ptx_machine machine(kernel(code));
  d.address = machine.buffer(image);
  machine.textures = {d};
  std::vector<u32> in;
  for (const auto& c : at) in.insert(in.end(), {c[0], c[1], c[2], 0});
  const u64 pin = machine.buffer(in), out = machine.buffer(std::vector<u32>(4 * at.size()));
  machine.run("k", {1, 1, 1}, {static_cast<u32>(at.size()), 1, 1}, {1, pin, out});
  return {machine.read<quad>(out, at.size()), machine.read<std::uint8_t>(d.address, image.size() * sizeof(T))};
}

template <class T>
std::vector<float> floats(const std::string& code, const simt::texture_descriptor& d, const std::vector<T>& image,
                          const std::vector<point>& points) {
  std::vector<std::array<u32, 3>> at;
  for (const point& p : points) at.push_back({bits(p.x), bits(p.y), bits(p.z)});
  std::vector<float> values;
  for (const quad& q : run(code, d, image, at).values) values.push_back(real(q[0]));
  return values;
}

simt::texture_descriptor texture(texel_type type, u32 width, u32 height = 1, u32 depth = 1) {
  simt::texture_descriptor d;
  d.type = type;
  d.width = width;
  d.height = height;
  d.depth = depth;
  return d;
}

const char* tex_1d = "tex.1d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%t, {%fx}];";
const char* tex_2d = "tex.2d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%t, {%fx, %fy}];";

TEST(texture, cube_map_fetch_takes_the_face_of_the_direction) {
  std::vector<float> image(2 * 2 * 12);
  for (std::size_t k = 0; k < image.size(); ++k) image[k] = static_cast<float>(k);
  const simt::texture_descriptor d = texture(texel_type::f32, 2, 2, 12);
  const char* cube = "tex.cube.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%t, {%fx, %fy, %fz, %fz}];";
  // The largest coordinate selects the face; on it, s and t are above the middle (texel 1) or below it.
  EXPECT_EQ(floats(cube, d, image, {{4, 1, 1}, {4, -1, -1}, {-4, 1, 1}, {1, 4, 1}, {-1, -4, 1}, {1, 1, 4}, {1, 1, -4}}),
            (std::vector<float>{0, 3, 5, 11, 12, 17, 20}));
  EXPECT_EQ(floats("mov.u32 %n, 1; tex.acube.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%t, {%n, %fx, %fy, %fz}];", d, image,
                   {{4, 1, 1}}),
            (std::vector<float>{24}));
}

// Three levels of 4, 2 and 1 texels a side, one behind the other: 0 to 63, 100 to 107, 200.
TEST(texture, levels_and_gradients_choose_among_the_images) {
  std::vector<float> image(64 + 8 + 1, 200);
  for (std::size_t k = 0; k < 64 + 8; ++k) image[k] = static_cast<float>(k < 64 ? k : 100 + k - 64);
  ptx_machine machine(kernel(
      "tex.level.3d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%t, {0f3E000000, 0f3E000000, 0f3E000000, 0f00000000}], %fx;\n"
      "tex.grad.3d.v4.f32.f32 {%o1, %o2, %o3, %n}, [%t, {0f3E000000, 0f3E000000, 0f3E000000, 0f00000000}],\n"
      "  {%fy, 0f00000000, 0f00000000, 0f00000000}, {0f00000000, 0f00000000, %fz, 0f00000000};\n"));
  simt::texture_descriptor d = texture(texel_type::f32, 4, 4, 4);
  d.normalized = d.levels_linear = true;
  d.levels = 3;
  d.most_level = 9;
  d.address = machine.buffer(image);
  d.further[0] = d.address + 64 * sizeof(float);
  d.further[1] = d.address + 72 * sizeof(float);
  machine.textures = {d};
  // Level; texels from pixel to pixel, across and in depth.
  const std::vector<point> points = {{0, 0.25f, 0.25f}, {0.5f, 0.5f, 0.25f}, {1, 0, 1},
                                     {1.25f, 9, 0},     {NAN, 0, 0},         {-2, 0, 0}};
  std::vector<u32> in;
  for (const point& p : points) in.insert(in.end(), {bits(p.x), bits(p.y), bits(p.z), 0});
  const u64 pin = machine.buffer(in), out = machine.buffer(std::vector<u32>(4 * points.size()));
  machine.run("k", {1, 1, 1}, {static_cast<u32>(points.size()), 1, 1}, {1, pin, out});
  std::vector<float> by_level, by_gradient;
  for (const quad& q : machine.read<quad>(out, points.size())) {
    by_level.push_back(real(q[0]));
    by_gradient.push_back(real(q[1]));
  }
  EXPECT_EQ(by_level, (std::vector<float>{0, 50, 100, 125, 0, 0}));
  EXPECT_EQ(by_gradient, (std::vector<float>{0, 100, 200, 200, 0, 0}));
  d.levels = 4;
  EXPECT_THROW(check_texture(d), input_error) << "there are three levels to a single texel";
}

TEST(texture, point_fetch_takes_the_texel_below) {
  const std::vector<float> image = {1, 2, 3, 4};
  EXPECT_EQ(floats(tex_1d, texture(texel_type::f32, 4), image,
                   {{0}, {0.99f}, {1}, {3.5f}, {-1}, {4}, {1e30f}, {-INFINITY}, {NAN}}),
            (std::vector<float>{1, 1, 2, 4, 1, 4, 4, 1, 1}));
}

TEST(texture, address_modes) {
  const std::vector<float> image = {1, 2, 3, 4};
  simt::texture_descriptor d = texture(texel_type::f32, 4);
  d.normalized = true;
  const std::vector<point> at = {{-0.125f}, {-0.375f}, {0}, {0.375f}, {0.999f}, {1}, {1.125f}, {1.875f}, {2.125f}};
  EXPECT_EQ(floats(tex_1d, d, image, at), (std::vector<float>{1, 1, 1, 2, 4, 4, 4, 4, 4}));
  d.mode[0] = texture_address::wrap;
  EXPECT_EQ(floats(tex_1d, d, image, at), (std::vector<float>{4, 3, 1, 2, 4, 1, 1, 4, 1}));
  d.mode[0] = texture_address::mirror;
  EXPECT_EQ(floats(tex_1d, d, image, at), (std::vector<float>{1, 2, 1, 2, 4, 4, 4, 1, 1}));
  d.mode[0] = texture_address::border;
  EXPECT_EQ(floats(tex_1d, d, image, at), (std::vector<float>{0, 0, 1, 2, 4, 0, 0, 0, 0}));
}

TEST(texture, linear_filter_has_shares_of_a_256th) {
  simt::texture_descriptor d = texture(texel_type::f32, 4);
  d.linear = true;
  const std::vector<float> image = {0, 256, 1024, 0};
  EXPECT_EQ(floats(tex_1d, d, image,
                   {{0.5f}, {1.0f}, {1.5f}, {0.5f + 3.4f / 256}, {0.5f + 3.6f / 256}, {2.25f}, {0.1f}, {9}}),
            (std::vector<float>{0, 128, 256, 3, 4, 832, 0, 0}));
  d.mode[0] = texture_address::border;
  const std::vector<float> ones = {1, 1, 1, 1};
  EXPECT_EQ(floats(tex_1d, d, ones, {{0}, {0.25f}, {4}}), (std::vector<float>{0.5f, 0.75f, 0.5f}));
  d.normalized = true;
  d.mode[0] = texture_address::wrap;
  EXPECT_EQ(floats(tex_1d, d, image, {{0}, {0.25f}, {1}}), (std::vector<float>{0, 128, 0}));
}

// Measured on an H100: 54/256 of 64/256 are 14/256 (13.5), and the corners' weights add up to 1.
TEST(texture, products_of_shares_are_rounded_to_a_256th) {
  simt::texture_descriptor d = texture(texel_type::f32, 2, 2);
  d.linear = true;
  const auto weight = [&](unsigned corner, float x, float y) {
    std::vector<float> image(4, 0.0f);
    image[corner] = 256;
    return floats(tex_2d, d, image, {{0.5f + x / 256, 0.5f + y / 256}})[0];
  };
  const float rows[][6] = {{54, 64, 152, 40, 50, 14},
                           {1, 128, 128, 0, 127, 1},
                           {1, 1, 254, 1, 1, 0},
                           {205, 1, 51, 204, 0, 1},
                           {54, 54, 159, 43, 43, 11}};
  for (const auto& r : rows)
    for (unsigned corner = 0; corner < 4; ++corner)
      EXPECT_EQ(r[2 + corner], weight(corner, r[0], r[1])) << r[0] << ' ' << r[1];
}

TEST(texture, two_and_three_dimensions_and_layers) {
  std::vector<float> image(4 * 3 * 5);
  for (std::size_t k = 0; k < image.size(); ++k) image[k] = static_cast<float>(k);
  simt::texture_descriptor d = texture(texel_type::f32, 4, 3, 5);
  EXPECT_EQ(floats(tex_2d, d, image, {{1.5f, 2.5f}, {9, 1}}), (std::vector<float>{9, 7}));
  EXPECT_EQ(floats("tex.3d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%t, {%fx, %fy, %fz, %fz}];", d, image,
                   {{1.5f, 2.5f, 3.5f}, {0, 0, 9}}),
            (std::vector<float>{45, 48}));
  EXPECT_EQ(floats("cvt.rzi.u32.f32 %n, %fz; tex.a2d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%t, {%n, %fx, %fy, %fy}];", d,
                   image, {{1.5f, 2.5f, 2}, {0, 0, 9}}),
            (std::vector<float>{33, 48}));
  d.width = 3;
  d.pitch_bytes = 16;
  EXPECT_EQ(floats(tex_2d, d, image, {{1.5f, 2.5f}, {9, 1}}), (std::vector<float>{9, 6}))
      << "rows with gaps between them";
  d.width = 4;
  d.pitch_bytes = 0;
  simt::texture_descriptor rows = texture(texel_type::f32, 4, 1, 15);
  EXPECT_EQ(floats("cvt.rzi.u32.f32 %n, %fz; tex.a1d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%t, {%n, %fx}];", rows, image,
                   {{1.5f, 0, 2}}),
            (std::vector<float>{9}));
  d.linear = true;
  EXPECT_EQ(floats(tex_2d, d, image, {{2, 1}}), (std::vector<float>{3.5f}));
  EXPECT_EQ(floats("tex.3d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%t, {%fx, %fy, %fz, %fz}];", d, image,
                   {{2, 1, 1}, {1.5f, 1.5f, 2.75f}}),
            (std::vector<float>{9.5f, 32}));
  EXPECT_EQ(floats("tex.level.2d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%t, {%fx, %fy}], %fz;", d, image, {{2, 1}}),
            (std::vector<float>{3.5f}));
}

TEST(texture, integer_coordinates_and_a_predicate) {
  const std::vector<float> image = {5, 6, 7};
  const auto r = run("setp.ne.u32 %q, %y, 0; @%q tex.1d.v4.f32.s32 {%o0, %o1, %o2, %o3}, [%t, {%x}];",
                     texture(texel_type::f32, 3), image, {{1, 1, 0}, {7, 1, 0}, {u32(-3), 1, 0}, {2, 0, 0}});
  EXPECT_EQ(r.values[0], (quad{bits(6), 0, 0, bits(1)}));
  EXPECT_EQ(r.values[1][0], bits(7));
  EXPECT_EQ(r.values[2][0], bits(5));
  EXPECT_EQ(r.values[3], (quad{0, 0, 0, 0}));
}

TEST(texture, types_and_channels) {
  const std::vector<std::uint8_t> raw = {0x10, 0x80, 0xff, 0x7f, 1, 2, 3, 4, 0, 0x3c, 0, 0xc0, 0xff, 0xff, 0x01, 0x80};
  const auto first = [&](texel_type t, unsigned channels, u32 x) {
    simt::texture_descriptor d = texture(t, 16 / simt::channel_bytes(t) / channels);
    d.channels = static_cast<std::uint8_t>(channels);
    return run("tex.1d.v4.u32.s32 {%o0, %o1, %o2, %o3}, [%t, {%x}];", d, raw, {{x, 0, 0}}).values[0];
  };
  EXPECT_EQ(first(texel_type::u8, 4, 0), (quad{0x10, 0x80, 0xff, 0x7f}));
  EXPECT_EQ(first(texel_type::s8, 4, 0), (quad{0x10, u32(-128), u32(-1), 0x7f}));
  EXPECT_EQ(first(texel_type::u16, 2, 0), (quad{0x8010, 0x7fff, 0, 1}));
  EXPECT_EQ(first(texel_type::s16, 1, 0), (quad{u32(-32752), 0, 0, 1}));
  EXPECT_EQ(first(texel_type::u32, 4, 0)[1], 0x04030201u);
  EXPECT_EQ(first(texel_type::f16, 4, 1), (quad{bits(1), bits(-2), 0x7fffffff, bits(-1.0f / (1 << 24))}));
  EXPECT_EQ(first(texel_type::unorm8, 4, 0),
            (quad{bits(16 / 255.0f), bits(128 / 255.0f), bits(1), bits(127 / 255.0f)}));
  EXPECT_EQ(first(texel_type::snorm8, 4, 0), (quad{bits(16 / 127.0f), bits(-1), bits(-1 / 127.0f), bits(1)}));
  EXPECT_EQ(first(texel_type::unorm16, 1, 6)[0], bits(1));
  EXPECT_EQ(first(texel_type::snorm16, 1, 7), (quad{bits(-1), 0, 0, bits(1)}));
}

TEST(texture, gathers_one_channel_of_four_texels) {
  std::vector<float> image;
  for (int k = 0; k < 24; ++k) image.push_back(static_cast<float>(k));
  simt::texture_descriptor d = texture(texel_type::f32, 4, 3);
  d.channels = 2;
  const auto r = run("tld4.g.2d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%t, {%fx, %fy}];", d, image, {{bits(2), bits(1), 0}});
  EXPECT_EQ(r.values[0], (quad{bits(11), bits(13), bits(5), bits(3)}));
}

TEST(surface, reads_and_writes_bytes) {
  std::vector<std::uint8_t> image(8 * 4);
  for (std::size_t k = 0; k < image.size(); ++k) image[k] = static_cast<std::uint8_t>(k);
  simt::texture_descriptor d = texture(texel_type::u8, 8, 4);
  EXPECT_EQ(run("suld.b.2d.b32.trap {%o0}, [%t, {%x, %y}];", d, image, {{4, 2, 0}}).values[0][0], 0x17161514u);
  EXPECT_EQ(
      run("suld.b.2d.v4.b8.trap {%h0, %h1, %h2, %h3}, [%t, {%x, %y}]; cvt.u32.u16 %o0, %h0; cvt.u32.u16 %o3, %h3;", d,
          image, {{4, 1, 0}})
          .values[0],
      (quad{12, 0, 0, 15}));
  const auto zero = run("mov.u32 %o0, 7; suld.b.2d.b8.zero {%h0}, [%t, {%x, %y}]; cvt.u32.u16 %o0, %h0;", d, image,
                        {{8, 0, 0}, {0, 4, 0}, {u32(-1), 0, 0}, {7, 3, 0}});
  EXPECT_EQ(zero.values[0][0], 0u);
  EXPECT_EQ(zero.values[1][0], 0u);
  EXPECT_EQ(zero.values[2][0], 0u);
  EXPECT_EQ(zero.values[3][0], 31u);
  const auto clamped =
      run("suld.b.2d.b16.clamp {%h0}, [%t, {%x, %y}]; cvt.u32.u16 %o0, %h0;", d, image, {{100, 1, 0}, {u32(-9), 9, 0}});
  EXPECT_EQ(clamped.values[0][0], 0x0f0eu);
  EXPECT_EQ(clamped.values[1][0], 0x1918u);
  const auto written = run("cvt.u16.u32 %h0, %z; sust.b.2d.b8.zero [%t, {%x, %y}], {%h0}; mov.b32 %o0, 0;", d, image,
                           {{3, 1, 99}, {5, 7, 98}});
  std::vector<std::uint8_t> expected = image;
  expected[11] = 99;
  EXPECT_EQ(written.image, expected);
  const auto vector = run(
      "mov.u16 %h0, 1; mov.u16 %h1, 2; mov.u16 %h2, 3; mov.u16 %h3, 4; sust.b.2d.v4.b8.trap [%t, {%x, %y}], {%h0, %h1, %h2, %h3};",
      d, image, {{4, 3, 0}});
  expected = image;
  for (unsigned k = 0; k < 4; ++k) expected[28 + k] = static_cast<std::uint8_t>(k + 1);
  EXPECT_EQ(vector.image, expected);
}

// With three layers, larger layer numbers are clamped to the last one or yield zero. Layers are unsigned.
TEST(surface, layers_are_clamped_or_zero) {
  std::vector<std::uint8_t> image(4 * 2 * 3);
  for (std::size_t k = 0; k < image.size(); ++k) image[k] = static_cast<std::uint8_t>(k);
  const simt::texture_descriptor d = texture(texel_type::u8, 4, 2, 3);
  const std::vector<std::array<u32, 3>> at = {{0, 1, 0}, {1, 1, 2}, {2, 0, 3}, {3, 0, 4}, {0, 9, 200}};
  const auto layers = [&](const char* mode) {
    std::vector<u32> read;
    for (const quad& q :
         run("suld.b.a2d.b8." + std::string(mode) + " {%h0}, [%t, {%z, %x, %y, %y}]; cvt.u32.u16 %o0, %h0;", d, image,
             at)
             .values)
      read.push_back(q[0]);
    return read;
  };
  EXPECT_EQ(layers("clamp"), (std::vector<u32>{4, 21, 18, 19, 20}));
  EXPECT_EQ(layers("zero"), (std::vector<u32>{4, 21, 0, 0, 0}));
}

std::string failure(const std::string& code, const std::array<u32, 3>& at, u64 handle = 1) {
  try {
    ptx_machine machine(kernel(code));
    simt::texture_descriptor d = texture(texel_type::u8, 8, 4);
    d.address = machine.buffer(std::vector<u32>(16));
    machine.textures = {d};
    const u64 in = machine.buffer(std::vector<u32>(at.begin(), at.end())), out = machine.buffer(std::vector<u32>(4));
    machine.run("k", {1, 1, 1}, {1, 1, 1}, {handle, in, out});
  } catch (const std::exception& e) {
    return e.what();
  }
  return "ran";
}

TEST(surface, traps_outside_and_on_wrong_handles) {
  const std::string load = "suld.b.2d.b32.trap {%o0}, [%t, {%x, %y}];";
  EXPECT_EQ(failure(load, {4, 3, 0}), "ran");
  EXPECT_EQ(failure(load, {8, 0, 0}), "surface coordinate outside the surface");
  EXPECT_EQ(failure(load, {0, 4, 0}), "surface coordinate outside the surface");
  EXPECT_EQ(failure(load, {2, 0, 0}), "misaligned surface coordinate: x counts bytes, in whole elements");
  EXPECT_EQ(failure(load, {0, 0, 0}, 2), "0x2 is not the handle of a texture or surface");
  EXPECT_EQ(failure(tex_1d, {0, 0, 0}, 0), "0x0 is not the handle of a texture or surface");
}

TEST(texture, is_asked_for_its_size) {
  simt::texture_descriptor d = texture(texel_type::u16, 9, 7, 5);
  EXPECT_EQ(run("txq.width.b32 %o0, [%t]; txq.height.b32 %o1, [%t]; suq.depth.b32 %o2, [%t];", d,
                std::vector<std::uint16_t>(9 * 7 * 5), {{0, 0, 0}})
                .values[0],
            (quad{9, 7, 5, 0}));
}

TEST(texture, what_is_not_there_is_refused) {
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  EXPECT_TRUE(has(failure("tex.2d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%t, %t, {%fx, %fy}];", {}),
                  "samplers of their own are not supported"));
  EXPECT_TRUE(has(failure("tex.2d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%t, {%fx}];", {}), "needs 2 coordinates"));
  EXPECT_TRUE(has(failure("sust.p.2d.b32.trap [%t, {%x, %y}], {%o0};", {}), "unsupported modifier '.p'"));
  simt::texture_descriptor d = texture(texel_type::u8, 8);
  d.linear = true;
  EXPECT_THROW(simt::check_texture(d), input_error);
  d.linear = false;
  d.channels = 3;
  EXPECT_THROW(simt::check_texture(d), input_error);
  d.channels = 1;
  d.width = 0;
  EXPECT_THROW(simt::check_texture(d), input_error);
}

}  // namespace texture_test
}  // namespace heddle
