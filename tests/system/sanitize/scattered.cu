// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_80 -O3 -lineinfo -o scattered.ptx scattered.cu
// Lanes access elements of global memory far apart. Kernels with a race, race_NAME, and look-alikes without one,
// free_NAME. Blocks have 64 threads, and grids 4 blocks: one element for each thread.
#define PAIR(name, parameters, call_of_race, call_of_free)                  \
  extern "C" __global__ void race_##name parameters { call_of_race; }     \
  extern "C" __global__ void free_##name parameters { call_of_free; }

__device__ unsigned thread() { return blockIdx.x * 64 + threadIdx.x; }
__device__ unsigned far(unsigned i) { return i * 37 & 255; }

// Each thread reads an element and writes its own, or another's.
template <bool good, class T>
__device__ void updates(T* data) {
  const T value = data[far(thread())];
  data[far(thread() + (good ? 0 : 1))] = value + 5;
}
PAIR(words, (unsigned* out), updates<false>(out), updates<true>(out))
PAIR(bytes, (unsigned char* out), updates<false>(out), updates<true>(out))
PAIR(halves, (unsigned short* out), updates<false>(out), updates<true>(out))
PAIR(doubles, (double* out), updates<false>(out), updates<true>(out))

// All read words, and a thread of the last block writes one of them, or another word.
template <bool good>
__device__ void read_by_many(unsigned* out) {
  unsigned sum = 0;
  for (unsigned k = 0; k < 32; ++k) sum += out[far(thread() * 7 + k * 11) & 127];
  if (sum == 12345) out[200] = 1;
  if (thread() == 255) out[good ? 190 : 77] = 9;
}
PAIR(read_by_many, (unsigned* out), read_by_many<false>(out), read_by_many<true>(out))

template <bool good>
__device__ void permutation(unsigned* out) {
  out[far(thread()) & (good ? 255 : 127)] = thread() + 1;
}
PAIR(permutation, (unsigned* out), permutation<false>(out), permutation<true>(out))

template <bool good>
__device__ void counters(unsigned* out) {
  atomicAdd(&out[far(thread()) & 63], 1);
  if (thread() == 130) {
    if (good) atomicExch(&out[5], 3);
    else out[5] = 3;
  }
}
PAIR(counters, (unsigned* out), counters<false>(out), counters<true>(out))

template <bool good>
__device__ void counters_of_block(unsigned* out) {
  atomicAdd_block(&out[(far(threadIdx.x) & 63) + (good ? blockIdx.x * 64 : 0)], 1);
}
PAIR(counters_of_block, (unsigned* out), counters_of_block<false>(out), counters_of_block<true>(out))

// Reads of a counter before its atomic: of the own one, or of another's.
template <bool good>
__device__ void check_then_count(unsigned* out) {
  if (out[far(thread() + (good ? 0 : 3))] < 1000) atomicMax(&out[far(thread())], thread());
}
PAIR(check_then_count, (unsigned* out), check_then_count<false>(out), check_then_count<true>(out))

// Elements that the block's threads exchange through global memory.
template <bool good>
__device__ void exchange(unsigned* out) {
  unsigned* const own = out + blockIdx.x * 64;
  unsigned sum = 0;
  for (unsigned k = 0; k < 3; ++k) {
    own[threadIdx.x * 37 & 63] = thread() + k + sum;
    if (good || k != 1) __syncthreads();
    sum += own[(threadIdx.x + 9) * 37 & 63];
    __syncthreads();
  }
  own[threadIdx.x * 37 & 63] = sum;
}
PAIR(exchange, (unsigned* out), exchange<false>(out), exchange<true>(out))

// The same of a warp's lanes.
template <bool good>
__device__ void exchange_in_warp(unsigned* out) {
  const unsigned lane = threadIdx.x & 31;
  unsigned* const own = out + thread() / 32 * 32;
  own[lane * 5 & 31] = lane;
  if (good) __syncwarp();
  const unsigned value = own[(lane + 9) * 5 & 31];
  __syncwarp();
  own[lane * 5 & 31] = value;
}
PAIR(exchange_in_warp, (unsigned* out), exchange_in_warp<false>(out), exchange_in_warp<true>(out))

// Side by side, then far apart.
template <bool good>
__device__ void row_then_far(unsigned* out) {
  const unsigned value = out[thread()];
  __syncthreads();
  const unsigned at = far(thread());
  out[good ? (at & 63) + blockIdx.x * 64 : at] = value;
}
PAIR(row_then_far, (unsigned* out), row_then_far<false>(out), row_then_far<true>(out))

// Words of neighbours, side by side, but in two segments of the shadow for some warps. Here as many blocks and threads as
// the test says.
template <bool good, class T>
__device__ void add_neighbours(T* out, T* in) {
  T* const own = in + 160 * blockIdx.x + threadIdx.x + 5;
  const T sum = own[-1] + own[0] + own[1];
  if (good) __syncthreads();
  *own = sum;
  out[96 * blockIdx.x + threadIdx.x] = sum;
}
PAIR(neighbours, (unsigned* out, unsigned* in), add_neighbours<false>(out, in), add_neighbours<true>(out, in))
PAIR(wide_neighbours, (double* out, double* in), add_neighbours<false>(out, in), add_neighbours<true>(out, in))
PAIR(narrow_neighbours, (unsigned char* out, unsigned char* in), add_neighbours<false>(out, in),
     add_neighbours<true>(out, in))

// Many warps read a segment, some of them its first or last words alone. One thread writes a word.
template <bool good>
__device__ void row_of_neighbours(unsigned* out, unsigned* in) {
  unsigned sum = 0;
  for (int k = -3; k <= 3; ++k) sum += in[(threadIdx.x + 8 + k) % 1024];
  out[threadIdx.x] = sum;
  if (good) __syncthreads();
  if (threadIdx.x == 511) in[8] = sum;
}
PAIR(row_of_neighbours, (unsigned* out, unsigned* in), row_of_neighbours<false>(out, in),
     row_of_neighbours<true>(out, in))

// Several threads set an element: all to one value, or each to its own.
template <bool good, class T>
__device__ void marked(T* data) {
  data[far(thread()) & 31] = good ? 1 : thread();
}
PAIR(marked_words, (unsigned* out), marked<false>(out), marked<true>(out))
PAIR(marked_bytes, (unsigned char* out), marked<false>(out), marked<true>(out))

// A thread then sets one of them to another value.
template <bool good>
__device__ void marked_twice(unsigned char* data) {
  data[far(thread()) & 31] = 1;
  if (thread() == 255) data[good ? 200 : 5] = 2;
}
PAIR(marked_twice, (unsigned char* out), marked_twice<false>(out), marked_twice<true>(out))
