// SPDX-License-Identifier: MIT
// A CUDA 11 program with texture and surface references, as compiled by that release's nvcc: a fat binary of PTX, with
// registration calls.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};
struct channel {
  int x, y, z, w, kind;
};
struct texture_reference {
  int normalized, filter, mode[3];
  channel format;
  int rest[21];
};
struct surface_reference {
  channel format;
};
extern "C" {
void** __cudaRegisterFatBinary(void*);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*, void*, void*);
void __cudaRegisterTexture(void**, const texture_reference*, const void**, const char*, int, int, int);
void __cudaRegisterSurface(void**, const surface_reference*, const void**, const char*, int, int);
int cudaLaunchKernel(const void*, dim3, dim3, void**, std::size_t, void*);
int cudaMalloc(void**, std::size_t);
int cudaMallocPitch(void**, std::size_t*, std::size_t, std::size_t);
int cudaMallocArray(void**, const channel*, std::size_t, std::size_t, unsigned);
int cudaMemcpy(void*, const void*, std::size_t, int);
int cudaMemcpy2D(void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t, int);
int cudaMemcpyToArray(void*, std::size_t, std::size_t, const void*, std::size_t, int);
int cudaMemcpyFromArray(void*, void*, std::size_t, std::size_t, std::size_t, int);
int cudaBindTexture(std::size_t*, const texture_reference*, const void*, const channel*, std::size_t);
int cudaBindTexture2D(std::size_t*, const texture_reference*, const void*, const channel*, std::size_t, std::size_t,
                      std::size_t);
int cudaBindTextureToArray(const texture_reference*, void*, const channel*);
int cudaBindSurfaceToArray(const surface_reference*, void*, const channel*);
int cudaUnbindTexture(const texture_reference*);
int cudaGetTextureReference(const texture_reference**, const void*);
int cudaGetTextureAlignmentOffset(std::size_t*, const texture_reference*);
}

namespace {

constexpr int to_device = 1, to_host = 2;
constexpr channel floats{32, 0, 0, 0, 2}, bytes{8, 0, 0, 0, 1};

const char* const text = R"(.version 7.5
.target sm_52
.address_size 64
.global .texref line;
.global .texref plane;
.global .surfref target;
.visible .entry read_line(.param .u64 out)
{
  .reg .u64 %d<3>; .reg .u32 %r<2>; .reg .f32 %f<4>;
  ld.param.u64 %d0, [out];
  mov.u32 %r0, %tid.x;
  tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [line, {%r0}];
  mul.wide.u32 %d1, %r0, 4;
  add.u64 %d2, %d0, %d1;
  st.global.f32 [%d2], %f0;
  ret;
}
.visible .entry read_plane(.param .u64 out)
{
  .reg .u64 %d<3>; .reg .u32 %r<2>; .reg .f32 %f<6>;
  ld.param.u64 %d0, [out];
  mov.u32 %r0, %tid.x;
  cvt.rn.f32.u32 %f4, %r0;
  mov.f32 %f5, 0f3F800000;
  tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [plane, {%f4, %f5}];
  mul.wide.u32 %d1, %r0, 4;
  add.u64 %d2, %d0, %d1;
  st.global.f32 [%d2], %f0;
  ret;
}
.visible .entry write_target()
{
  .reg .u32 %r<3>;
  mov.u32 %r0, %tid.x;
  shl.b32 %r1, %r0, 2;
  mov.u32 %r2, 0;
  sust.b.2d.b32.trap [target, {%r1, %r2}], {%r0};
  ret;
}
)";

texture_reference line{}, plane{};
surface_reference target{};
char read_line, read_plane, write_target;
int wrong = 0;

void expect(bool right, const char* what) {
  if (right) return;
  std::printf("not so: %s\n", what);
  ++wrong;
}

std::vector<float> run(const char* kernel, void* out) {
  void* arguments[] = {&out};
  std::vector<float> v(4);
  expect(cudaLaunchKernel(kernel, {1, 1, 1}, {4, 1, 1}, arguments, 0, nullptr) == 0, "a launch");
  expect(cudaMemcpy(v.data(), out, 16, to_host) == 0, "a copy");
  return v;
}

