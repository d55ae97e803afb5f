// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_75 -O3 -o gallery.ptx gallery.cu
// The kernels of the gallery's notebooks.

/// Sums n floats for each thread's own total; `parallel` loads are in flight at a time.
template <int parallel>
__device__ void sum(int n, const float* x, float* totals) {
  const int threads = gridDim.x * blockDim.x;
  const int me = blockIdx.x * blockDim.x + threadIdx.x;
  float total = 0;
  for (int i = me; i < n; i += parallel * threads) {
    float values[parallel];
#pragma unroll
    for (int k = 0; k < parallel; ++k) values[k] = x[i + k * threads];
#pragma unroll
    for (int k = 0; k < parallel; ++k) total += values[k];
  }
  totals[me] = total;
}
extern "C" __global__ void sum1(int n, const float* x, float* totals) { sum<1>(n, x, totals); }
extern "C" __global__ void sum4(int n, const float* x, float* totals) { sum<4>(n, x, totals); }

/// Each thread reads its own lines of 128 bytes again and again, as the rows of a small matrix.
extern "C" __global__ void reread(int lines, int times, const float* x, float* totals) {
  const int me = blockIdx.x * blockDim.x + threadIdx.x;
  const float* own = x + me / 32 * lines * 32 + me % 32;
  float total = 0;
  for (int t = 0; t < times; ++t)
    for (int i = 0; i < lines; ++i) total += own[i * 32];
  totals[me] = total;
}

/// A polynomial of degree `degree` at each x: 2 x degree operations for 8 bytes.
extern "C" __global__ void polynomial(int n, int degree, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float at = x[i];
  float value = 1;
#pragma unroll 8
  for (int k = 0; k < degree; ++k) value = value * at + 1;
  y[i] = value;
}

/// All threads together read n floats, `times` times, in the same order.
extern "C" __global__ void scan_again(int n, int times, const float* x, float* totals) {
  const int me = blockIdx.x * blockDim.x + threadIdx.x;
  float total = 0;
  for (int t = 0; t < times; ++t)
    for (int i = me; i < n; i += gridDim.x * blockDim.x) total += x[i];
  totals[me] = total;
}

/// C = A * B for row-major n x n matrices, n a multiple of the tile: a block makes rows x columns elements of C, its
/// 16 x 16 threads rows/16 x columns/16 each, from slices of `depth` columns of A and rows of B in shared memory.
template <int rows, int columns, int depth>
__device__ void gemm(int n, const float* a, const float* b, float* c) {
  constexpr int down = rows / 16, across = columns / 16;
  __shared__ float a_slice[depth][rows + 1], b_slice[depth][columns];
  const int x = threadIdx.x, y = threadIdx.y, me = y * 16 + x;
  a += blockIdx.y * rows * n;
  b += blockIdx.x * columns;
  float sum[down][across] = {};
  for (int k0 = 0; k0 < n; k0 += depth) {
#pragma unroll
    for (int i = me; i < rows * depth; i += 256) a_slice[i % depth][i / depth] = a[i / depth * n + k0 + i % depth];
#pragma unroll
    for (int i = me; i < depth * columns; i += 256) b_slice[i / columns][i % columns] = b[(k0 + i / columns) * n + i % columns];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < depth; ++k) {
      float left[down], right[across];
#pragma unroll
      for (int i = 0; i < down; ++i) left[i] = a_slice[k][y + i * 16];
#pragma unroll
      for (int j = 0; j < across; ++j) right[j] = b_slice[k][x + j * 16];
#pragma unroll
      for (int i = 0; i < down; ++i)
#pragma unroll
        for (int j = 0; j < across; ++j) sum[i][j] += left[i] * right[j];
    }
    __syncthreads();
  }
  c += (blockIdx.y * rows + y) * n + blockIdx.x * columns + x;
#pragma unroll
  for (int i = 0; i < down; ++i)
#pragma unroll
    for (int j = 0; j < across; ++j) c[i * 16 * n + j * 16] = sum[i][j];
}
#define GEMM(rows, columns, depth)                                                                         \
  extern "C" __global__ void gemm_##rows##x##columns##x##depth(int n, const float* a, const float* b, float* c) { \
    gemm<rows, columns, depth>(n, a, b, c);                                                                \
  }
GEMM(16, 16, 16)
GEMM(32, 32, 16)
GEMM(64, 32, 16)
GEMM(64, 64, 16)
GEMM(64, 64, 8)
