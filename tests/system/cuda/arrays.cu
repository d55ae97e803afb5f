// SPDX-License-Identifier: MIT
// A CUDA program about arrays, textures and surfaces. Each part checks its own results: exit code 0 if all are right.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "check.cuh"

template <class T>
__global__ void sample(cudaTextureObject_t t, float x0, float dx, float y, float* out) {
  out[threadIdx.x] = static_cast<float>(tex2D<T>(t, x0 + dx * threadIdx.x, y));
}
__global__ void sample_1d(cudaTextureObject_t t, int first, float* out) { out[threadIdx.x] = tex1Dfetch<float>(t, first + threadIdx.x); }
__global__ void sample_3d(cudaTextureObject_t t, float* out) { out[threadIdx.x] = tex3D<float>(t, threadIdx.x + 0.5f, 1.5f, 2.5f); }
__global__ void sample_layer(cudaTextureObject_t t, int layer, float* out) { out[threadIdx.x] = tex2DLayered<float4>(t, threadIdx.x + 0.5f, 1.5f, layer).z; }
__global__ void sample_level(cudaTextureObject_t t, float x, float y, const float* level, float* out) {
  out[threadIdx.x] = tex2DLod<float>(t, x, y, level[threadIdx.x]);
}
__global__ void sample_gradient(cudaTextureObject_t t, float x, float y, float across, float down, float* out) {
  *out = tex2DGrad<float>(t, x, y, make_float2(across, 0), make_float2(0, down));
}
__global__ void sample_shapes(cudaTextureObject_t line, cudaTextureObject_t body, cudaTextureObject_t layers, cudaTextureObject_t cube, float* out) {
  out[0] = tex1DLod<float>(line, 0.8125f, 0.25f);
  out[1] = tex3DLod<float>(body, 0.9f, 0.9f, 0.9f, 0.25f);
  out[2] = tex2DLayeredLod<float>(layers, 0.9f, 0.9f, 1, 0.25f);
  out[3] = texCubemapLod<float>(cube, 0.2f, 1, 0.2f, 0.25f);
}
__global__ void write_surface(cudaSurfaceObject_t s, int width) {
  const int x = threadIdx.x, y = blockIdx.x;
  if (x < width) surf2Dwrite(100 * y + x, s, x * 4, y);
}

