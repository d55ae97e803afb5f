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

// C = A * B with both operands along k: 256 x 128 a block of eight warps of 64 x 64 each, 64 of k in a stage, so that
// rows are whole lines, three stages in shared memory. Two stages are in flight while one is used, and fragments are
// loaded one step ahead. Chunks of 16 bytes are stored where eight rows are in different banks. The fragments of B are
// pairs of adjacent registers.
constexpr int rows = 256, columns = 128, depth = 64, stages = 3, steps = depth / 16;
constexpr int row_bytes = 2 * depth, stage_bytes = (rows + columns) * row_bytes;
constexpr int chunks = row_bytes / 16, rows_a_copy = 256 / chunks;

struct fragments {
  std::uint32_t a[4][4], b[4][4];
};

__device__ void load(fragments& f, std::uint32_t a, std::uint32_t b) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    load_4(f.a[i], a + i * 16 * row_bytes);
    load_4(f.b[i], b + i * 16 * row_bytes);
  }
}

extern "C" __global__ void __launch_bounds__(256, 1) matrix_product(const half* a, const half* b, float* c, int n, int k) {
  extern __shared__ __align__(128) char shared[];
  const std::uint32_t base = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = warp / 2 * 64, column = warp % 2 * 64;
  const int copied_row = threadIdx.x / chunks, chunk = threadIdx.x % chunks;
  const half* from_a = a + (blockIdx.y * rows + copied_row) * k + chunk * 8;
  const half* from_b = b + (blockIdx.x * columns + copied_row) * k + chunk * 8;
  const std::uint32_t place = base + copied_row * row_bytes + (chunk ^ (copied_row & 7)) * 16;
  int left = k / depth;  // stages to fetch
  const auto fetch = [&](int slot) {
    if (left-- > 0) {
#pragma unroll
      for (int i = 0; i < rows; i += rows_a_copy) copy_16(place + slot * stage_bytes + i * row_bytes, from_a + i * k);
#pragma unroll
      for (int i = 0; i < columns; i += rows_a_copy)
        copy_16(place + slot * stage_bytes + (rows + i) * row_bytes, from_b + i * k);
      from_a += depth;
      from_b += depth;
    }
    asm volatile("cp.async.commit_group;");
  };
  for (int s = 0; s < stages - 1; ++s) fetch(s);
  // A: 16 rows of the left half of k, then of the right one. B: 8 columns of the left and of the right half, then 8 more.
  const int r = row + lane % 16, q = column + lane / 16 * 8 + lane % 8;
  std::uint32_t at_a[steps], at_b[steps];
#pragma unroll
  for (int step = 0; step < steps; ++step) {
    at_a[step] = base + r * row_bytes + ((step * 2 + lane / 16) ^ (r & 7)) * 16;
    at_b[step] = base + (rows + q) * row_bytes + ((step * 2 + lane / 8 % 2) ^ (q & 7)) * 16;
  }
  float sums[4][8][4] = {};
  fragments f[2];
  const auto next_stage = [&] {
    asm volatile("cp.async.wait_group %0;" ::"n"(stages - 2));
    __syncthreads();
  };
  next_stage();
  load(f[0], at_a[0], at_b[0]);
  int slot = 0;
  for (int stage = 0; stage < k / depth; ++stage) {
#pragma unroll
    for (int step = 0; step < steps; ++step) {
      if (step + 1 < steps) {
        load(f[(step + 1) % 2], at_a[step + 1] + slot * stage_bytes, at_b[step + 1] + slot * stage_bytes);
        if (step == 0) fetch((slot + stages - 1) % stages);
      } else {
        next_stage();
        slot = (slot + 1) % stages;
        load(f[0], at_a[0] + slot * stage_bytes, at_b[0] + slot * stage_bytes);
      }
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) multiply(sums[i][j], f[step % 2].a[i], f[step % 2].b[j / 2][j % 2 * 2], f[step % 2].b[j / 2][j % 2 * 2 + 1]);
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      float* const to = c + (blockIdx.y * rows + row + i * 16 + lane / 4) * n + blockIdx.x * columns + column + j * 8 + lane % 4 * 2;
      *reinterpret_cast<float2*>(to) = make_float2(sums[i][j][0], sums[i][j][1]);
      *reinterpret_cast<float2*>(to + 8 * n) = make_float2(sums[i][j][2], sums[i][j][3]);
    }
}

// Copies 16 bytes a thread.
extern "C" __global__ void stream_copy(const float4* from, float4* to) {
  const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  to[at] = from[at];
}
