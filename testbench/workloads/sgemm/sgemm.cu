// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_75 -O3 -o sgemm.ptx sgemm.cu

// C = A * B for square row-major matrices whose side is a multiple of the tile's.
// Each block computes one tile of C; tiles of A and B go through shared memory.
constexpr int tile = 16;

extern "C" __global__ void sgemm(int n, const float* a, const float* b, float* c) {
  __shared__ float a_tile[tile][tile];
  __shared__ float b_tile[tile][tile];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const int row = blockIdx.y * tile + y;
  const int column = blockIdx.x * tile + x;
  float sum = 0;
  for (int k0 = 0; k0 < n; k0 += tile) {
    a_tile[y][x] = a[row * n + k0 + x];
    b_tile[y][x] = b[(k0 + y) * n + column];
    __syncthreads();
    for (int k = 0; k < tile; ++k) sum += a_tile[y][k] * b_tile[k][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
