// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_75 -O3 -o bitonic_sort.ptx bitonic_sort.cu

// Bitonic sort: sequences that fit a block's shared memory (1024 keys) are sorted and merged there, wider steps use
// global memory.
constexpr int keys = 1024;

__device__ void order(unsigned& a, unsigned& b, bool rising) {
  if ((a > b) == rising) {
    const unsigned c = a;
    a = b;
    b = c;
  }
}

// Merges sequences of `first` to `last` keys, each twice as long as the one before; 512 threads handle 1024 keys.
extern "C" __global__ void sort_in_block(unsigned* all, unsigned first, unsigned last) {
  __shared__ unsigned part[keys];
  unsigned* mine = all + blockIdx.x * keys;
  const unsigned t = threadIdx.x;
  part[t] = mine[t];
  part[t + keys / 2] = mine[t + keys / 2];
  for (unsigned size = first; size <= last; size *= 2) {
    for (unsigned distance = min(size, keys) / 2; distance > 0; distance /= 2) {
      __syncthreads();
      const unsigned i = 2 * t - (t & (distance - 1));
      const bool rising = ((blockIdx.x * keys + i) & size) == 0;
      order(part[i], part[i + distance], rising);
    }
  }
  __syncthreads();
  mine[t] = part[t];
  mine[t + keys / 2] = part[t + keys / 2];
}

extern "C" __global__ void merge_step(unsigned* all, unsigned size, unsigned distance) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned i = 2 * t - (t & (distance - 1));
  order(all[i], all[i + distance], (i & size) == 0);
}
