// SPDX-License-Identifier: MIT
// Kernels that do one thing on all SMs, whose power tells what it costs: README.md.
// PTX: nvcc -ptx -arch=compute_90a -O3 h100_power.cu
#include <cuda_fp16.h>

#include <cstdint>

using u32 = std::uint32_t;
using u64 = std::uint64_t;

// Eight independent chains a thread, 128 instructions a round. `in` has random words.
#define EIGHT(x) x(0) x(1) x(2) x(3) x(4) x(5) x(6) x(7)
#define SIXTEEN(x) \
  _Pragma("unroll") for (int s = 0; s < 16; ++s) { x }
#define CHAINS(name, type, from, active, instruction, constraint, to)                                              \
  extern "C" __global__ void __launch_bounds__(1024, 1) name(u32* out, const u32* in, int rounds) {                \
    if (!(active)) return;                                                                                         \
    type x[8];                                                                                                     \
    for (int k = 0; k < 8; ++k) {                                                                                  \
      const u32 word = in[(threadIdx.x * 8 + k) & 8191];                                                           \
      x[k] = from;                                                                                                 \
    }                                                                                                              \
    type a[4], b[4];                                                                                               \
    for (int k = 0; k < 4; ++k) {                                                                                  \
      u32 word = in[(threadIdx.x * 4 + k + 1024) & 8191];                                                          \
      a[k] = from;                                                                                                 \
      word = in[(threadIdx.x * 4 + k + 4096) & 8191];                                                              \
      b[k] = from;                                                                                                 \
    }                                                                                                              \
    _Pragma("unroll 1") for (int i = 0; i < rounds; ++i) {                                                         \
      SIXTEEN(_Pragma("unroll") for (int k = 0; k < 8;                                                             \
                                     ++k) asm volatile(instruction                                                 \
                                                       : "+" constraint(x[k])                                      \
                                                       : constraint(a[(k + s) & 3]), constraint(b[(k + s) & 3]));) \
    }                                                                                                              \
    type sum = x[0];                                                                                               \
    for (int k = 1; k < 8; ++k) sum += x[k];                                                                       \
    out[blockIdx.x * 1024 + threadIdx.x] = to;                                                                     \
  }
// x = a - x * a with a in [1, 2): chaotic enough that mantissas stay random, and bounded.
#define FLOAT __uint_as_float(0x3f000000u | (word & 0x007fffffu))
CHAINS(fma_f32, float, FLOAT, true, "fma.rn.f32 %0, %0, %1, %2;", "f", __float_as_uint(sum))
CHAINS(fma_f32_16_lanes, float, FLOAT, threadIdx.x % 32 < 16, "fma.rn.f32 %0, %0, %1, %2;", "f", __float_as_uint(sum))
CHAINS(fma_f32_1_lane, float, FLOAT, threadIdx.x % 32 == 0, "fma.rn.f32 %0, %0, %1, %2;", "f", __float_as_uint(sum))
CHAINS(add_f32, float, FLOAT, true, "add.rn.f32 %0, %1, %0;", "f", __float_as_uint(sum) + (u32)b[0])
CHAINS(multiply_add_s32, int, (int)(word | 1), true, "mad.lo.s32 %0, %0, %1, %2;", "r", sum)
CHAINS(xor_b32, u32, word, true, "lop3.b32 %0, %0, %1, %2, 0x6a;", "r", sum)
CHAINS(add_s32, int, (int)word, true, "{.reg .b32 t; add.s32 t, %0, %1; xor.b32 %0, t, %2;}", "r", sum)
CHAINS(fma_f64, double, (0.5 + word * (0.5 / 4294967296.0) + word * 1.1102230246251565e-19), true,
       "fma.rn.f64 %0, %0, %1, %2;", "d", (u32)(sum * 1e6))
CHAINS(fma_f16x2, u32, (word & 0x03ff03ffu | 0x38003800u), true, "fma.rn.f16x2 %0, %0, %1, %2;", "r", sum)
CHAINS(cosine, float, FLOAT, true, "{.reg .f32 t; cos.approx.ftz.f32 t, %0; fma.rn.f32 %0, t, 0f40400000, %2;}", "f",
       __float_as_uint(sum) + (u32)a[0])
