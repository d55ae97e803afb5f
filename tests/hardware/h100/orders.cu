// SPDX-License-Identifier: MIT
// Fences, orders, atomics, scattered stores and cold code of an H100. Prints name,value.
//   nvcc -arch=sm_90 -O3 -o orders orders.cu && ./orders > orders.csv
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>
using u32 = std::uint32_t;
using u64 = std::uint64_t;
__device__ u32 now() {
  u32 c;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(c)::"memory");
  return c;
}
#define TIMES(i, text, ...)                                      \
  {                                                              \
    const u32 begin = now();                                     \
    for (int r = 0; r < 64; ++r) asm volatile(text __VA_ARGS__); \
    out[i] = now() - begin;                                      \
  }
__global__ void fences(u32* out, u32* word) {
  u32 x = 0;
  TIMES(0, "membar.cta;" ::: "memory")
  TIMES(1, "membar.gl;" ::: "memory")
  TIMES(2, "membar.sys;" ::: "memory")
  TIMES(3, "fence.acq_rel.cta;" ::: "memory")
  TIMES(4, "fence.acq_rel.gpu;" ::: "memory")
  TIMES(5, "fence.sc.gpu;" ::: "memory")
  TIMES(6, "fence.sc.cta;" ::: "memory")
  TIMES(7, "fence.acquire.gpu;" ::: "memory")
  TIMES(8, "fence.release.gpu;" ::: "memory")
  TIMES(9, "fence.mbarrier_init.release.cluster;" ::: "memory")
  TIMES(10, "fence.proxy.async;" ::: "memory")
  TIMES(11, "fence.proxy.async.global;" ::: "memory")
  TIMES(12, "ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(x) : "l"(word + (x & 1)) : "memory")
  TIMES(13, "ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(x) : "l"(word + (x & 1)) : "memory")
  TIMES(14, "st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(word), "r"(0) : "memory")
  TIMES(15, "st.release.gpu.global.u32 [%0], %1;" ::"l"(word), "r"(0) : "memory")
  TIMES(16, "atom.relaxed.gpu.global.add.u32 %0, [%1], 0;" : "=r"(x) : "l"(word + (x & 1)) : "memory")
  TIMES(17, "atom.acq_rel.gpu.global.add.u32 %0, [%1], 0;" : "=r"(x) : "l"(word + (x & 1)) : "memory")
  TIMES(18, "red.relaxed.gpu.global.add.u32 [%0], 0;" ::"l"(word) : "memory")
  TIMES(19, "red.release.gpu.global.add.u32 [%0], 0;" ::"l"(word) : "memory") {
    const u32 begin = now();
    for (int r = 0; r < 64; ++r) {
      asm volatile("st.global.u32 [%0], %1;" ::"l"(word + 32 * r), "r"(r) : "memory");
      asm volatile("fence.acq_rel.gpu;" ::: "memory");
    }
    out[20] = now() - begin;
  }
  {
    const u32 begin = now();
    for (int r = 0; r < 16; ++r) {
      for (int k = 0; k < 16; ++k)
        asm volatile("st.global.u32 [%0], %1;" ::"l"(word + 32 * (r * 16 + k) + threadIdx.x), "r"(r) : "memory");
      asm volatile("fence.acq_rel.gpu;" ::: "memory");
    }
    out[21] = (now() - begin) * 4;
  }
  TIMES(22, "fence.acq_rel.sys;" ::: "memory")
  TIMES(23, "griddepcontrol.wait;" ::: "memory")
  TIMES(24, "griddepcontrol.launch_dependents;" ::: "memory")
  out[40] = x;
}
__global__ void warps(u32* out, u32 distinct, u32 step) {
  __shared__ u32 local[1024];
  for (u32 i = threadIdx.x; i < 1024; i += 32) local[i] = 0;
  __syncwarp();
  u32 x = threadIdx.x % distinct;
  u32 begin = now();
  for (int r = 0; r < 64; ++r) {
    u32 y;
    asm volatile("match.any.sync.b32 %0, %1, 0xffffffff;" : "=r"(y) : "r"(x));
    x ^= y >> 31 & step;
  }
  out[0] = now() - begin;
  begin = now();
  for (int r = 0; r < 64; ++r) {
    u32 y;
    asm volatile("match.all.sync.b32 %0, %1, 0xffffffff;" : "=r"(y) : "r"(x));
    x ^= y & step;
  }
  out[1] = now() - begin;
  u32 at = (u32)__cvta_generic_to_shared(local) + (threadIdx.x % distinct) * 4, y = 0;
  begin = now();
  for (int r = 0; r < 64; ++r) {
    asm volatile("atom.shared.add.u32 %0, [%1], 1;" : "=r"(y) : "r"(at + (y & step)) : "memory");
  }
  out[2] = now() - begin;
  begin = now();
  for (int r = 0; r < 64; ++r) asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(at) : "memory");
  out[3] = now() - begin;
  begin = now();
  for (int r = 0; r < 64; ++r) {
    asm volatile("atom.shared.max.u32 %0, [%1], 1;" : "=r"(y) : "r"(at + (y & step)) : "memory");
  }
  out[4] = now() - begin;
  begin = now();
  for (int r = 0; r < 64; ++r) {
    asm volatile("atom.shared.cas.b32 %0, [%1], %2, 1;" : "=r"(y) : "r"(at + (y & step)), "r"(y) : "memory");
  }
  out[5] = now() - begin;
  out[64 + threadIdx.x] = x + y;
}
// Atomics to global memory: 132 blocks of 256, each lane to `spread` words apart; kinds: 0 red add, 1 atom add
__global__ void many_atomics(u32* out, u32* words, u32 mask, u32 scale, int returns) {
  u32 at = ((blockIdx.x * blockDim.x + threadIdx.x) * scale) & mask, sum = 0;
  if (returns)
    for (int r = 0; r < 32; ++r) {
      u32 y;
      asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(y) : "l"(words + ((at + r * 8192) & mask)) : "memory");
      sum += y;
    }
  else
    for (int r = 0; r < 32; ++r)
      asm volatile("red.global.add.u32 [%0], 1;" ::"l"(words + ((at + r * 8192) & mask)) : "memory");
  if (sum == 12345) out[0] = sum;
}
// Stores of 4, 8, 16, 32 consecutive bytes every `stride` bytes.
__global__ void scattered(char* to, u32 stride, u32 mask, int bytes) {
  const u64 at = u64(blockIdx.x * blockDim.x + threadIdx.x) * stride & mask;
  for (int r = 0; r < 8; ++r) {
    char* p = to + ((at + u64(r) * gridDim.x * blockDim.x * stride) & mask);
    if (bytes == 4) *(u32*)p = r;
    else if (bytes == 8) *(uint2*)p = uint2{1, 2};
    else *(uint4*)p = uint4{1, 2, 3, 4};
  }
}
#define CODE4(x) x x x x
#define FMA asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(a) : "f"(b), "f"(c));
#define CODE(name, many)                             \
  __global__ void name(u32* out, float b, float c) { \
    float a = b;                                     \
    const u32 begin = now();                         \
    many const u32 end = now();                      \
    out[blockIdx.x * 2] = end - begin;               \
    out[blockIdx.x * 2 + 1] = a == 77;               \
  }
CODE(code_1k, CODE4(CODE4(CODE4(FMA))))
CODE(code_4k, CODE4(CODE4(CODE4(CODE4(FMA)))))
CODE(code_16k, CODE4(CODE4(CODE4(CODE4(CODE4(FMA))))))
CODE(code_64k, CODE4(CODE4(CODE4(CODE4(CODE4(CODE4(FMA)))))))
CODE(code_256k, CODE4(CODE4(CODE4(CODE4(CODE4(CODE4(CODE4(FMA))))))))
void check(cudaError_t e, const char* what) {
  if (e != cudaSuccess) {
    std::printf("# error: %s: %s\n", what, cudaGetErrorString(e));
    cudaGetLastError();
  }
}
std::vector<u32> read(const u32* from, std::size_t n) {
  std::vector<u32> v(n);
  check(cudaMemcpy(v.data(), from, n * 4, cudaMemcpyDeviceToHost), "read");
  return v;
}
template <class F>
float timed(F f) {
  cudaEvent_t a, b;
  cudaEventCreate(&a), cudaEventCreate(&b);
  float best = 1e9;
  for (int i = 0; i < 4; ++i) {
    cudaEventRecord(a), f(), cudaEventRecord(b);
    check(cudaDeviceSynchronize(), "timed");
    float t;
    cudaEventElapsedTime(&t, a, b), best = std::min(best, t);
  }
  return best * 1000;
}
int main() {
  u32* out;
  char* data;
  check(cudaMalloc(&out, 1 << 20), "malloc"), check(cudaMalloc(&data, 1 << 30), "malloc");
  cudaMemset(out, 0, 1 << 20), cudaMemset(data, 0, 1 << 30);
  struct {
    const char* name;
    void (*k)(u32*, float, float);
  } codes[] = {{"1k", code_1k}, {"4k", code_4k}, {"16k", code_16k}, {"64k", code_64k}, {"256k", code_256k}};
  for (auto& c : codes) {
    for (int i = 0; i < 3; ++i) {
      if (i == 2) cudaMemset(data, 1, 1 << 28);
      c.k<<<1, 32>>>(out, 1.5f, 0.5f);
      check(cudaDeviceSynchronize(), c.name);
      std::printf("straight code %s %s,%u\n", c.name,
                  i == 0   ? "first"
                  : i == 1 ? "second"
                           : "after 256 MiB of stores",
                  read(out, 1)[0]);
    }
    c.k<<<132, 32>>>(out, 1.5f, 0.5f);
    check(cudaDeviceSynchronize(), c.name);
    auto v = read(out, 264);
    u32 least = ~0u, most = 0;
    for (int b = 0; b < 132; ++b) least = std::min(least, v[2 * b]), most = std::max(most, v[2 * b]);
    std::printf("straight code %s on 132 SMs: least,%u\nstraight code %s on 132 SMs: most,%u\n", c.name, least, c.name,
                most);
  }
  const char* names[] = {"membar.cta",
                         "membar.gl",
                         "membar.sys",
                         "fence.acq_rel.cta",
                         "fence.acq_rel.gpu",
                         "fence.sc.gpu",
                         "fence.sc.cta",
                         "fence.acquire.gpu",
                         "fence.release.gpu",
                         "fence.mbarrier_init",
                         "fence.proxy.async",
                         "fence.proxy.async.global",
                         "ld.relaxed.gpu",
                         "ld.acquire.gpu",
                         "st.relaxed.gpu",
                         "st.release.gpu",
                         "atom.relaxed",
                         "atom.acq_rel",
                         "red.relaxed",
                         "red.release",
                         "store and fence",
                         "16 stores and fence",
                         "fence.acq_rel.sys",
                         "griddepcontrol.wait",
                         "griddepcontrol.launch_dependents"};
  for (int threads : {1, 32}) {
    fences<<<1, threads>>>(out, (u32*)data), fences<<<1, threads>>>(out, (u32*)data);
    check(cudaDeviceSynchronize(), "fences");
    auto v = read(out, 32);
    for (int i = 0; i < 25; ++i) std::printf("%s of %d threads,%.2f\n", names[i], threads, v[i] / 64.);
  }
  for (u32 d : {1u, 2u, 4u, 8u, 16u, 32u}) {
    warps<<<1, 32>>>(out, d, 0), warps<<<1, 32>>>(out, d, 0);
    check(cudaDeviceSynchronize(), "warps");
    auto v = read(out, 8);
    const char* n[] = {"match.any",      "match.all",       "atom.shared.add",
                       "red.shared.add", "atom.shared.max", "atom.shared.cas"};
    for (int i = 0; i < 6; ++i) std::printf("%s with %u distinct,%.2f\n", n[i], d, v[i] / 64.);
  }
  struct {
    u32 mask, scale;
    const char* name;
  } spreads[] = {{0, 0, "one word"},
                 {31, 1, "one line"},
                 {1023, 1, "4 KiB"},
                 {(1 << 22) - 1, 1, "16 MiB coalesced"},
                 {(1 << 22) - 1, 8, "16 MiB, a sector each"},
                 {(1 << 22) - 1, 1237, "16 MiB scattered"}};
  for (auto& s : spreads)
    for (int r = 0; r < 2; ++r) {
      const float us = timed([&] { many_atomics<<<132, 256>>>(out, (u32*)data, s.mask, s.scale, r); });
      std::printf("%s to %s: nanoseconds a lane,%.4f\n", r ? "atom" : "red", s.name, us * 1000 / (132. * 256 * 32));
    }
  for (u32 stride : {4u, 8u, 16u, 32u, 64u, 128u, 8192u})
    for (int bytes : {4, 8, 16}) {
      if (u32(bytes) > stride) continue;
      const float us = timed([&] { scattered<<<1056, 256>>>(data, stride, (1u << 24) - 1, bytes); });
      std::printf("stores of %d bytes every %u within 16 MiB: nanoseconds each,%.5f\n", bytes, stride,
                  us * 1000 / (1056. * 256 * 8));
    }
}
