// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_75 -O3 -o transpose.ptx transpose.cu

// The transpose of a height x width matrix of 32-bit words in two ways: with strided stores, and through a
// shared-memory tile whose rows are padded by one word, so that reading a column has no bank conflict. 32 x 8 threads
// handle a 32 x 32 tile.
constexpr int tile = 32;
constexpr int rows = 8;

extern "C" __global__ void transpose_naive(const unsigned* in, unsigned* out, int width, int height) {
  const int x = blockIdx.x * tile + threadIdx.x;
  for (int k = 0; k < tile; k += rows) {
    const int y = blockIdx.y * tile + threadIdx.y + k;
    if (x < width && y < height) out[x * height + y] = in[y * width + x];
  }
}

extern "C" __global__ void transpose_padded(const unsigned* in, unsigned* out, int width, int height) {
  __shared__ unsigned words[tile][tile + 1];
  int x = blockIdx.x * tile + threadIdx.x;
  int y = blockIdx.y * tile + threadIdx.y;
  for (int k = 0; k < tile; k += rows) {
    if (x < width && y + k < height) words[threadIdx.y + k][threadIdx.x] = in[(y + k) * width + x];
  }
  __syncthreads();
  x = blockIdx.y * tile + threadIdx.x;
  y = blockIdx.x * tile + threadIdx.y;
  for (int k = 0; k < tile; k += rows) {
    if (x < height && y + k < width) out[(y + k) * height + x] = words[threadIdx.x][threadIdx.y + k];
  }
}
