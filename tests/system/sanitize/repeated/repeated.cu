// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_75 -O3 -lineinfo -o repeated.ptx repeated.cu
// Threads access the same words again and again. Kernels with a race, race_NAME, and look-alikes without one,
// free_NAME. Blocks have 64 threads.
#define PAIR(name)                                                                        \
  extern "C" __global__ void race_##name(unsigned* out) { name<false>(out); } \
  extern "C" __global__ void free_##name(unsigned* out) { name<true>(out); }

constexpr int turns = 100;

// Volatile words, and a plain read of what the other warp has written.
template <bool good>
__device__ void volatile_then_read(unsigned* out) {
  __shared__ unsigned s[64];
  volatile unsigned* const v = s;
  for (int k = 0; k < turns; ++k) v[threadIdx.x] = k;
  if (good) __syncthreads();
  out[threadIdx.x] = s[threadIdx.x ^ 32];
}
PAIR(volatile_then_read)

// A plain write of what the other warp has read in many patterns.
template <bool good>
__device__ void volatile_then_write(unsigned* out) {
  __shared__ unsigned s[64];
  volatile unsigned* const v = s;
  s[threadIdx.x] = 1;
  __syncthreads();
  unsigned sum = 0;
  for (int k = 0; k < turns; ++k) sum += v[(threadIdx.x ^ (k & 31)) & (good ? 63 : 31)];
  if (good) __syncthreads();
  s[threadIdx.x] = sum;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x];
}
PAIR(volatile_then_write)

// Bytes.
template <bool good>
__device__ void volatile_bytes(unsigned* out) {
  __shared__ unsigned char s[64];
  volatile unsigned char* const v = s;
  v[threadIdx.x] = threadIdx.x;
  for (int k = 0; k < turns; ++k) v[threadIdx.x] = v[threadIdx.x] + k;
  out[threadIdx.x] = s[good ? threadIdx.x : threadIdx.x ^ 33];
}
PAIR(volatile_bytes)

// Lanes write a word one after another, and a lane of another warp, or of this one after __syncwarp, writes it.
template <bool good>
__device__ void volatile_turns(unsigned* out) {
  __shared__ unsigned s[2];
  volatile unsigned* const v = s;
  for (int k = 0; k < turns; ++k)
    if ((threadIdx.x & 31) == (k & 31)) v[threadIdx.x / 32] = k;
  __syncwarp();
  if (threadIdx.x == (good ? 5 : 37)) s[0] = 7;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x / 32];
}
PAIR(volatile_turns)

// Atomics, and a plain write of a counter.
template <bool good>
__device__ void counted_then_reset(unsigned* out) {
  __shared__ unsigned s[16];
  if (threadIdx.x < 16) s[threadIdx.x] = 0;
  __syncthreads();
  for (int k = 0; k < turns; ++k) {
    atomicAdd(&s[threadIdx.x & 15], 1);
    __syncwarp();
  }
  if (good) __syncthreads();
  if (threadIdx.x == 40) s[3] = 7;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x & 15];
}
PAIR(counted_then_reset)

// A fence and a flag that are volatile, among volatile words.
template <bool good>
__device__ void flag_among_words(unsigned* out) {
  __shared__ unsigned s[64];
  __shared__ volatile unsigned flag;
  volatile unsigned* const v = s;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x >= 32) {
    for (int k = 0; k < turns; ++k) v[threadIdx.x] = k;
    if (good) __threadfence_block();
    if (threadIdx.x == 40) flag = 1;
  } else {
    while (flag == 0) {}
    __threadfence_block();
    out[threadIdx.x] = s[40];
  }
}
PAIR(flag_among_words)

// Words race in a loop, and then with other accesses.
extern "C" __global__ void many_races(unsigned* out) {
  out += blockIdx.x * 128;
  __shared__ unsigned s[64];
  unsigned sum = s[threadIdx.x] = threadIdx.x;
  __syncthreads();
#pragma unroll 1
  for (int k = 0; k < 20 * turns; ++k) {
    s[threadIdx.x] = sum;
    sum += s[threadIdx.x ^ 32];
  }
  out[threadIdx.x] = sum;
  if (threadIdx.x < 8) s[threadIdx.x + 32] = 7;
  __syncthreads();
  out[threadIdx.x + 64] = s[threadIdx.x];
}

// The lanes of a warp exchange words with __syncwarp between, so that what they did before is in the past of what they do
// next: of their own, not of the other warp's.
__device__ unsigned exchanged(unsigned* s) {
  unsigned sum = threadIdx.x;
  for (int k = 0; k < turns; ++k) {
    s[threadIdx.x] = sum;
    __syncwarp();
    sum += s[threadIdx.x ^ (k & 31)];
    __syncwarp();
  }
  return sum;
}

template <bool good>
__device__ void exchange_then_read(unsigned* out) {
  __shared__ unsigned s[64];
  const unsigned sum = exchanged(s);
  if (good) __syncthreads();
  out[threadIdx.x] = sum + s[threadIdx.x ^ 32];
}
PAIR(exchange_then_read)

template <bool good>
__device__ void exchange_then_write(unsigned* out) {
  __shared__ unsigned s[64];
  const unsigned sum = exchanged(s);
  if (good) __syncthreads();
  s[threadIdx.x ^ 32] = sum;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x];
}
PAIR(exchange_then_write)

// Words that a warp has only read.
template <bool good>
__device__ void table_then_write(unsigned* out) {
  __shared__ unsigned s[64], table[64];
  table[threadIdx.x] = threadIdx.x;
  __syncthreads();
  unsigned sum = table[threadIdx.x ^ 1];
  __syncwarp();
  sum += exchanged(s);
  if (good) __syncthreads();
  table[threadIdx.x ^ (good ? 0 : 32)] = sum;
  __syncthreads();
  out[threadIdx.x] = table[threadIdx.x];
}
PAIR(table_then_write)

// Lanes that diverge independently: in the last turns nothing orders a write with the reads before it.
template <bool good>
__device__ void exchange_apart(unsigned* out) {
  __shared__ unsigned s[64];
  unsigned sum = threadIdx.x;
  for (int k = 0; k < turns; ++k) {
    s[threadIdx.x] = sum;
    __syncwarp();
    sum += s[threadIdx.x ^ (k & 31)];
    if (good || k < turns - 2) __syncwarp();
  }
  out[threadIdx.x] = sum;
}
PAIR(exchange_apart)
