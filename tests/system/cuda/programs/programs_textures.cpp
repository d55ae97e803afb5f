// SPDX-License-Identifier: MIT
// Of what CUDA makes texture objects. As an H100 with CUDA 13 answers.
#include <cstdint>
#include <cstring>
#include <utility>

#include "programs.h"

namespace cuda_programs {

namespace {

constexpr void* null = nullptr;
constexpr int wrong = cudaErrorInvalidValue, wrong_handle = cudaErrorInvalidResourceHandle, wrong_channels = 20,
              wrong_filter = 26, wrong_norm = 27, wrong_device = 101;
struct channels {
  int x, y, z, w, kind;
};
constexpr channels word{32, 0, 0, 0, 0}, real{32, 0, 0, 0, 2}, byte{8, 0, 0, 0, 1};

struct resource {
  int kind = 0;
  union {
    void* array;
    struct {
      void* pointer;
      channels format;
      std::size_t bytes;
    } linear;
    struct {
      void* pointer;
      channels format;
      std::size_t width, height, pitch;
    } pitched;
    char all[64];
  } of{};
};
struct settings {
  int address[3] = {}, filter = 0, read = 0, srgb = 0;
  float border[4] = {};
  int normalized = 0;
  unsigned anisotropy = 0;
  int mipmap_filter = 0;
  float bias = 0, least = 0, most = 0;
  int no_trilinear = 0, seamless = 0;
};
struct view {
  int format;
  std::size_t width, height, depth;
  unsigned levels[2], layers[2], reserved[16];
};

void* array_of(const channels& c, std::size_t width, std::size_t height) {
  void* a = nullptr;
  RIGHT(call("cudaMallocArray", &a, &c, width, height, 0u));
  return a;
}
resource of_array(void* a) {
  resource r;
  r.of.array = a;
  return r;
}
resource of_linear(void* p, std::size_t bytes, channels c = real) {
  resource r;
  r.kind = 2;
  r.of.linear = {p, c, bytes};
  return r;
}
resource of_pitched(void* p, std::size_t width, std::size_t pitch) {
  resource r;
  r.kind = 3;
  r.of.pitched = {p, real, width, 16, pitch};
  return r;
}

int made(const resource& r, const settings& s, const view* v = nullptr) {
  std::uint64_t texture = 0;
  const int e = call("cudaCreateTextureObject", &texture, &r, &s, v);
  if (e == 0) RIGHT(call("cudaDestroyTextureObject", texture));
  HOLDS((e == 0) == (texture != 0));
  return e;
}
int read_as(const resource& r, int filter, int mode) {
  settings s;
  s.filter = filter;
  s.read = mode;
  return made(r, s);
}

void ways_to_read() {
  constexpr int point = 0, linear = 1, element = 0, normalized = 1;
  const resource reals = of_array(array_of(real, 16, 16)), words = of_array(array_of(word, 16, 16)),
                 bytes = of_array(array_of(byte, 16, 16));
  for (const int filter : {point, linear}) RIGHT(read_as(reals, filter, element));
  for (const int filter : {point, linear}) RIGHT(read_as(bytes, filter, normalized));
  RIGHT(read_as(reals, point, 2));
  GIVES(wrong_norm, read_as(reals, linear, normalized));
  GIVES(wrong_norm, read_as(words, point, normalized));
  GIVES(wrong_filter, read_as(words, linear, element));
  GIVES(wrong_filter, read_as(words, linear, normalized));
  GIVES(wrong_filter, read_as(bytes, linear, element));
  GIVES(wrong_norm, read_as(words, 2, normalized));
  for (const int filter : {2, 3}) GIVES(wrong, read_as(words, filter, element));
  settings s;
  s.address[0] = 4;
  GIVES(wrong, made(reals, s));
  s = {};
  s.seamless = 1;
  GIVES(wrong, made(reals, s));
  s = {};
  s.srgb = 1;  // for bytes that become numbers only
  RIGHT(made(reals, s));
  std::uint64_t texture = 0;
  GIVES(wrong_handle, call("cudaCreateTextureObject", &texture, &reals, null, null));
  resource mipmap;
  mipmap.kind = 1;
  GIVES(wrong_handle, made(mipmap, {}));
  // Kinds of channels that are always read as numbers.
  for (const channels& c : {channels{8, 0, 0, 0, 5}, {8, 8, 0, 0, 6}, {8, 8, 8, 8, 7}})
    RIGHT(made(of_array(array_of(c, 8, 8)), {}));
  void* none = nullptr;
  const channels odd{8, 8, 0, 0, 5};
  GIVES(wrong_channels, call("cudaMallocArray", &none, &odd, std::size_t{8}, std::size_t{8}, 0u));
}

void places() {
  auto* d = device<char>(16384);
  std::size_t most = 0;
  RIGHT(made(of_linear(d, 4096), {}));
  RIGHT(made(of_linear(d + 512, 4096), {}));
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{3}, std::size_t{1} << 29})
    RIGHT(made(of_linear(d, bytes), {}));
  for (const int offset : {4, 32, 256}) GIVES(wrong, made(of_linear(d + offset, 256), {}));
  GIVES(wrong, made(of_linear(&most, 8), {}));
  GIVES(wrong, made(of_linear(nullptr, 8), {}));
  RIGHT(made(of_pitched(d, 16, 96), {}));
  RIGHT(made(of_pitched(d, 0, 64), {}));
  GIVES(wrong, made(of_pitched(d, 16, 70), {}));
  GIVES(wrong, made(of_pitched(d, 1 << 20, 64), {}));
  GIVES(wrong, made(of_pitched(d + 4, 16, 64), {}));
  RIGHT(call("cudaDeviceGetTexture1DLinearMaxWidth", &most, &real, 0));
  HOLDS(most == std::size_t{1} << 30);
  GIVES(wrong_device, call("cudaDeviceGetTexture1DLinearMaxWidth", &most, &real, 2));
}

