// SPDX-License-Identifier: MIT
// The accesses of requests.cu as heddle runs them: `pitch` bytes from lane to lane, `step` from access to access,
// within `footprint`, a power of two.
#include <cstdint>
using u32 = std::uint32_t;
using u64 = std::uint64_t;
__device__ char* place(char* to, u32 round, u32 pitch, u32 step, u32 footprint) {
  const u32 warps = gridDim.x * blockDim.x / 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  return to + (((warp + round * warps) * step + threadIdx.x % 32 * pitch) & (footprint - 1));
}
extern "C" __global__ void store_4(char* to, u32 rounds, u32 pitch, u32 step, u32 footprint) {
  for (u32 r = 0; r < rounds; ++r)
    asm volatile("st.global.u32 [%0], %1;" ::"l"(place(to, r, pitch, step, footprint)), "r"(r) : "memory");
}
extern "C" __global__ void store_16(char* to, u32 rounds, u32 pitch, u32 step, u32 footprint) {
  for (u32 r = 0; r < rounds; ++r)
    asm volatile("st.global.v4.u32 [%0], {%1,%1,%1,%1};" ::"l"(place(to, r, pitch, step, footprint)), "r"(r)
                 : "memory");
}
extern "C" __global__ void load_4(char* to, u32 rounds, u32 pitch, u32 step, u32 footprint) {
  u32 sum = 0;
#pragma unroll 4
  for (u32 r = 0; r < rounds; ++r) {
    u32 a;
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(a) : "l"(place(to, r, pitch, step, footprint)) : "memory");
    sum += a;
  }
  if (sum == 0x12345) *to = 1;
}
extern "C" __global__ void load_16(char* to, u32 rounds, u32 pitch, u32 step, u32 footprint) {
  u32 sum = 0;
#pragma unroll 4
  for (u32 r = 0; r < rounds; ++r) {
    u32 a, b, c, d;
    asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "l"(place(to, r, pitch, step, footprint))
                 : "memory");
    sum += a + b + c + d;
  }
  if (sum == 0x12345) *to = 1;
}
extern "C" __global__ void atom_add(u32* word, u32 rounds, u32 lanes, u32 apart) {
  u32 y = 0;
  if (threadIdx.x % 32 < lanes)
    for (u32 r = 0; r < rounds; ++r) y += atomicAdd(word + threadIdx.x % 32 * apart, 1);
  if (y == 0x12345) word[1] = 1;
}
