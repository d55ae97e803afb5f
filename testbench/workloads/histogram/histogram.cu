// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_75 -O3 -o histogram.ptx histogram.cu

// Counts of each byte value: each block counts in shared memory with atomics, then adds its counts to the totals.
constexpr int bins = 256;

extern "C" __global__ void histogram(const unsigned* in, unsigned words, unsigned* totals) {
  __shared__ unsigned counts[bins];
  for (int bin = threadIdx.x; bin < bins; bin += blockDim.x) counts[bin] = 0;
  __syncthreads();
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x) {
    const unsigned word = in[i];
    atomicAdd(&counts[word & 255], 1);
    atomicAdd(&counts[word >> 8 & 255], 1);
    atomicAdd(&counts[word >> 16 & 255], 1);
    atomicAdd(&counts[word >> 24], 1);
  }
  __syncthreads();
  for (int bin = threadIdx.x; bin < bins; bin += blockDim.x) {
    if (counts[bin]) atomicAdd(&totals[bin], counts[bin]);
  }
}
