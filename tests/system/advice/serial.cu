// SPDX-License-Identifier: MIT
// As more.cu: work of few threads between two barriers, sums in steps that the compiler unrolled, blocks of unlike
// length on one SM, random constants; and kernels that look alike and are as they should be.
// Made into PTX by: nvcc -arch=compute_75 -lineinfo -ptx serial.cu
#define KERNEL extern "C" __global__ void

__device__ __forceinline__ float sum_of_warp(float x) {
  for (int j = 16; j > 0; j /= 2) x += __shfl_xor_sync(0xffffffff, x, j);
  return x;
}

// Serial work: one thread sums what all have made.
KERNEL one_sums(const float* in, float* out, int passes) {
  __shared__ float made[256];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
#pragma unroll 1
  for (int k = 0; k < passes; ++k) {
    made[threadIdx.x] = x;
    __syncthreads();
    if (threadIdx.x == 0) {
      float sum = 0;
      for (int j = 0; j < 256; ++j) sum += made[j];
      made[0] = sum;
    }
    __syncthreads();
    x = x * 0.5f + made[0];
    __syncthreads();
  }
  out[i] = x;
}
KERNEL one_sums_mended(const float* in, float* out, int passes) {
  __shared__ float made[8];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
#pragma unroll 1
  for (int k = 0; k < passes; ++k) {
    const float part = sum_of_warp(x);
    if (threadIdx.x % 32 == 0) made[threadIdx.x / 32] = part;
    __syncthreads();
    float sum = 0;
    for (int j = 0; j < 8; ++j) sum += made[j];
    x = x * 0.5f + sum;
    __syncthreads();
  }
  out[i] = x;
}

// Serial work at the kernel's end, while others have ended. Mended: shuffles.
KERNEL last_sum(const float* in, float* out) {
  __shared__ float made[256];
  made[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    float sum = 0;
    for (int j = 0; j < 256; ++j) sum += made[j];
    out[blockIdx.x] = sum;
  }
}
KERNEL last_sum_mended(const float* in, float* out) {
  __shared__ float made[8];
  const float part = sum_of_warp(in[blockIdx.x * blockDim.x + threadIdx.x]);
  if (threadIdx.x % 32 == 0) made[threadIdx.x / 32] = part;
  __syncthreads();
  if (threadIdx.x == 0) {
    float sum = 0;
    for (int j = 0; j < 8; ++j) sum += made[j];
    out[blockIdx.x] = sum;
  }
}

// Four threads sum a quarter each.
KERNEL four_sum(const float* in, float* out, int passes) {
  __shared__ float made[256];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
#pragma unroll 1
  for (int k = 0; k < passes; ++k) {
    made[threadIdx.x] = x;
    __syncthreads();
    if (threadIdx.x < 4) {
      float sum = 0;
      for (int j = 0; j < 64; ++j) sum += made[threadIdx.x + 4 * j];
      made[threadIdx.x] = sum;
    }
    __syncthreads();
    x = x * 0.5f + made[0] + made[1] + made[2] + made[3];
    __syncthreads();
  }
  out[i] = x;
}