static void arrays() {
  const int w = 7, h = 5, d = 3;
  const auto format = cudaCreateChannelDesc<float>();
  cudaArray_t a, b, c;
  CHECK(cudaMallocArray(&a, &format, w, h));
  CHECK(cudaMallocArray(&b, &format, w, h));
  CHECK(cudaMalloc3DArray(&c, &format, make_cudaExtent(w, h, d), 0));
  cudaChannelFormatDesc told;
  cudaExtent extent;
  unsigned flags = 9;
  CHECK(cudaArrayGetInfo(&told, &extent, &flags, c));
  EXPECT(told.x == 32 && told.y == 0 && told.f == cudaChannelFormatKindFloat && extent.width == w && extent.height == h && extent.depth == d && flags == 0);

  const auto in = numbers(w * h * d);
  std::vector<float> out(w * h * d, -1);
  CHECK(cudaMemcpy2DToArray(a, 0, 0, in.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, w * 4, h, cudaMemcpyDeviceToDevice));
  CHECK(cudaMemcpy2DFromArray(out.data(), 3 * 4, b, 2 * 4, 1, 3 * 4, 2, cudaMemcpyDeviceToHost));
  const float expected[6] = {9, 10, 11, 16, 17, 18};
  EXPECT(std::memcmp(out.data(), expected, sizeof expected) == 0);

  cudaMemcpy3DParms p = {};
  p.srcPtr = make_cudaPitchedPtr(const_cast<float*>(in.data()), w * 4, w, h);
  p.dstArray = c;
  p.extent = make_cudaExtent(w, h, d);
  p.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&p));
  p = {};
  p.srcArray = c;
  p.srcPos = make_cudaPos(1, 1, 1);
  p.dstPtr = make_cudaPitchedPtr(out.data(), 2 * 4, 2, 2);
  p.extent = make_cudaExtent(2, 2, 2);
  p.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&p));
  const float box[8] = {43, 44, 50, 51, 78, 79, 85, 86};
  EXPECT(std::memcmp(out.data(), box, sizeof box) == 0);

  EXPECT(cudaMemcpy2DToArray(a, 4, 0, in.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  p.srcPos = make_cudaPos(6, 0, 0);
  EXPECT(cudaMemcpy3D(&p) == cudaErrorInvalidValue);
  const auto three = cudaCreateChannelDesc(8, 8, 8, 0, cudaChannelFormatKindUnsigned);
  cudaArray_t none;
  EXPECT(cudaMallocArray(&none, &three, w, h) == cudaErrorInvalidChannelDescriptor);
  CHECK(cudaFreeArray(a));
  CHECK(cudaFreeArray(b));
  CHECK(cudaFreeArray(c));
  EXPECT(cudaArrayGetInfo(&told, &extent, &flags, c) != cudaSuccess);
  EXPECT(cudaGetLastError() == cudaErrorInvalidResourceHandle);
}

static cudaTextureObject_t texture(const cudaResourceDesc& r, const std::function<void(cudaTextureDesc&)>& set, cudaError_t expected = cudaSuccess) {
  cudaTextureDesc s = {};
  for (auto& m : s.addressMode) m = cudaAddressModeClamp;
  set(s);
  cudaTextureObject_t t = 0;
  EXPECT(cudaCreateTextureObject(&t, &r, &s, nullptr) == expected);
  return t;
}
static cudaResourceDesc of_array(cudaArray_t a) {
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = a;
  return r;
}

static void textures() {
  float* out = device_floats(32);
  const auto format = cudaCreateChannelDesc<float>();
  cudaArray_t a;
  CHECK(cudaMallocArray(&a, &format, 4, 4));
  const auto in = numbers(64);
  CHECK(cudaMemcpy2DToArray(a, 0, 0, in.data(), 16, 16, 4, cudaMemcpyHostToDevice));
  const auto point = texture(of_array(a), [](cudaTextureDesc&) {});
  sample<float><<<1, 6>>>(point, -0.5f, 1, 1.5f, out);
  EXPECT((read(out, 6) == std::vector<float>{4, 4, 5, 6, 7, 7}));
  const auto linear = texture(of_array(a), [](cudaTextureDesc& s) {
    s.filterMode = cudaFilterModeLinear;
    s.normalizedCoords = 1;
    s.addressMode[0] = s.addressMode[1] = cudaAddressModeWrap;
  });
  sample<float><<<1, 3>>>(linear, 0.25f, 0.25f, 0.125f, out);
  EXPECT((read(out, 3) == std::vector<float>{0.5f, 1.5f, 2.5f}));
  const auto border = texture(of_array(a), [](cudaTextureDesc& s) { s.addressMode[0] = cudaAddressModeBorder; });
  sample<float><<<1, 6>>>(border, -0.5f, 1, 1.5f, out);
  EXPECT((read(out, 6) == std::vector<float>{0, 4, 5, 6, 7, 0}));
  cudaResourceDesc told;
  cudaTextureDesc settings;
  CHECK(cudaGetTextureObjectResourceDesc(&told, linear));
  CHECK(cudaGetTextureObjectTextureDesc(&settings, linear));
  EXPECT(told.resType == cudaResourceTypeArray && told.res.array.array == a && settings.filterMode == cudaFilterModeLinear && settings.normalizedCoords == 1);

  // Pitched rows, bytes converted to floats.
  unsigned char* rows;
  std::size_t pitch;
  CHECK(cudaMallocPitch(&rows, &pitch, 5, 3));
  const unsigned char bytes[15] = {0, 51, 102, 153, 204, 255, 0, 51, 102, 153, 204, 255, 0, 51, 102};
  CHECK(cudaMemcpy2D(rows, pitch, bytes, 5, 5, 3, cudaMemcpyHostToDevice));
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypePitch2D;
  r.res.pitch2D.devPtr = rows;
  r.res.pitch2D.desc = cudaCreateChannelDesc<unsigned char>();
  r.res.pitch2D.width = 5;
  r.res.pitch2D.height = 3;
  r.res.pitch2D.pitchInBytes = pitch;
  const auto normalized = texture(r, [](cudaTextureDesc& s) { s.readMode = cudaReadModeNormalizedFloat; });
  sample<float><<<1, 5>>>(normalized, 0.5f, 1, 2.5f, out);
  EXPECT((read(out, 5) == std::vector<float>{0.8f, 1, 0, 0.2f, 0.4f}));
  const auto whole = texture(r, [](cudaTextureDesc&) {});
  sample<unsigned char><<<1, 5>>>(whole, 0.5f, 1, 1.5f, out);
  EXPECT((read(out, 5) == std::vector<float>{255, 0, 51, 102, 153}));
  texture(r, [](cudaTextureDesc& s) { s.filterMode = cudaFilterModeLinear; }, cudaErrorInvalidFilterSetting);

  float* line = device_floats(8);
  CHECK(cudaMemcpy(line, in.data(), 32, cudaMemcpyHostToDevice));
  r = {};
  r.resType = cudaResourceTypeLinear;
  r.res.linear.devPtr = line;
  r.res.linear.desc = format;
  r.res.linear.sizeInBytes = 32;
  const auto fetched = texture(r, [](cudaTextureDesc&) {});
  sample_1d<<<1, 4>>>(fetched, 6, out);
  EXPECT((read(out, 4) == std::vector<float>{6, 7, 0, 0}));

  cudaArray_t cube, layers;
  CHECK(cudaMalloc3DArray(&cube, &format, make_cudaExtent(4, 4, 4), 0));
  cudaMemcpy3DParms p = {};
  p.srcPtr = make_cudaPitchedPtr(const_cast<float*>(in.data()), 16, 4, 4);
  p.dstArray = cube;
  p.extent = make_cudaExtent(4, 4, 4);
  p.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&p));
  sample_3d<<<1, 4>>>(texture(of_array(cube), [](cudaTextureDesc&) {}), out);
  EXPECT((read(out, 4) == std::vector<float>{36, 37, 38, 39}));
  const auto quads = cudaCreateChannelDesc<float4>();
  CHECK(cudaMalloc3DArray(&layers, &quads, make_cudaExtent(2, 2, 4), cudaArrayLayered));
  p.srcPtr = make_cudaPitchedPtr(const_cast<float*>(in.data()), 32, 2, 2);
  p.dstArray = layers;
  p.extent = make_cudaExtent(2, 2, 4);
  CHECK(cudaMemcpy3D(&p));
  sample_layer<<<1, 2>>>(texture(of_array(layers), [](cudaTextureDesc&) {}), 2, out);
  EXPECT((read(out, 2) == std::vector<float>{42, 46}));
  CHECK(cudaDestroyTextureObject(point));
  CHECK(cudaDestroyTextureObject(point));  // CUDA takes any handle
  cudaGetLastError();
}

