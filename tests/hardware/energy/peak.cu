// SPDX-License-Identifier: MIT
// Kernels that use a chip as much as they can: a matrix product on tensor cores and a streaming copy.
// PTX: nvcc -ptx -arch=compute_80 -O3 peak.cu
#include <cuda_fp16.h>

#include <cstdint>

__device__ void copy_16(std::uint32_t to, const half* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from));
}
__device__ void load_4(std::uint32_t (&r)[4], std::uint32_t from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(from));
}
__device__ void multiply(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// C = A * B with both operands along k: 128 x 128 a block of eight warps, 32 of k in a stage, three stages in shared memory. Two blocks
// fit an SM: sixteen warps hide the copies of each other, which Heddle executes as a load and a store. Chunks of
// 16 bytes are stored where eight rows are in different banks.
extern "C" __global__ void __launch_bounds__(256, 2) matrix_product(const half* a, const half* b, float* c, int n, int k) {
  constexpr int tile = 128, depth = 32, stages = 3, stage_bytes = 2 * tile * depth * 2;
  extern __shared__ __align__(128) char shared[];
  const std::uint32_t base = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = warp / 2 * 32, column = warp % 2 * 64;
  const half* const from_a = a + (blockIdx.y * tile + threadIdx.x / 4) * k + threadIdx.x % 4 * 8;
  const half* const from_b = b + (blockIdx.x * tile + threadIdx.x / 4) * k + threadIdx.x % 4 * 8;
  const std::uint32_t place = threadIdx.x / 4 * 64 + ((threadIdx.x % 4) ^ (threadIdx.x / 8 & 3)) * 16;
  const auto fetch = [&](int stage, int from) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      copy_16(base + stage * stage_bytes + place + i * 64 * 64, from_a + i * 64 * k + from);
      copy_16(base + stage * stage_bytes + tile * 64 + place + i * 64 * 64, from_b + i * 64 * k + from);
    }
  };
  float sums[2][8][4] = {};
  for (int s = 0; s < stages - 1; ++s) {
    fetch(s, s * depth);
    asm volatile("cp.async.commit_group;");
  }
  const int line = lane % 16, half_chunk = lane / 16;
  int stage = 0;
  for (int from = 0; from < k; from += depth) {
    asm volatile("cp.async.wait_group %0;" ::"n"(stages - 2));
    __syncthreads();
    if (from + (stages - 1) * depth < k) fetch((stage + stages - 1) % stages, from + (stages - 1) * depth);
    asm volatile("cp.async.commit_group;");
    const std::uint32_t sa = base + stage * stage_bytes, sb = sa + tile * 64;
#pragma unroll
    for (int step = 0; step < 2; ++step) {
      std::uint32_t fa[2][4], fb[4][4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int r = row + i * 16 + line, q = column + i * 16 + line;
        if (i < 2) load_4(fa[i], sa + r * 64 + ((step * 2 + half_chunk) ^ (r >> 1 & 3)) * 16);
        load_4(fb[i], sb + q * 64 + ((step * 2 + half_chunk) ^ (q >> 1 & 3)) * 16);
      }
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) multiply(sums[i][j], fa[i], fb[j / 2][j % 2], fb[j / 2][j % 2 + 2]);
    }
    stage = (stage + 1) % stages;
  }
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      float* const to = c + (blockIdx.y * tile + row + i * 16 + lane / 4) * n + blockIdx.x * tile + column + j * 8 + lane % 4 * 2;
      *reinterpret_cast<float2*>(to) = make_float2(sums[i][j][0], sums[i][j][1]);
      *reinterpret_cast<float2*>(to + 8 * n) = make_float2(sums[i][j][2], sums[i][j][3]);
    }
}

// Copies 16 bytes a thread.
extern "C" __global__ void stream_copy(const float4* from, float4* to) {
  const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  to[at] = from[at];
}
