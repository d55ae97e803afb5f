// SPDX-License-Identifier: MIT
// C = A * B + C on tensor cores: A (row-major) and B (column-major) in half precision, C in single precision; a warp a
// tile of 16 x 16.
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

extern "C" __global__ void wmma_gemm(int n, const half* a, const half* b, float* c) {
  const int row = (blockIdx.y * blockDim.y + threadIdx.y) * 16;
  const int column = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::load_matrix_sync(sum, c + row * n + column, n, wmma::mem_row_major);
  for (int k = 0; k < n; k += 16) {
    wmma::load_matrix_sync(fa, a + row * n + k, n);
    wmma::load_matrix_sync(fb, b + column * n + k, n);
    wmma::mma_sync(sum, fa, fb, sum);
  }
  wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}