/// Images of a mipmapped array of floats, level by level; texel k of level n is 64 n + k.
static cudaMipmappedArray_t mipmap(cudaExtent e, unsigned levels, unsigned flags, std::vector<std::vector<float>>& images) {
  const auto format = cudaCreateChannelDesc<float>();
  cudaMipmappedArray_t m;
  CHECK(cudaMallocMipmappedArray(&m, &format, e, levels, flags));
  images.clear();
  for (unsigned n = 0; n < levels; ++n) {
    cudaArray_t level;
    cudaExtent at;
    CHECK(cudaGetMipmappedArrayLevel(&level, m, n));
    CHECK(cudaArrayGetInfo(nullptr, &at, nullptr, level));
    at.height = at.height == 0 ? 1 : at.height;
    at.depth = at.depth == 0 ? 1 : at.depth;
    std::vector<float> image = numbers(static_cast<int>(at.width * at.height * at.depth));
    for (float& texel : image) texel += 64.0f * n;
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(image.data(), 4 * at.width, at.width, at.height);
    p.dstArray = level;
    p.extent = at;
    p.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&p));
    images.push_back(std::move(image));
  }
  return m;
}
static cudaResourceDesc of_mipmap(cudaMipmappedArray_t m) {
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeMipmappedArray;
  r.res.mipmap.mipmap = m;
  return r;
}

