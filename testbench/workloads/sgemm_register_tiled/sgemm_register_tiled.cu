// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_75 -O3 -o sgemm_register_tiled.ptx sgemm_register_tiled.cu

// C = A * B for square row-major matrices whose side is a multiple of 64.
// Each block computes a 64 x 64 tile of C, each of its 16 x 16 threads 4 x 4 elements of it in registers. Shared memory
// holds 16 columns of A, transposed so that a thread reads four values at once, and 16 rows of B.
constexpr int side = 64;
constexpr int depth = 16;
constexpr int per_thread = 4;

extern "C" __global__ void sgemm_register_tiled(int n, const float* a, const float* b, float* c) {
  __shared__ float4 a_tile[depth][side / per_thread];
  __shared__ float4 b_tile[depth][side / per_thread];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const int thread = y * 16 + x;
  const float* a_rows = a + blockIdx.y * side * n;
  const float* b_columns = b + blockIdx.x * side;
  float sum[per_thread][per_thread] = {};
  for (int k0 = 0; k0 < n; k0 += depth) {
    // A: 64 rows of 16 values, four values a thread; B: 16 rows of 64 values, four values a thread.
    const int row = thread / 4;
    const int first = thread % 4 * 4;
    const float4 part = *reinterpret_cast<const float4*>(a_rows + row * n + k0 + first);
    float* a_values = reinterpret_cast<float*>(a_tile);
    a_values[(first + 0) * side + row] = part.x;
    a_values[(first + 1) * side + row] = part.y;
    a_values[(first + 2) * side + row] = part.z;
    a_values[(first + 3) * side + row] = part.w;
    b_tile[y][x] = *reinterpret_cast<const float4*>(b_columns + (k0 + y) * n + x * per_thread);
    __syncthreads();
    for (int k = 0; k < depth; ++k) {
      const float4 left = a_tile[k][y];
      const float4 right = b_tile[k][x];
      const float l[per_thread] = {left.x, left.y, left.z, left.w};
      const float r[per_thread] = {right.x, right.y, right.z, right.w};
      for (int i = 0; i < per_thread; ++i) {
        for (int j = 0; j < per_thread; ++j) sum[i][j] += l[i] * r[j];
      }
    }
    __syncthreads();
  }
  float* out = c + (blockIdx.y * side + y * per_thread) * n + blockIdx.x * side + x * per_thread;
  for (int i = 0; i < per_thread; ++i) {
    *reinterpret_cast<float4*>(out + i * n) = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
  }
}
