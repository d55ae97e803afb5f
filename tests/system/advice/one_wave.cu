// SPDX-License-Identifier: MIT
// As more.cu: kernels whose time, in a grid of one wave, is not that of their mean warp; loads between two barriers; a
// row for each thread; literals of double precision.
// Made into PTX by: nvcc -arch=compute_75 -lineinfo -ptx one_wave.cu
#define KERNEL extern "C" __global__ void

// Atomics by address: the sum of a block, of sixteen counters side by side. Warps end long before the last sum is made.
KERNEL sums_of_blocks(const float* in, float* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < passes; ++k) atomicAdd(&out[blockIdx.x % 16], in[i] * k);
}
KERNEL sums_of_blocks_mended(const float* in, float* out, int passes) {
  __shared__ float made[8];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < passes; ++k) sum += in[i] * k;
  for (int j = 16; j > 0; j /= 2) sum += __shfl_xor_sync(0xffffffff, sum, j);
  if (threadIdx.x % 32 == 0) made[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int j = 1; j < 8; ++j) sum += made[j];
  atomicAdd(&out[blockIdx.x % 16], sum);
}

// Prefetch distance: each load lies between two barriers. The compiler unrolls the loop, and leaves the loads there.
KERNEL between_barriers(const float* in, float* out, int passes) {
  __shared__ float made[256];
  const int i = blockIdx.x * 256 + threadIdx.x;
  float x = in[i];
  for (int k = 0; k < passes; ++k) {
    made[threadIdx.x] = x;
    __syncthreads();
    x = made[255 - threadIdx.x] * 0.5f + in[i + k * 256];
    __syncthreads();
  }
  out[i] = x;
}
KERNEL between_barriers_mended(const float* in, float* out, int passes) {
  __shared__ float made[256];
  const int i = blockIdx.x * 256 + threadIdx.x;
  float x = in[i];
  for (int k = 0; k < passes; k += 4) {
    float next[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) next[j] = in[i + (k + j) * 256];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      made[threadIdx.x] = x;
      __syncthreads();
      x = made[255 - threadIdx.x] * 0.5f + next[j];
      __syncthreads();
    }
  }
  out[i] = x;
}

// Uncoalesced access: a row for each thread. Its words are neighbours, but vectors of them are still far apart.
KERNEL row_of_thread(const float* in, float* out, int columns) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < columns; ++k) sum += in[i * columns + k];
  out[i] = sum;
}
KERNEL row_of_thread_mended(const float* in, float* out, int columns) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, rows = gridDim.x * blockDim.x;
  float sum = 0;
  for (int k = 0; k < columns; ++k) sum += in[k * rows + i];
  out[i] = sum;
}

// Double precision: floats are converted in each turn, and other floats wait for the results.
KERNEL double_literals(const float* in, float* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i], y = 0;
  for (int k = 0; k < passes; ++k) {
    y = y * x + 0.3;
    y = y * x + 1.7;
  }
  out[i] = y;
}
KERNEL double_literals_mended(const float* in, float* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i], y = 0;
  for (int k = 0; k < passes; ++k) {
    y = y * x + 0.3f;
    y = y * x + 1.7f;
  }
  out[i] = y;
}

// Register spills of 128 threads a block, with loads in the loop.
template <int values>
__device__ __forceinline__ float weighed(const float* in, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float a[values];
#pragma unroll
  for (int k = 0; k < values; ++k) a[k] = in[(i + k * 37) & 8191];
  for (int p = 0; p < passes; ++p) {
    const float by = in[(i * 3 + p) & 8191];
#pragma unroll
    for (int k = 0; k < values; ++k) a[k] = a[k] * by + a[(k + 1) % values];
  }
  float sum = 0;
#pragma unroll
  for (int k = 0; k < values; ++k) sum += a[k];
  return sum;
}
KERNEL __launch_bounds__(256, 8) spilled_weights(const float* in, float* out, int passes) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = weighed<40>(in, passes);
}
KERNEL __launch_bounds__(256, 3) spilled_weights_mended(const float* in, float* out, int passes) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = weighed<40>(in, passes);
}
