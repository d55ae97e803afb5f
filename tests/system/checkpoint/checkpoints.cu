// SPDX-License-Identifier: MIT
// Kernels whose results depend on what earlier launches left behind; checkpoints.ptx was made from them by
//   nvcc -std=c++17 -arch=compute_75 -ptx checkpoints.cu
// (CUDA 13.0) and is what the tests run.
#include <cstdio>

__constant__ unsigned table[16];
__device__ unsigned* kept[64];

/// Each thread follows `steps` words of `data`, from where it stands, and changes the last one.
extern "C" __global__ void wander(unsigned* data, unsigned words, unsigned steps, unsigned* sum) {
  __shared__ unsigned seen[256];
  unsigned at = (blockIdx.x * blockDim.x + threadIdx.x) % words;
  for (unsigned k = 0; k < steps; ++k) at = (data[at] * table[k % 16] + at + 1) % words;
  seen[threadIdx.x] = at;
  __syncthreads();
  data[(blockIdx.x * blockDim.x + threadIdx.x) % words] += seen[(threadIdx.x + 1) % blockDim.x];
  atomicAdd(sum, at);
}

/// Memory of malloc that the next launches free.
extern "C" __global__ void keeps(unsigned bytes, unsigned* out) {
  if (kept[threadIdx.x] != nullptr) {
    atomicAdd(out, *kept[threadIdx.x]);
    free(kept[threadIdx.x]);
    kept[threadIdx.x] = nullptr;
    return;
  }
  kept[threadIdx.x] = static_cast<unsigned*>(malloc(bytes + 16 * threadIdx.x));
  if (kept[threadIdx.x] != nullptr) *kept[threadIdx.x] = threadIdx.x;
}

extern "C" __global__ void speaks(const unsigned* sum) {
  if (threadIdx.x == 0) printf("block %u: %u\n", blockIdx.x, *sum);
}

extern "C" __global__ void counts_down(unsigned* left) {
  if (blockIdx.x == 0 && threadIdx.x == 0) --*left;
}