/// A square image at normalised coordinates, with clamped ones outside.
static float sampled(const std::vector<float>& image, float u, float v, bool linear) {
  const int side = static_cast<int>(std::lround(std::sqrt(image.size())));
  const auto texel = [&](float x, float y) {
    const auto inside = [side](float c) { return std::min(std::max(static_cast<int>(std::floor(c)), 0), side - 1); };
    return image[inside(y) * side + inside(x)];
  };
  if (!linear) return texel(u * side, v * side);
  const float x = u * side - 0.5f, y = v * side - 0.5f, fx = x - std::floor(x), fy = y - std::floor(y);
  return (1 - fy) * ((1 - fx) * texel(x, y) + fx * texel(x + 1, y)) + fy * ((1 - fx) * texel(x, y + 1) + fx * texel(x + 1, y + 1));
}
static float sampled(const std::vector<std::vector<float>>& images, float u, float v, float level, const cudaTextureDesc& s) {
  const float most = static_cast<float>(images.size() - 1);
  level = std::min(std::max(level + s.mipmapLevelBias, s.minMipmapLevelClamp), s.maxMipmapLevelClamp);
  level = std::min(std::max(level, 0.0f), most);
  const bool linear = s.filterMode == cudaFilterModeLinear;
  if (s.mipmapFilterMode == cudaFilterModePoint) return sampled(images[static_cast<int>(level + 0.5f)], u, v, linear);
  const int low = static_cast<int>(level);
  const float share = level - low, first = sampled(images[low], u, v, linear);
  return share == 0 ? first : (1 - share) * first + share * sampled(images[low + 1], u, v, linear);
}

