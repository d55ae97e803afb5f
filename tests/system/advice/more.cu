// SPDX-License-Identifier: MIT
// As ../views/advice.cu: registers, atomics, imbalance and branches, each as it is and mended, and kernels of which
// nothing is to be said.
// Made into PTX by: nvcc -arch=compute_75 -lineinfo -ptx more.cu
#define KERNEL extern "C" __global__ void

// Register spills: the limit leaves 32 registers a thread on chips with 65,536 an SM, and the loop needs more.
template <int values>
__device__ __forceinline__ float mixed(const float* in, int passes) {
  float a[values];
#pragma unroll
  for (int k = 0; k < values; ++k) a[k] = in[threadIdx.x + 32 * k];
#pragma unroll 1
  for (int p = 0; p < passes; ++p) {
#pragma unroll
    for (int k = 0; k < values; ++k) a[k] = a[k] * 0.5f + a[(k + 7) % values];
  }
  float sum = 0;
#pragma unroll
  for (int k = 0; k < values; ++k) sum += a[k];
  return sum;
}
KERNEL __launch_bounds__(256, 8) spilled(const float* in, float* out, int passes) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = mixed<48>(in, passes);
}
KERNEL __launch_bounds__(256, 3) spilled_mended(const float* in, float* out, int passes) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = mixed<48>(in, passes);
}
// The same where a job, or .maxnreg, sets the limit.
KERNEL unlimited(const float* in, float* out, int passes) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = mixed<48>(in, passes);
}
KERNEL __maxnreg__(40) by_maxnreg(const float* in, float* out, int passes) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = mixed<48>(in, passes);
}

// Occupancy: values that are only needed after the loop take registers during it, while warps wait for memory. Mended,
// launch bounds make the compiler keep some of them in memory.
__device__ __forceinline__ float held(const int* in, int passes) {
  float kept[36];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
  for (int k = 0; k < 36; ++k) {
    kept[k] = i * (k + 0.5f);
    asm volatile("" : "+f"(kept[k]));  // not computed after the loop instead
  }
  int at = i;
#pragma unroll 1
  for (int k = 0; k < passes; ++k) at = (at + 4096 + in[at]) & 0xfffff;
  float sum = at;
#pragma unroll
  for (int k = 0; k < 36; ++k) sum = sum * 0.5f + kept[k];
  return sum;
}
KERNEL __launch_bounds__(256) many_registers(const int* in, float* out, int passes) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = held(in, passes);
}
KERNEL __launch_bounds__(256, 6) many_registers_mended(const int* in, float* out, int passes) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = held(in, passes);
}

// Occupancy by the shared memory that a launch asks for.
KERNEL with_tile(const int* in, float* out, int passes) {
  extern __shared__ int tile[];
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  int at = blockIdx.x * blockDim.x + tile[threadIdx.x];
  for (int k = 0; k < passes; ++k) at = (at + 4096 + in[at]) & 0xfffff;
  out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}

