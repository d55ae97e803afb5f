// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_75 -O3 -o lu_decomposition.ptx lu_decomposition.cu

// LU decomposition in place without pivoting, in blocks of 16: first the block on the diagonal, then its row and
// column of blocks, then everything below and to the right; three launches per step.
constexpr int tile = 16;

extern "C" __global__ void diagonal_block(float* matrix, int n, int step) {
  __shared__ float block[tile][tile];
  const int t = threadIdx.x;
  float* corner = matrix + step * tile * (n + 1);
  for (int y = 0; y < tile; ++y) block[y][t] = corner[y * n + t];
  __syncthreads();
  for (int k = 0; k < tile - 1; ++k) {
    if (t > k) {
      block[t][k] /= block[k][k];
      for (int x = k + 1; x < tile; ++x) block[t][x] = fmaf(-block[t][k], block[k][x], block[t][x]);
    }
    __syncthreads();
  }
  for (int y = 0; y < tile; ++y) corner[y * n + t] = block[y][t];
}

// Block b handles a block right of the diagonal (b even) or below it (b odd), one column or row per thread.
extern "C" __global__ void border_blocks(float* matrix, int n, int step) {
  __shared__ float diagonal[tile][tile];
  __shared__ float block[tile][tile + 1];
  const int t = threadIdx.x;
  const int distance = (blockIdx.x / 2 + 1) * tile;
  float* corner = matrix + step * tile * (n + 1);
  const bool below = blockIdx.x % 2;
  float* mine = below ? corner + distance * n : corner + distance;
  for (int y = 0; y < tile; ++y) {
    diagonal[y][t] = corner[y * n + t];
    block[y][t] = mine[y * n + t];
  }
  __syncthreads();
  if (below) {
    for (int x = 0; x < tile; ++x) {
      for (int k = 0; k < x; ++k) block[t][x] = fmaf(-block[t][k], diagonal[k][x], block[t][x]);
      block[t][x] /= diagonal[x][x];
    }
  } else {
    for (int y = 1; y < tile; ++y) {
      for (int k = 0; k < y; ++k) block[y][t] = fmaf(-diagonal[y][k], block[k][t], block[y][t]);
    }
  }
  __syncthreads();
  for (int y = 0; y < tile; ++y) mine[y * n + t] = block[y][t];
}

extern "C" __global__ void inner_blocks(float* matrix, int n, int step) {
  __shared__ float left[tile][tile];
  __shared__ float top[tile][tile];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  float* corner = matrix + step * tile * (n + 1);
  float* row = corner + (blockIdx.y + 1) * tile * n;
  const int column = (blockIdx.x + 1) * tile;
  left[y][x] = row[y * n + x];
  top[y][x] = corner[y * n + column + x];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < tile; ++k) sum += left[y][k] * top[k][x];
  row[y * n + column + x] -= sum;
}
