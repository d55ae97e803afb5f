// SPDX-License-Identifier: MIT
// The matrix product of CUTLASS 1.x on tensor cores whose power AccelWattch measured on a V100 (cutlass_k1 to k3), written
// anew from its template arguments: README.md has the sizes.
// PTX: nvcc -ptx -arch=compute_75 -O3 power_gemm.cu, then .target sm_70 in place of sm_75.
#include <cuda_fp16.h>
#include <mma.h>

// C = alpha * A * B + beta * C, all of them column-major, halves into floats: 128 x 128 a block of eight warps, 64 x 32 a warp,
// 64 of K at a time in shared memory, while the next 64 are loaded into registers. M and K are multiples of the tile.
extern "C" __global__ __launch_bounds__(256) void tile_gemm(const half* a, const half* b, float* c, int m, int n, int k, float alpha,
                                                            float beta) {
  using namespace nvcuda;
  constexpr int chunk = 64, pitch_a = 128 + 8, pitch_b = chunk + 8, parts = 4;
  constexpr int halves = chunk * pitch_a + 128 * pitch_b;
  __shared__ __align__(32) half tiles[halves];
  half* const sa = tiles;
  half* const sb = tiles + chunk * pitch_a;
  const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32, row = warp % 2 * 64, column = warp / 2 * 32;
  const int m0 = blockIdx.x * 128, n0 = blockIdx.y * 128;
  // Of A a thread takes 8 rows of every sixteenth column, of B 8 rows of every 32nd column.
  const int row_a = tid % 16 * 8, column_a = tid / 16, row_b = tid % 8 * 8, column_b = tid / 8;
  int4 next_a[parts], next_b[parts];
  const auto fetch = [&](int from) {
#pragma unroll
    for (int i = 0; i < parts; ++i) {
      next_a[i] = *reinterpret_cast<const int4*>(a + (from + column_a + 16 * i) * m + m0 + row_a);
      next_b[i] = make_int4(0, 0, 0, 0);
      if (n0 + column_b + 32 * i < n) next_b[i] = *reinterpret_cast<const int4*>(b + (n0 + column_b + 32 * i) * k + from + row_b);
    }
  };
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[4][2];
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 2; ++j) wmma::fill_fragment(sums[i][j], 0.0f);
  fetch(0);
  for (int from = 0; from < k; from += chunk) {
    __syncthreads();
#pragma unroll
    for (int i = 0; i < parts; ++i) {
      *reinterpret_cast<int4*>(sa + (column_a + 16 * i) * pitch_a + row_a) = next_a[i];
      *reinterpret_cast<int4*>(sb + (column_b + 32 * i) * pitch_b + row_b) = next_b[i];
    }
    __syncthreads();
    if (from + chunk < k) fetch(from + chunk);
    // Fragments of the next 16 are loaded before those of these are multiplied.
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::col_major> fa[2][4];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb[2][2];
    const auto load = [&](int to, int step) {
#pragma unroll
      for (int i = 0; i < 4; ++i) wmma::load_matrix_sync(fa[to][i], sa + step * pitch_a + row + 16 * i, pitch_a);
#pragma unroll
      for (int j = 0; j < 2; ++j) wmma::load_matrix_sync(fb[to][j], sb + (column + 16 * j) * pitch_b + step, pitch_b);
    };
    load(0, 0);
#pragma unroll
    for (int step = 0; step < chunk; step += 16) {
      const int now = step / 16 % 2;
      if (step + 16 < chunk) load(1 - now, step + 16);
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 2; ++j) wmma::mma_sync(sums[i][j], fa[now][i], fb[now][j], sums[i][j]);
    }
  }
  // The result goes through shared memory, 16 x 16 a warp at a time.
  __syncthreads();
  float* const own = reinterpret_cast<float*>(tiles) + warp * 256;
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      wmma::store_matrix_sync(own, sums[i][j], 16, wmma::mem_col_major);
      __syncwarp();
#pragma unroll
      for (int at = lane; at < 256; at += 32) {
        const int x = n0 + column + 16 * j + at / 16;
        if (x >= n) continue;
        float* const to = c + x * m + m0 + row + 16 * i + at % 16;
        *to = beta == 0 ? alpha * own[at] : alpha * own[at] + beta * *to;
      }
      __syncwarp();
    }
}