void views() {
  const resource r = of_array(array_of(real, 16, 16));
  const auto seen = [&r](int format, std::size_t width) {
    const view v{format, width, 16, 0, {}, {}, {}};
    return made(r, {}, &v);
  };
  constexpr int one_word = 13, one_real = 22, two_reals = 23;
  RIGHT(seen(one_real, 16));
  RIGHT(seen(one_word, 16));
  GIVES(wrong, seen(two_reals, 16));
  GIVES(wrong, seen(one_real, 8));
  view shown{};
  std::uint64_t texture = 0;
  const settings s;
  RIGHT(call("cudaCreateTextureObject", &texture, &r, &s, null));
  RIGHT(call("cudaGetTextureObjectResourceViewDesc", &shown, texture));
  HOLDS(shown.format == 0);
  RIGHT(call("cudaDestroyTextureObject", texture));
  for (const char* name : {"cudaDestroyTextureObject", "cudaDestroySurfaceObject"}) RIGHT(call(name, 12345ull));
}

// The driver's descriptions of a texture make another one like it.
void descriptions_of_the_driver() {
  constexpr unsigned normalized_coordinates = 2;
  struct {
    int kind, more[33];
  } described{};
  struct {
    int address[3], filter;
    unsigned flags;
    int more[20];
  } seen{};
  auto* d = device<char>(16384);
  const resource all[] = {of_array(array_of(real, 16, 16)), of_linear(d, 4096), of_pitched(d, 16, 96),
                          of_array(array_of(byte, 16, 16))};
  for (const resource& r : all) {
    std::uint64_t first = 0, second = 0;
    settings s;
    s.address[0] = s.address[1] = r.kind == 2 ? 0 : 1;
    s.normalized = r.kind == 2 ? 0 : 1;
    RIGHT(call("cudaCreateTextureObject", &first, &r, &s, null));
    RIGHT(call("cuTexObjectGetResourceDesc", &described, first));
    HOLDS(described.kind == r.kind);
    RIGHT(call("cuTexObjectGetTextureDesc", &seen, first));
    HOLDS(seen.address[1] == s.address[1] && ((seen.flags & normalized_coordinates) != 0) == (s.normalized != 0));
    RIGHT(call("cuTexObjectCreate", &second, &described, &seen, null));
    resource same;
    settings as_before;
    RIGHT(call("cudaGetTextureObjectResourceDesc", &same, second));
    RIGHT(call("cudaGetTextureObjectTextureDesc", &as_before, second));
    HOLDS(same.kind == r.kind && same.of.array == r.of.array);
    HOLDS(as_before.read == s.read && as_before.normalized == s.normalized && as_before.address[0] == s.address[0]);
    for (const std::uint64_t texture : {first, second}) RIGHT(call("cuTexObjectDestroy", texture));
  }
  GIVES(wrong, call("cuTexObjectGetResourceDesc", &described, 12345ull));
  GIVES(wrong, call("cuTexObjectGetTextureDesc", &seen, 12345ull));
}

}  // namespace

void texture_rules() {
  descriptions_of_the_driver();
  ways_to_read();
  places();
  views();
}

}  // namespace cuda_programs