CHAINS(shuffle, u32, word, true, "shfl.sync.bfly.b32 %0, %0, 5, 31, 0xffffffff;", "r", sum + a[0] + b[0])
CHAINS(shuffle_xor, u32, word, true, "{.reg .b32 t; shfl.sync.bfly.b32 t, %0, 5, 31, 0xffffffff; add.u32 %0, t, %1;}",
       "r", sum + b[0])

// Shared memory: 16 or 4 bytes a lane, without conflicts.
extern __shared__ __align__(128) u32 shared[];
extern "C" __global__ void __launch_bounds__(1024, 1) shared_16(u32* out, const u32* in, int rounds) {
  for (u32 i = threadIdx.x; i < 16384; i += 1024) shared[i] = in[i & 8191];
  __syncthreads();
  const u32 at = (u32)__cvta_generic_to_shared(shared) + threadIdx.x * 16;
  u32 a = 0, b = 0, c = 0, d = 0;
#pragma unroll 1
  for (int i = 0; i < rounds; ++i)
#pragma unroll
    for (int s = 0; s < 16; ++s) {
      u32 x, y, z, w;
      asm volatile("ld.volatile.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
                   : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
                   : "r"(at + (s % 4) * 16384));
      a ^= x, b ^= y, c ^= z, d ^= w;
    }
  out[blockIdx.x * 1024 + threadIdx.x] = a ^ b ^ c ^ d;
}
extern "C" __global__ void __launch_bounds__(1024, 1) shared_4(u32* out, const u32* in, int rounds) {
  for (u32 i = threadIdx.x; i < 16384; i += 1024) shared[i] = in[i & 8191];
  __syncthreads();
  const u32 at = (u32)__cvta_generic_to_shared(shared) + threadIdx.x * 4;
  u32 a = 0;
#pragma unroll 1
  for (int i = 0; i < rounds; ++i)
#pragma unroll
    for (int s = 0; s < 16; ++s) {
      u32 x;
      asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(x) : "r"(at + s * 4096));
      a ^= x;
    }
  out[blockIdx.x * 1024 + threadIdx.x] = a;
}
extern "C" __global__ void __launch_bounds__(1024, 1) shared_store_16(u32* out, const u32* in, int rounds) {
  const u32 at = (u32)__cvta_generic_to_shared(shared) + threadIdx.x * 16;
  u32 x = in[threadIdx.x], y = in[threadIdx.x + 1024], z = in[threadIdx.x + 2048], w = in[threadIdx.x + 3072];
#pragma unroll 1
  for (int i = 0; i < rounds; ++i)
#pragma unroll
    for (int s = 0; s < 16; ++s)
      asm volatile("st.shared.v4.u32 [%4], {%0,%1,%2,%3};" ::"r"(x), "r"(y), "r"(z), "r"(s % 2 ? w : x),
                   "r"(at + (s % 4) * 16384)
                   : "memory");
  out[blockIdx.x * 1024 + threadIdx.x] = shared[threadIdx.x];
}