// One thread orders what the block has in registers: no memory, an expression after the other.
KERNEL one_computes(const float* in, float* out, int passes) {
  __shared__ float table[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
#pragma unroll 1
  for (int k = 0; k < passes; ++k) {
    if (threadIdx.x == 0) {
#pragma unroll 1
      for (int j = 0; j < 64; ++j) table[j] = sqrtf(j * 0.5f + k) * 0.25f;
    }
    __syncthreads();
#pragma unroll 4
    for (int j = 0; j < 16; ++j) x = x * 0.5f + table[(threadIdx.x + j) % 64];
    __syncthreads();
  }
  out[i] = x;
}
KERNEL one_computes_mended(const float* in, float* out, int passes) {
  __shared__ float table[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
#pragma unroll 1
  for (int k = 0; k < passes; ++k) {
    if (threadIdx.x < 64) table[threadIdx.x] = sqrtf(threadIdx.x * 0.5f + k) * 0.25f;
    __syncthreads();
#pragma unroll 4
    for (int j = 0; j < 16; ++j) x = x * 0.5f + table[(threadIdx.x + j) % 64];
    __syncthreads();
  }
  out[i] = x;
}

// One thread sums what lies in global memory.
KERNEL one_reads(const float* in, float* out, int passes) {
  __shared__ float sum;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
#pragma unroll 1
  for (int k = 0; k < passes; ++k) {
    if (threadIdx.x == 0) {
      sum = 0;
#pragma unroll 4
      for (int j = 0; j < 64; ++j) sum += in[k * 64 + j];
    }
    __syncthreads();
    x = x * 0.5f + sum;
    __syncthreads();
  }
  out[i] = x;
}
KERNEL one_reads_mended(const float* in, float* out, int passes) {
  __shared__ float made[2];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
#pragma unroll 1
  for (int k = 0; k < passes; ++k) {
    if (threadIdx.x < 64) {
      const float part = sum_of_warp(in[k * 64 + threadIdx.x]);
      if (threadIdx.x % 32 == 0) made[threadIdx.x / 32] = part;
    }
    __syncthreads();
    x = x * 0.5f + made[0] + made[1];
    __syncthreads();
  }
  out[i] = x;
}

// Steps in shared memory, unrolled, with the threads that take part side by side or far apart.
KERNEL unrolled_steps(const float* in, float* out) {
  __shared__ float made[256];
  const int t = threadIdx.x;
  made[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
#pragma unroll
  for (int j = 128; j > 0; j /= 2) {
    if (t < j) made[t] += made[t + j];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = made[0];
}
KERNEL spread_steps(const float* in, float* out) {
  __shared__ float made[256];
  const int t = threadIdx.x;
  made[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int j = 1; j < 256; j *= 2) {
    const int at = 2 * j * t;
    if (at < 256) made[at] += made[at + j];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = made[0];
}
KERNEL steps_mended(const float* in, float* out) {
  __shared__ float made[8];
  const int t = threadIdx.x;
  const float part = sum_of_warp(in[blockIdx.x * 256 + t]);
  if (t % 32 == 0) made[t / 32] = part;
  __syncthreads();
  if (t >= 32) return;
  float sum = t < 8 ? made[t] : 0;
  for (int j = 4; j > 0; j /= 2) sum += __shfl_xor_sync(0xffffffff, sum, j);
  if (t == 0) out[blockIdx.x] = sum;
}

// Imbalance between blocks that share an SM: an eighth of them have eight times as much to do.
__device__ __forceinline__ float turns(float x, int n) {
#pragma unroll 1
  for (int k = 0; k < n; ++k) x = x * 1.01f + 0.5f;
  return x;
}
KERNEL eighth_is_long(const float* in, float* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = turns(in[i], blockIdx.x < gridDim.x / 8 ? 8 * passes : passes);
}
KERNEL eighth_is_long_mended(const float* in, float* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = turns(in[i], passes * 15 / 8);
}
// Each block has a little more to do than the one before.
KERNEL longer_and_longer(const float* in, float* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = turns(in[i], passes * 16 * (blockIdx.x + 1) / gridDim.x);
}
KERNEL longer_and_longer_mended(const float* in, float* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = turns(in[i], passes * 8);
}

// Constants by lane, at addresses that the data have.
__constant__ float table[1024];
KERNEL looked_up_at_random(const unsigned* in, float* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned x = in[i];
  float sum = 0;
  for (int k = 0; k < passes; ++k) {
    sum += table[x >> 22];
    x = x * 1664525u + 1013904223u;
  }
  out[i] = sum;
}
KERNEL looked_up_at_random_mended(const unsigned* in, float* out, int passes) {
  __shared__ float copy[1024];
  for (int k = threadIdx.x; k < 1024; k += blockDim.x) copy[k] = out[k];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned x = in[i];
  float sum = 0;
  for (int k = 0; k < passes; ++k) {
    sum += copy[x >> 22];
    x = x * 1664525u + 1013904223u;
  }
  out[i] = sum;
}

// Look-alikes. A search by one thread: where it goes on depends on what it has read.
KERNEL searched(const int* in, float* out, int n) {
  __shared__ int place;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) {
    int low = 0, high = n;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (in[middle] < i) low = middle + 1;
      else high = middle;
    }
    place = low;
  }
  __syncthreads();
  float x = i;
#pragma unroll 1
  for (int k = 0; k < 64; ++k) x = x * 0.5f + place;
  out[i] = x;
}
// A walk along a list, whose length is known.
KERNEL walked(const int* next, float* out, int n) {
  __shared__ int at;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) {
    int k = blockIdx.x;
#pragma unroll 4
    for (int j = 0; j < n; ++j) k = next[k] & 1023;
    at = k;
  }
  __syncthreads();
  float x = i;
#pragma unroll 1
  for (int k = 0; k < 64; ++k) x = x * 0.5f + at;
  out[i] = x;
}
// A block's sum that all threads need: each warp's, then that of the first warp.
KERNEL told_sum(const float* in, float* out, int passes) {
  __shared__ float made[8];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
#pragma unroll 1
  for (int k = 0; k < passes; ++k) {
    const float part = sum_of_warp(x);
    if (threadIdx.x % 32 == 0) made[threadIdx.x / 32] = part;
    __syncthreads();
    if (threadIdx.x < 32) {
      float sum = threadIdx.x < 8 ? made[threadIdx.x] : 0;
      for (int j = 4; j > 0; j /= 2) sum += __shfl_xor_sync(0xffffffff, sum, j);
      if (threadIdx.x == 0) made[0] = sum;
    }
    __syncthreads();
    x = x * 0.5f + made[0];
    __syncthreads();
  }
  out[i] = x;
}
// A tile with borders that few threads load, used many times.
KERNEL bordered(const float* in, float* out, int passes) {
  __shared__ float tile[264];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i + 4];
#pragma unroll 1
  for (int k = 0; k < passes; ++k) {
    tile[threadIdx.x + 4] = x;
    if (threadIdx.x < 4) {
      tile[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
      tile[threadIdx.x + 260] = in[blockIdx.x * blockDim.x + threadIdx.x + 260];
    }
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int j = 0; j < 9; ++j) sum += tile[threadIdx.x + j];
    x = sum * 0.125f;
    __syncthreads();
  }
  out[i] = x;
}

KERNEL needless_barriers(const float* in, float* out, int turns) {
  __shared__ float s[256];
  const int i = blockIdx.x * 256 + threadIdx.x;
  float x = in[i];
  for (int k = 0; k < turns; ++k) {
    s[threadIdx.x] = x;
    __syncthreads();
    x = s[threadIdx.x] * 0.5f + in[i + k * 256];
    __syncthreads();
  }
  out[i] = x;
}