// Atomics by address: eight counters, each in a sector of its own.
KERNEL apart(const int* in, int* out, int passes) {
  int x = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int k = 0; k < passes; ++k) {
    atomicAdd(&out[(x & 7) * 8], 1);
    x = x * 5 + 1;
  }
}
KERNEL apart_mended(const int* in, int* out, int passes) {
  __shared__ int bins[8][32];  // a copy for each lane
  const int lane = threadIdx.x % 32;
  bins[threadIdx.x / 32][lane] = 0;
  __syncthreads();
  int x = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int k = 0; k < passes; ++k) {
    atomicAdd(&bins[x & 7][lane], 1);
    x = x * 5 + 1;
  }
  __syncthreads();
  int sum = bins[threadIdx.x / 32][lane];
  for (int j = 16; j > 0; j /= 2) sum += __shfl_xor_sync(0xffffffff, sum, j);
  if (lane == 0) atomicAdd(&out[threadIdx.x / 32 * 8], sum);
}
// 256 counters side by side, of which a warp's lanes hit few.
KERNEL histogram_of_few(const int* in, int* out, int passes) {
  int x = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int k = 0; k < passes; ++k) {
    atomicAdd(&out[(x & 3) * 64 + blockIdx.x % 64], 1);
    x = x * 5 + 1;
  }
}
KERNEL histogram_of_few_mended(const int* in, int* out, int passes) {
  __shared__ int bins[4][32];
  const int lane = threadIdx.x % 32;
  if (threadIdx.x < 128) bins[threadIdx.x / 32][lane] = 0;
  __syncthreads();
  int x = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int k = 0; k < passes; ++k) {
    atomicAdd(&bins[x & 3][lane], 1);
    x = x * 5 + 1;
  }
  __syncthreads();
  if (threadIdx.x >= 128) return;
  int sum = bins[threadIdx.x / 32][lane];
  for (int j = 16; j > 0; j /= 2) sum += __shfl_xor_sync(0xffffffff, sum, j);
  if (lane == 0) atomicAdd(&out[threadIdx.x / 32 * 64 + blockIdx.x % 64], sum);
}
// Each lane has a counter of its own: nothing to say.
KERNEL own_counters(const int* in, int* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int x = in[i];
  for (int k = 0; k < passes; ++k) {
    atomicAdd(&out[i], x);
    x = x * 5 + 1;
  }
}

// Imbalance within blocks: the first warp has the work of the block.
__device__ __forceinline__ float steps(float x, int n) {
#pragma unroll 1
  for (int k = 0; k < n; ++k) x = x * 1.5f + 0.25f;
  return x;
}
KERNEL one_warp_works(const float* in, float* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = steps(in[i], threadIdx.x < 32 ? passes : passes / 16);
}
KERNEL one_warp_works_mended(const float* in, float* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = steps(in[i], (passes + 7 * (passes / 16)) / 8);
}

// Divergence: two sides of equal length; one long side; and turns that differ from lane to lane.
__device__ __forceinline__ float two_ways(float x, bool one, int n, int m) {
  if (one) {
#pragma unroll 1
    for (int k = 0; k < n; ++k) x = x * 1.5f + 0.25f;
  } else {
#pragma unroll 1
    for (int k = 0; k < m; ++k) x = x * x - 0.5f;
  }
  return x;
}
KERNEL even_and_odd(const float* in, float* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = two_ways(in[i], threadIdx.x % 2 == 0, passes, passes);
}
KERNEL even_and_odd_mended(const float* in, float* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = two_ways(in[i], threadIdx.x / 32 % 2 == 0, passes, passes);
}
KERNEL one_side_long(const float* in, float* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = two_ways(in[i], threadIdx.x % 2 == 0, passes, passes / 16);
}
KERNEL one_side_long_mended(const float* in, float* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = two_ways(in[i], threadIdx.x / 32 % 2 == 0, passes, passes / 16);
}
KERNEL unlike_turns(const float* in, float* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = steps(in[i], (threadIdx.x % 32 + 1) * passes / 32);
}
KERNEL unlike_turns_mended(const float* in, float* out, int passes) {  // sorted: the blocks' turns differ
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = steps(in[i], (blockIdx.x % 32 + 1) * passes / 32);
}

// As it should be: each thread copies neighbouring words, with a remainder that only the last block has.
KERNEL plain_copy(const float4* in, float4* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}
// Sums of a block by shuffles, one atomic a block.
KERNEL plain_sum(const float4* in, float* out, int n) {
  __shared__ float sums[8];
  float sum = 0;
#pragma unroll 4
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float4 q = in[i];
    sum += q.x + q.y + q.z + q.w;
  }
  for (int j = 16; j > 0; j /= 2) sum += __shfl_xor_sync(0xffffffff, sum, j);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int j = 1; j < 8; ++j) sum += sums[j];
  atomicAdd(out, sum);
}
// A transpose through a padded tile.
KERNEL plain_transpose(const float* in, float* out, int n) {
  __shared__ float tile[32][33];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  const int u = blockIdx.y * 32 + threadIdx.x, v = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(v + j) * n + u] = tile[threadIdx.x][threadIdx.y + j];
}