void** registered() {
  static std::vector<std::uint8_t> fat(16 + 64);
  const std::string ptx = text;
  const auto put = [](std::size_t at, auto value) { std::memcpy(fat.data() + at, &value, sizeof value); };
  put(0, std::uint32_t{0xba55ed50});
  put(4, std::uint16_t{1});
  put(6, std::uint16_t{16});
  put(8, std::uint64_t{64 + ptx.size() + 1});
  put(16, std::uint16_t{1});
  put(18, std::uint16_t{0x101});
  put(20, std::uint32_t{64});
  put(24, std::uint64_t{ptx.size() + 1});
  put(44, std::uint32_t{52});
  fat.insert(fat.end(), ptx.c_str(), ptx.c_str() + ptx.size() + 1);
  static struct {
    std::uint32_t magic = 0x466243b1, version = 1;
    const void* data;
    void* none = nullptr;
  } wrapper;
  wrapper.data = fat.data();
  return __cudaRegisterFatBinary(&wrapper);
}

}  // namespace

int main() {
  void** module = registered();
  __cudaRegisterFunction(module, &read_line, &read_line, "read_line", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  __cudaRegisterFunction(module, &read_plane, &read_plane, "read_plane", -1, nullptr, nullptr, nullptr, nullptr,
                         nullptr);
  __cudaRegisterFunction(module, &write_target, &write_target, "write_target", -1, nullptr, nullptr, nullptr, nullptr,
                         nullptr);
  __cudaRegisterTexture(module, &line, nullptr, "line", 1, 0, 0);
  __cudaRegisterTexture(module, &plane, nullptr, "plane", 2, 1, 0);  // bytes as floats
  __cudaRegisterSurface(module, &target, nullptr, "target", 2, 0);
  line.mode[0] = plane.mode[0] = plane.mode[1] = 1;

  void *out = nullptr, *in = nullptr, *rows = nullptr, *array = nullptr;
  std::size_t offset = 9, pitch = 0;
  const float values[6] = {1, 2, 3, 4, 5, 6};
  expect(cudaMalloc(&out, 16) == 0 && cudaMalloc(&in, 24) == 0 && cudaMemcpy(in, values, 24, to_device) == 0, "memory");
  expect(cudaBindTexture(&offset, &line, in, &floats, 12) == 0 && offset == 0, "cudaBindTexture");
  expect(run(&read_line, out) == std::vector<float>{1, 2, 3, 0}, "a texture over three floats");
  expect(cudaBindTexture(&offset, &line, static_cast<float*>(in) + 2, &floats, 16) == 0, "another binding");
  expect(run(&read_line, out) == std::vector<float>{3, 4, 5, 6}, "a texture over the last four");
  const texture_reference* found = nullptr;
  expect(cudaGetTextureReference(&found, &line) == 0 && found == &line &&
             cudaGetTextureAlignmentOffset(&offset, &line) == 0,
         "cudaGetTextureReference");
  expect(cudaUnbindTexture(&line) == 0 && cudaGetTextureAlignmentOffset(&offset, &line) == 19, "cudaUnbindTexture");

  const std::uint8_t image[8] = {0, 0, 0, 0, 255, 51, 102, 0};
  expect(cudaMallocPitch(&rows, &pitch, 4, 2) == 0 && cudaMemcpy2D(rows, pitch, image, 4, 4, 2, to_device) == 0,
         "rows");
  expect(cudaBindTexture2D(&offset, &plane, rows, &bytes, 4, 2, pitch) == 0, "cudaBindTexture2D");
  expect(run(&read_plane, out) == std::vector<float>{1, 0.2f, 0.4f, 0}, "a texture over rows of bytes");
  const std::uint8_t other[8] = {0, 0, 0, 0, 0, 255, 0, 255};
  expect(cudaMallocArray(&array, &bytes, 4, 2, 0) == 0 && cudaMemcpyToArray(array, 0, 0, other, 8, to_device) == 0,
         "an array");
  expect(cudaBindTextureToArray(&plane, array, &bytes) == 0, "cudaBindTextureToArray");
  expect(run(&read_plane, out) == std::vector<float>{0, 1, 0, 1}, "a texture over an array");

  const channel words{32, 0, 0, 0, 1};
  void* written = nullptr;
  expect(cudaMallocArray(&written, &words, 4, 1, 2) == 0 && cudaBindSurfaceToArray(&target, written, &words) == 0,
         "cudaBindSurfaceToArray");
  expect(cudaLaunchKernel(&write_target, {1, 1, 1}, {4, 1, 1}, nullptr, 0, nullptr) == 0, "a launch");
  std::uint32_t got[4] = {9, 9, 9, 9};
  expect(cudaMemcpyFromArray(got, written, 0, 0, 16, to_host) == 0 && got[0] == 0 && got[1] == 1 && got[3] == 3,
         "a surface");
  std::puts(wrong == 0 ? "right" : "wrong");
  return wrong != 0;
}