// Loads of 16 or 4 bytes a lane: `per_sm` bytes that a block reads again and again, from `in` on; blocks are `apart`
// bytes apart.
#define LOADS(name, load, T, list, outs, used)                                                      \
  extern "C" __global__ void __launch_bounds__(1024, 1)                                             \
      name(u32* out, const char* in, int rounds, u32 per_sm, u32 apart) {                           \
    const char* const mine = in + u64(blockIdx.x) * apart + threadIdx.x * T;                        \
    u32 a = 0, at = 0;                                                                              \
    _Pragma("unroll 1") for (int i = 0; i < rounds; ++i) {                                          \
      const char* const here = mine + at;                                                           \
      _Pragma("unroll") for (int s = 0; s < 8; ++s) {                                               \
        u32 x, y = 0, z = 0, w = 0;                                                                 \
        asm volatile(load " " list ", [%" #outs "];" : used : "l"(here + s * 1024 * T) : "memory"); \
        a ^= x ^ y ^ z ^ w;                                                                         \
      }                                                                                             \
      at = (at + 8 * 1024 * T) & (per_sm - 1);                                                      \
      if (a == 0x12345678) out[0] = a;                                                              \
    }                                                                                               \
    out[blockIdx.x * 1024 + threadIdx.x] = a;                                                       \
  }
#define COMMA ,
LOADS(l1_16, "ld.global.ca.v4.u32", 16, "{%0,%1,%2,%3}", 4, "=r"(x)COMMA "=r"(y)COMMA "=r"(z)COMMA "=r"(w))
LOADS(l1_4, "ld.global.ca.u32", 4, "%0", 1, "=r"(x))
LOADS(l2_16, "ld.global.cg.v4.u32", 16, "{%0,%1,%2,%3}", 4, "=r"(x)COMMA "=r"(y)COMMA "=r"(z)COMMA "=r"(w))
// Copies to shared memory in the background, and by the bulk engine.
extern "C" __global__ void __launch_bounds__(1024, 1)
    copy_async_16(u32* out, const char* in, int rounds, u32 per_sm, u32 apart) {
  const char* const mine = in + u64(blockIdx.x) * apart;
  const u32 to = (u32)__cvta_generic_to_shared(shared) + threadIdx.x * 16;
  u32 at = threadIdx.x * 16;
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
#pragma unroll
    for (int s = 0; s < 8; ++s)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + (s % 4) * 16384),
                   "l"(mine + ((at + s * 16384) & (per_sm - 1)))
                   : "memory");
    asm volatile("cp.async.commit_group; cp.async.wait_group 1;" ::: "memory");
    at += 8 * 16384;
  }
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  out[blockIdx.x * 1024 + threadIdx.x] = shared[threadIdx.x];
}
extern "C" __global__ void __launch_bounds__(128, 1)
    copy_bulk(u32* out, const char* in, int rounds, u32 per_sm, u32 apart) {
  __shared__ u64 barrier[4];
  const char* const mine = in + u64(blockIdx.x) * apart;
  const u32 to = (u32)__cvta_generic_to_shared(shared), b = (u32)__cvta_generic_to_shared(barrier);
  if (threadIdx.x == 0) {
    for (int s = 0; s < 4; ++s) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(b + 8 * s) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    u32 at = 0;
    for (int i = 0; i < rounds + 4; ++i) {
      const u32 s = i % 4;
      if (i >= 4) {
        const u32 parity = (i / 4 - 1) & 1;
        asm volatile(
            "{.reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra again;}" ::"r"(b + 8 * s),
            "r"(parity)
            : "memory");
      }
      if (i < rounds) {
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 16384;" ::"r"(b + 8 * s) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 16384, [%2];" ::"r"(
                         to + s * 16384),
                     "l"(mine + (at & (per_sm - 1))), "r"(b + 8 * s)
                     : "memory");
        at += 16384;
      }
    }
  }
  __syncthreads();
  out[blockIdx.x * 128 + threadIdx.x] = shared[threadIdx.x];
}
// Device memory: the whole of `in`, `bytes` a block in turns of the grid.
extern "C" __global__ void __launch_bounds__(1024, 2) dram_read(u32* out, const uint4* in, u32 vectors) {
  u32 a = 0;
#pragma unroll 4
  for (u32 i = blockIdx.x * 1024 + threadIdx.x; i < vectors; i += gridDim.x * 1024) {
    uint4 v;
    asm volatile("ld.global.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(in + i));
    a ^= v.x ^ v.y ^ v.z ^ v.w;
  }
  if (a == 12345) out[threadIdx.x] = a;
}
extern "C" __global__ void __launch_bounds__(1024, 2) dram_write(uint4* out, u32 vectors, u32 seed) {
  uint4 v{threadIdx.x * 2654435761u ^ seed, threadIdx.x * 2246822519u, threadIdx.x * 3266489917u,
          threadIdx.x * 668265263u + seed};
  for (u32 i = blockIdx.x * 1024 + threadIdx.x; i < vectors; i += gridDim.x * 1024) out[i] = v;
}
extern "C" __global__ void __launch_bounds__(1024, 2) dram_copy(const uint4* in, uint4* out, u32 vectors) {
#pragma unroll 4
  for (u32 i = blockIdx.x * 1024 + threadIdx.x; i < vectors; i += gridDim.x * 1024) out[i] = in[i];
}
// Stores that stay in the L2, and additions there.
extern "C" __global__ void __launch_bounds__(1024, 1)
    l2_store_16(char* out, const u32* in, int rounds, u32 per_sm, u32 apart) {
  char* const mine = out + u64(blockIdx.x) * apart;
  u32 at = threadIdx.x * 16;
  const u32 x = in[threadIdx.x], y = in[threadIdx.x + 1024], z = in[threadIdx.x + 2048], w = in[threadIdx.x + 3072];
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
#pragma unroll
    for (int s = 0; s < 8; ++s)
      asm volatile("st.global.v4.u32 [%4], {%0,%1,%2,%3};" ::"r"(x ^ i), "r"(y), "r"(z + i), "r"(w),
                   "l"(mine + ((at + s * 16384) & (per_sm - 1)))
                   : "memory");
    at += 8 * 16384;
  }
}
extern "C" __global__ void __launch_bounds__(1024, 1) l2_add(char* out, int rounds, u32 per_sm, u32 apart) {
  char* const mine = out + u64(blockIdx.x) * apart;
  u32 at = threadIdx.x * 4;
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
#pragma unroll
    for (int s = 0; s < 8; ++s)
      asm volatile("red.global.add.u32 [%0], %1;" ::"l"(mine + ((at + s * 4096) & (per_sm - 1))), "r"(threadIdx.x)
                   : "memory");
    at += 8 * 4096;
  }
}
// Shared memory of the neighbour in a cluster of two.
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(1024, 1)
    neighbour_16(u32* out, const u32* in, int rounds) {
  for (u32 i = threadIdx.x; i < 16384; i += 1024) shared[i] = in[i & 8191];
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
  const u32 at = (u32)__cvta_generic_to_shared(shared) + threadIdx.x * 16;
  u32 there;
  asm volatile("{.reg .b32 r; mov.u32 r, %%cluster_ctarank; xor.b32 r, r, 1; mapa.shared::cluster.u32 %0, %1, r;}"
               : "=r"(there)
               : "r"(at));
  u32 a = 0;
#pragma unroll 1
  for (int i = 0; i < rounds; ++i)
#pragma unroll
    for (int s = 0; s < 8; ++s) {
      u32 x, y, z, w;
      asm volatile("ld.volatile.shared::cluster.v4.u32 {%0,%1,%2,%3}, [%4];"
                   : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
                   : "r"(there + (s % 4) * 16384));
      a ^= x ^ y ^ z ^ w;
    }
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
  out[blockIdx.x * 1024 + threadIdx.x] = a;
}
// Constants with an address that all lanes share.
__constant__ u32 table[8192];
extern "C" __global__ void __launch_bounds__(1024, 1) constants(u32* out, int rounds) {
  u32 a = 0, at = threadIdx.x / 32 * 4;
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
#pragma unroll
    for (int s = 0; s < 16; ++s) a += table[(at + s * 5) & 511] ^ a;
    at += 3;
  }
  out[blockIdx.x * 1024 + threadIdx.x] = a;
}
// A warp an SM that sleeps: what clocks and leakage cost.
extern "C" __global__ void sleeping(u32* out, int rounds) {
  for (int i = 0; i < rounds; ++i) __nanosleep(100000);
  out[blockIdx.x] = 1;
}
// Branches: each of a warp's rounds takes one of two ways, all lanes together.
extern "C" __global__ void __launch_bounds__(1024, 1) branches(u32* out, int rounds) {
  u32 x = threadIdx.x / 32;
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) asm volatile("{add.u32 %0, %0, 1;}" : "+r"(x));
  out[blockIdx.x * 1024 + threadIdx.x] = x;
}
extern "C" __global__ void empty() {}
