// SPDX-License-Identifier: MIT
// As advice.cu, of kernels whose threads wait for each other, or for what they have just loaded.
// Made into PTX by: nvcc -arch=compute_75 -lineinfo -ptx advice_waits.cu
#define KERNEL extern "C" __global__ void

// Barriers: the block meets after each step of a sum, which could be made within warps.
KERNEL step_by_step(const float* in, float* out, int passes) {
  __shared__ float made[256];
  float mine = in[blockIdx.x * blockDim.x + threadIdx.x], total = 0;
  for (int k = 0; k < passes; ++k) {
    made[threadIdx.x] = mine;
    __syncthreads();
#pragma unroll 1
    for (int j = 128; j > 0; j /= 2) {
      if (threadIdx.x < j) made[threadIdx.x] += made[threadIdx.x + j];
      __syncthreads();
    }
    total += made[0];
    mine = mine * 0.5f + 1;
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = total;
}
KERNEL step_by_step_mended(const float* in, float* out, int passes) {
  __shared__ float made[8];
  float mine = in[blockIdx.x * blockDim.x + threadIdx.x], total = 0;
  for (int k = 0; k < passes; ++k) {
    float sum = mine;
    for (int j = 16; j > 0; j /= 2) sum += __shfl_xor_sync(0xffffffff, sum, j);
    if (threadIdx.x % 32 == 0) made[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int j = 0; j < 8; ++j) sum += made[j];
    total += sum;
    mine = mine * 0.5f + 1;
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = total;
}

// Barriers: a warp of the block has the longest part, and seven wait for it.
KERNEL uneven(const float* in, float* out, int passes) {
  __shared__ float made[256];
  float x = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int k = 0; k < passes; ++k) {
    const int turns = threadIdx.x < 32 ? 64 : 8;
#pragma unroll 1
    for (int j = 0; j < turns; ++j) x = x * 1.01f + 0.5f;
    made[threadIdx.x] = x;
    __syncthreads();
    x = made[255 - threadIdx.x];
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
KERNEL uneven_mended(const float* in, float* out, int passes) {
  __shared__ float made[256];
  float x = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int k = 0; k < passes; ++k) {
#pragma unroll 1
    for (int j = 0; j < 15; ++j) x = x * 1.01f + 0.5f;
    made[threadIdx.x] = x;
    __syncthreads();
    x = made[255 - threadIdx.x];
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

// Atomics by address: every thread adds to one counter.
KERNEL one_counter(const int* in, int* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
  for (int k = 0; k < passes; ++k) atomicAdd(out, in[i + k * stride]);
}
KERNEL one_counter_mended(const int* in, int* out, int passes) {
  __shared__ int sums[8];
  const int i = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
  int sum = 0;
  for (int k = 0; k < passes; ++k) sum += in[i + k * stride];
  for (int j = 16; j > 0; j /= 2) sum += __shfl_xor_sync(0xffffffff, sum, j);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int j = 1; j < 8; ++j) sum += sums[j];
  atomicAdd(out, sum);
}

// Atomics by address, in shared memory: all lanes of a warp count in few bins.
KERNEL few_bins(const int* in, int* out, int passes) {
  __shared__ int bins[4];
  if (threadIdx.x < 4) bins[threadIdx.x] = 0;
  __syncthreads();
  int x = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int k = 0; k < passes; ++k) {
    atomicAdd(&bins[x & 3], 1);
    x = x * 5 + 1;
  }
  __syncthreads();
  if (threadIdx.x < 4) out[blockIdx.x * 4 + threadIdx.x] = bins[threadIdx.x];
}
KERNEL few_bins_mended(const int* in, int* out, int passes) {
  __shared__ int bins[4][32];  // a copy for each lane
  const int lane = threadIdx.x % 32;
  if (threadIdx.x < 128) bins[threadIdx.x / 32][lane] = 0;
  __syncthreads();
  int x = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int k = 0; k < passes; ++k) {
    atomicAdd(&bins[x & 3][lane], 1);
    x = x * 5 + 1;
  }
  __syncthreads();
  if (threadIdx.x >= 4) return;
  int sum = 0;
  for (int j = 0; j < 32; ++j) sum += bins[threadIdx.x][(j + threadIdx.x * 8) % 32];
  out[blockIdx.x * 4 + threadIdx.x] = sum;
}

// Prefetch distance: each iteration loads a word and uses it at once.
KERNEL used_at_once(const float* in, float* out, int passes, int stride) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < passes; ++k) sum = sum * 0.5f + in[i + k * stride];
  out[i] = sum;
}
KERNEL used_at_once_mended(const float* in, float* out, int passes, int stride) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < passes; k += 4) {
    float next[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) next[j] = in[i + (k + j) * stride];
#pragma unroll
    for (int j = 0; j < 4; ++j) sum = sum * 0.5f + next[j];
  }
  out[i] = sum;
}

// The same, left to the compiler.
KERNEL left_to_it(const float* in, float* out, int passes, int stride) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < passes; ++k) sum = sum * 0.5f + in[i + k * stride];
  out[i] = sum;
}