static void mipmaps() {
  constexpr int points = 128;
  std::vector<std::vector<float>> images;
  const cudaMipmappedArray_t m = mipmap(make_cudaExtent(8, 8, 0), 4, 0, images);
  float *out = device_floats(points), *levels = device_floats(points);
  std::vector<float> wanted(points);
  for (int k = 0; k < points; ++k) wanted[k] = -1.0f + k / 16.0f;
  CHECK(cudaMemcpy(levels, wanted.data(), 4 * points, cudaMemcpyHostToDevice));
  for (int how = 0; how < 16; ++how) {
    cudaTextureDesc s = {};
    const auto t = texture(of_mipmap(m), [&](cudaTextureDesc& x) {
      x.normalizedCoords = 1;
      x.filterMode = (how & 1) != 0 ? cudaFilterModeLinear : cudaFilterModePoint;
      x.mipmapFilterMode = (how & 2) != 0 ? cudaFilterModeLinear : cudaFilterModePoint;
      x.mipmapLevelBias = (how & 4) != 0 ? 0.4375f : 0;
      x.minMipmapLevelClamp = (how & 8) != 0 ? 0.75f : 0;
      x.maxMipmapLevelClamp = (how & 8) != 0 ? 2.25f : 100;
      s = x;
    });
    for (const float at : {0.0625f, 0.4375f, 0.9375f}) {
      sample_level<<<1, points>>>(t, at, 0.3125f, levels, out);
      const auto got = read(out, points);
      for (int k = 0; k < points; ++k) EXPECT(got[k] == sampled(images, at, 0.3125f, wanted[k], s));
    }
    // From pixel to pixel 2^n texels, across or down; without a level it is the first one.
    for (int n = 0; n < 3; ++n)
      for (int down = 0; down < 2; ++down) {
        sample_gradient<<<1, 1>>>(t, 0.4375f, 0.3125f, (down ? 1 : 1 << n) / 8.0f, (down ? 1 << n : 1) / 8.0f, out);
        EXPECT(read(out, 1)[0] == sampled(images, 0.4375f, 0.3125f, static_cast<float>(n), s));
      }
    sample<float><<<1, 1>>>(t, 0.4375f, 1, 0.3125f, out);
    EXPECT(read(out, 1)[0] == sampled(images, 0.4375f, 0.3125f, 0, s));
  }

  // A view of the levels 1 and 2.
  cudaTextureDesc s = {};
  s.normalizedCoords = 1;
  s.maxMipmapLevelClamp = 9;
  cudaResourceViewDesc view = {};
  view.format = cudaResViewFormatFloat1;
  view.width = view.height = 8;
  view.firstMipmapLevel = 1;
  view.lastMipmapLevel = 2;
  const cudaResourceDesc whole = of_mipmap(m);
  cudaTextureObject_t t = 0;
  CHECK(cudaCreateTextureObject(&t, &whole, &s, &view));
  sample_level<<<1, points>>>(t, 0, 0, levels, out);
  const auto seen = read(out, points);
  EXPECT(seen[16] == 64 && seen[32] == 128 && seen[points - 1] == 128);

  // Other shapes: between the levels 0 and 1.
  const auto between = [](cudaTextureDesc& x) {
    x.normalizedCoords = 1;
    x.mipmapFilterMode = cudaFilterModeLinear;
    x.maxMipmapLevelClamp = 9;
  };
  const auto line = texture(of_mipmap(mipmap(make_cudaExtent(8, 0, 0), 2, 0, images)), between);
  const auto body = texture(of_mipmap(mipmap(make_cudaExtent(4, 4, 4), 3, 0, images)), between);
  const auto layers = texture(of_mipmap(mipmap(make_cudaExtent(4, 4, 3), 3, cudaArrayLayered, images)), between);
  const auto cube = texture(of_mipmap(mipmap(make_cudaExtent(4, 4, 6), 3, cudaArrayCubemap, images)), between);
  sample_shapes<<<1, 1>>>(line, body, layers, cube, out);
  // Texels 6 and 3; 63 and 7; layer 1 at its end; face 2 in its middle.
  EXPECT((read(out, 4) == std::vector<float>{0.75f * 6 + 0.25f * (64 + 3), 0.75f * 63 + 0.25f * (64 + 7), 0.75f * 31 + 0.25f * (64 + 7),
                                             0.75f * (2 * 16 + 10) + 0.25f * (64 + 2 * 4 + 3)}));
  CHECK(cudaFreeMipmappedArray(m));
}

static void surfaces() {
  const int w = 6, h = 3;
  const auto format = cudaCreateChannelDesc<int>();
  cudaArray_t a;
  CHECK(cudaMallocArray(&a, &format, w, h, cudaArraySurfaceLoadStore));
  const cudaResourceDesc r = of_array(a);
  cudaSurfaceObject_t s;
  CHECK(cudaCreateSurfaceObject(&s, &r));
  write_surface<<<h, 32>>>(s, w);
  int out[w * h];
  CHECK(cudaMemcpy2DFromArray(out, w * 4, a, 0, 0, w * 4, h, cudaMemcpyDeviceToHost));
  for (int k = 0; k < w * h; ++k) EXPECT(out[k] == 100 * (k / w) + k % w);
  CHECK(cudaDestroySurfaceObject(s));
}

int main(int, char** arguments) { return run_part({{"arrays", arrays}, {"textures", textures}, {"mipmaps", mipmaps}, {"surfaces", surfaces}}, arguments[1]); }
