// SPDX-License-Identifier: MIT
// Three kernels as a first attempt writes them, and the same tuned: docs/use/report_tour.md shows their reports, and
// tests/viewers/source.mjs opens them.
// Made into PTX by: nvcc -arch=compute_75 -lineinfo -ptx six_kernels.cu
#define KERNEL extern "C" __global__ void

constexpr int tile = 32;     // of the transpose: 32 x 8 threads handle 32 x 32 words
constexpr int rows = 8;
constexpr int threads = 256; // of a block of the reductions
constexpr int small = 16;    // of SGEMM: tile of a block, and columns of A that are in shared memory at a time
constexpr int side = 64;     // tuned: tile of a block
constexpr int each = 4;      // tuned: rows and columns of a thread

KERNEL transpose_naive(const float* in, float* out, int n) {
  const int x = blockIdx.x * tile + threadIdx.x;
  const int y = blockIdx.y * tile + threadIdx.y;
  for (int k = 0; k < tile; k += rows) out[x * n + y + k] = in[(y + k) * n + x];
}

KERNEL transpose_tuned(const float* in, float* out, int n) {
  __shared__ float words[tile][tile + 1];  // padded: a column lies in 32 banks
  const int x = blockIdx.x * tile + threadIdx.x;
  const int y = blockIdx.y * tile + threadIdx.y;
  for (int k = 0; k < tile; k += rows) words[threadIdx.y + k][threadIdx.x] = in[(y + k) * n + x];
  __syncthreads();
  const int to_x = blockIdx.y * tile + threadIdx.x;
  const int to_y = blockIdx.x * tile + threadIdx.y;
  for (int k = 0; k < tile; k += rows) out[(to_y + k) * n + to_x] = words[threadIdx.x][threadIdx.y + k];
}

KERNEL reduction_naive(const float* in, float* out, int n) {
  __shared__ float sums[threads];
  const int t = threadIdx.x;
  sums[t] = in[blockIdx.x * threads + t];
  __syncthreads();
  for (int step = 1; step < threads; step *= 2) {  // threads at work lie ever further apart
    if (t % (2 * step) == 0) sums[t] += sums[t + step];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

__device__ __forceinline__ float sum_of_warp(float value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffff, value, step);
  return value;
}

__device__ __forceinline__ float sum_of_block(float value) {
  __shared__ float sums[threads / 32];
  value = sum_of_warp(value);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
  __syncthreads();
  return sum_of_warp(threadIdx.x < threads / 32 ? sums[threadIdx.x] : 0);
}

KERNEL reduction_tuned(const float* in, float* out, int n) {
  float sum = 0;
  for (int i = blockIdx.x * threads + threadIdx.x; i < n / 4; i += gridDim.x * threads) {
    const float4 q = reinterpret_cast<const float4*>(in)[i];
    sum += q.x + q.y + q.z + q.w;
  }
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

KERNEL sgemm_naive(const float* a, const float* b, float* c, int n) {
  const int row = blockIdx.y * small + threadIdx.y;
  const int column = blockIdx.x * small + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

__device__ __forceinline__ void multiply_add(float (&sum)[each][each], const float4& left, const float4& right) {
  const float l[each] = {left.x, left.y, left.z, left.w};
  const float r[each] = {right.x, right.y, right.z, right.w};
  for (int i = 0; i < each; ++i)
    for (int j = 0; j < each; ++j) sum[i][j] += l[i] * r[j];
}

KERNEL sgemm_tuned(const float* a, const float* b, float* c, int n) {
  __shared__ float4 a_tile[small][side / each];
  __shared__ float4 b_tile[small][side / each];
  const int x = threadIdx.x, y = threadIdx.y, thread = y * small + x;
  const int row = thread / 4, first = thread % 4 * each;
  float sum[each][each] = {};
  for (int k0 = 0; k0 < n; k0 += small) {
    const float4 part = *reinterpret_cast<const float4*>(a + (blockIdx.y * side + row) * n + k0 + first);
    float* values = reinterpret_cast<float*>(a_tile);
    values[(first + 0) * side + row] = part.x;
    values[(first + 1) * side + row] = part.y;
    values[(first + 2) * side + row] = part.z;
    values[(first + 3) * side + row] = part.w;
    b_tile[y][x] = *reinterpret_cast<const float4*>(b + (k0 + y) * n + blockIdx.x * side + x * each);
    __syncthreads();
    for (int k = 0; k < small; ++k) multiply_add(sum, a_tile[k][y], b_tile[k][x]);
    __syncthreads();
  }
  for (int i = 0; i < each; ++i)
    *reinterpret_cast<float4*>(c + (blockIdx.y * side + y * each + i) * n + blockIdx.x * side + x * each) =
        make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
}
