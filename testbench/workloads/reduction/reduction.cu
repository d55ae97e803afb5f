// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_75 -O3 -o reduction.ptx reduction.cu

// Sums in two ways. Integers: a tree in shared memory, then one atomic per block. Floating point: the same tree, the
// blocks' sums in memory, and a second launch of one block over them, so that the order of additions is fixed.
constexpr int threads = 256;

template <class T>
__device__ T block_sum(T value) {
  __shared__ T sums[threads];
  const int t = threadIdx.x;
  sums[t] = value;
  __syncthreads();
  for (int distance = threads / 2; distance > 0; distance /= 2) {
    if (t < distance) sums[t] += sums[t + distance];
    __syncthreads();
  }
  return sums[0];
}

extern "C" __global__ void sum_words(const unsigned* in, unsigned n, unsigned* total) {
  unsigned sum = 0;
  for (unsigned i = blockIdx.x * threads + threadIdx.x; i < n; i += gridDim.x * threads) sum += in[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) atomicAdd(total, sum);
}

extern "C" __global__ void sum_floats(const float* in, unsigned n, float* sums) {
  float sum = 0;
  for (unsigned i = blockIdx.x * threads + threadIdx.x; i < n; i += gridDim.x * threads) sum += in[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}
