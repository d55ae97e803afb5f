// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_75 -O3 -lineinfo -o checks.ptx checks.cu
// Kernels with an error of memory, initialisation, synchronisation or with a leak, bad_NAME, and correct ones, good_NAME.
// After the examples in the documentation of NVIDIA's Compute Sanitizer, written anew.
#include <cstdlib>

#define PAIR(name, parameters, arguments)                                       \
  extern "C" __global__ void bad_##name parameters { name<false> arguments; } \
  extern "C" __global__ void good_##name parameters { name<true> arguments; }

// A pointer to a number that begins one byte too far.
template <bool good>
__device__ void misaligned(unsigned* out) {
  char* const p = reinterpret_cast<char*>(out) + (good ? 4 : 1);
  *reinterpret_cast<unsigned*>(p) = 42;
}
PAIR(misaligned, (unsigned* out), (out))

template <bool good>
__device__ void out_of_bounds(unsigned* out, unsigned count) {
  const unsigned k = blockIdx.x * blockDim.x + threadIdx.x;
  if (good && k >= count) return;
  out[k] = k;
}
PAIR(out_of_bounds, (unsigned* out, unsigned count), (out, count))

template <bool good>
__device__ void wild(unsigned* out) {
  unsigned* const p = good ? out : reinterpret_cast<unsigned*>(0x87654320);
  *p = 42;
}
PAIR(wild, (unsigned* out), (out))

template <bool good>
__device__ void behind_shared(unsigned* out) {
  extern __shared__ unsigned s[];
  s[threadIdx.x + (good ? 0 : 8)] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x];
}
PAIR(behind_shared, (unsigned* out), (out))

template <bool good>
__device__ void freed_memory(unsigned* out) {
  unsigned* const p = static_cast<unsigned*>(malloc(64));
  p[0] = threadIdx.x;
  if (good) out[threadIdx.x] = p[0];
  free(p);
  if (!good) out[threadIdx.x] = p[0];
}
PAIR(freed_memory, (unsigned* out), (out))

template <bool good>
__device__ void behind_malloc(unsigned* out) {
  volatile unsigned* const p = static_cast<unsigned*>(malloc(40));
  p[good ? 9 : 10] = threadIdx.x;
  out[threadIdx.x] = threadIdx.x;
  free(const_cast<unsigned*>(p));
}
PAIR(behind_malloc, (unsigned* out), (out))

template <bool good>
__device__ void unwritten_shared(unsigned* out) {
  __shared__ unsigned s[64];
  if (good || threadIdx.x < 63) s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = s[63 - threadIdx.x];
}
PAIR(unwritten_shared, (unsigned* out), (out))

template <bool good>
__device__ void unwritten_malloc(unsigned* out) {
  volatile unsigned* const p = static_cast<unsigned*>(malloc(64));
  if (good) p[3] = threadIdx.x;
  out[threadIdx.x] = p[3];
  free(const_cast<unsigned*>(p));
}
PAIR(unwritten_malloc, (unsigned* out), (out))

template <bool good>
__device__ void unwritten_local(unsigned* out, unsigned count) {
  volatile unsigned a[16];
  for (unsigned k = 0; k < (good ? 16 : count); ++k) a[k] = k;
  out[threadIdx.x] = a[(threadIdx.x + count) % 16];
}
PAIR(unwritten_local, (unsigned* out, unsigned count), (out, count))

// The last round of the loop is not for all threads.
template <bool good>
__device__ void divergent_barrier(unsigned* out, unsigned count) {
  __shared__ unsigned s[64];
  s[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned b = 0; b * 64 < count; ++b) {
    const unsigned k = b * 64 + threadIdx.x;
    if (good) {
      if (k < count) s[threadIdx.x] += k;
      __syncthreads();
    } else if (k < count) {
      s[threadIdx.x] += k;
      __syncthreads();
    }
  }
  if (threadIdx.x == 0) out[0] = s[0] + s[1];
}
PAIR(divergent_barrier, (unsigned* out, unsigned count), (out, count))

template <bool good>
__device__ void two_barriers(unsigned* out) {
  __shared__ unsigned s[64];
  s[threadIdx.x] = threadIdx.x;
  if (threadIdx.x % 2 == 0 || good) {
    __syncthreads();
    out[threadIdx.x] = 1;
  } else {
    __syncthreads();
    out[threadIdx.x] = s[0];
  }
}
PAIR(two_barriers, (unsigned* out), (out))

// Threads that leave the kernel before its barriers do not count.
template <bool good>
__device__ void leaving_threads(unsigned* out, unsigned count) {
  __shared__ unsigned s[64];
  if (good && threadIdx.x >= count) return;
  s[threadIdx.x] = threadIdx.x;
  if (good || threadIdx.x < count) __syncthreads();
  out[threadIdx.x] = s[threadIdx.x];
}
PAIR(leaving_threads, (unsigned* out, unsigned count), (out, count))

template <bool good>
__device__ void member_mask(unsigned* out) {
  if (threadIdx.x < 32) __syncwarp(good ? 0xffffffff : 0x0fffffff);
  out[threadIdx.x] = threadIdx.x;
}
PAIR(member_mask, (unsigned* out), (out))

template <bool good>
__device__ void leak(unsigned* out) {
  unsigned* const p = static_cast<unsigned*>(malloc(48));
  p[0] = threadIdx.x;
  out[threadIdx.x] = p[0];
  if (good || threadIdx.x % 2 == 0) free(p);
}
PAIR(leak, (unsigned* out), (out))

// Half of a vector has a value.
template <bool good>
__device__ void half_written(unsigned* out) {
  __shared__ uint2 s[64];
  s[threadIdx.x].x = threadIdx.x;
  if (good) s[threadIdx.x].y = 1;
  __syncthreads();
  const uint2 w = s[63 - threadIdx.x];
  out[threadIdx.x] = w.x + w.y;
}
PAIR(half_written, (unsigned* out), (out))

// Half of the lanes shuffle, and name all.
template <bool good>
__device__ void half_of_the_lanes(unsigned* out) {
  unsigned value = threadIdx.x;
  if (threadIdx.x % 32 < 16) value = __shfl_sync(good ? 0xffffu : ~0u, value, 3);
  out[threadIdx.x] = value;
}
PAIR(half_of_the_lanes, (unsigned* out), (out))

// Half of the lanes shuffle, and name all; the others wait at the barrier behind.
template <bool good>
__device__ void half_before_a_barrier(unsigned* out) {
  unsigned value = threadIdx.x;
  if (threadIdx.x % 32 < 16) value = __shfl_sync(good ? 0xffffu : ~0u, value, 3);
  __syncthreads();
  out[threadIdx.x] = value;
}
PAIR(half_before_a_barrier, (unsigned* out), (out))

// Behind a block of malloc, where the next one might lie.
template <bool good>
__device__ void next_malloc(unsigned* out) {
  volatile unsigned* const p = static_cast<unsigned*>(malloc(64));
  volatile unsigned* const q = static_cast<unsigned*>(malloc(64));
  q[0] = threadIdx.x;
  p[good ? 15 : 19] = threadIdx.x;
  out[threadIdx.x] = q[0];
  free(const_cast<unsigned*>(p));
  free(const_cast<unsigned*>(q));
}
PAIR(next_malloc, (unsigned* out), (out))

template <bool good>
__device__ void freed_twice(unsigned* out) {
  unsigned* const p = static_cast<unsigned*>(malloc(64));
  out[threadIdx.x] = threadIdx.x;
  free(p);
  if (!good) free(p);
}
PAIR(freed_twice, (unsigned* out), (out))

// All that the heap has; and one word more.
template <bool good>
__device__ void whole_heap(unsigned* out) {
  unsigned blocks = 0;
  if (threadIdx.x == 0) {
    unsigned *last = nullptr, *p;
    while ((p = static_cast<unsigned*>(malloc(1u << 20))) != nullptr) {
      *reinterpret_cast<unsigned**>(p) = last;
      last = p;
      ++blocks;
    }
    if (!good && last != nullptr) last[1u << 18] = 1;
    while (last != nullptr) {
      p = *reinterpret_cast<unsigned**>(last);
      free(last);
      last = p;
    }
  }
  out[threadIdx.x] = blocks;
}
PAIR(whole_heap, (unsigned* out), (out))

// Half of the lanes vote, and name all; the others are at the __syncwarp behind. Two __syncwarp may meet.
template <bool good>
__device__ void half_vote(unsigned* out) {
  unsigned value = threadIdx.x;
  if (threadIdx.x % 32 < 16) value = __ballot_sync(good ? 0xffffu : ~0u, value & 1);
  __syncwarp();
  if (threadIdx.x % 32 < 16) {
    out[threadIdx.x] = 2 * value;
    __syncwarp();
  } else {
    out[threadIdx.x] = 3 * value;
    __syncwarp();
  }
}
PAIR(half_vote, (unsigned* out), (out))

// Lanes shuffle for which others have exited. That is allowed if their values are not taken.
template <bool good>
__device__ void exited_lanes(unsigned* out) {
  if (threadIdx.x % 32 >= 16) return;
  out[threadIdx.x] = __shfl_down_sync(~0u, threadIdx.x, 4, good ? 16 : 32);
}
PAIR(exited_lanes, (unsigned* out), (out))

// A sum of the lanes that are left; or of all.
template <bool good>
__device__ void sum_of_the_left(unsigned* out, unsigned count) {
  const unsigned lane = threadIdx.x % 32;
  if (lane >= count - 40) return;
  unsigned sum = threadIdx.x;
  for (unsigned d = 16; d > 0; d /= 2) {
    const unsigned other = __shfl_down_sync(~0u, sum, d);
    if (!good || lane + d < count - 40) sum += other;
  }
  if (lane == 0) out[threadIdx.x / 32] = sum;
}
PAIR(sum_of_the_left, (unsigned* out, unsigned count), (out, count))

// Three bytes of a word have a value.
template <bool good>
__device__ void three_bytes(unsigned* out) {
  __shared__ unsigned s[64];
  unsigned char* const c = reinterpret_cast<unsigned char*>(s + threadIdx.x);
  for (unsigned k = 0; k < (good ? 4 : 3); ++k) c[k] = static_cast<unsigned char>(threadIdx.x + k);
  __syncthreads();
  out[threadIdx.x] = s[63 - threadIdx.x] * 3;
}
PAIR(three_bytes, (unsigned* out), (out))

// A structure of three bytes that is copied with its gap, which is not used; or it is.
template <bool good>
__device__ void gap_of_a_structure(unsigned* out) {
  __shared__ unsigned s[64];
  unsigned char* const c = reinterpret_cast<unsigned char*>(s + threadIdx.x);
  for (unsigned k = 0; k < 3; ++k) c[k] = static_cast<unsigned char>(threadIdx.x + k);
  __syncthreads();
  const unsigned word = s[63 - threadIdx.x];
  __syncthreads();
  s[threadIdx.x] = word;
  out[threadIdx.x] = (good ? (word & 0xffffff) : (word >> 24)) + 1;
  out[threadIdx.x] += good ? (word >> 16 & 0xff) * 5 : 0;
}
PAIR(gap_of_a_structure, (unsigned* out), (out))

// A decision by a comparison with a byte that has no value.
template <bool good>
__device__ void decides_by_a_byte(unsigned* out) {
  __shared__ unsigned s[64];
  if (good) s[threadIdx.x] = 0;
  unsigned short* const c = reinterpret_cast<unsigned short*>(s + threadIdx.x);
  c[1] = static_cast<unsigned short>(threadIdx.x + 1);
  __syncthreads();
  if (s[63 - threadIdx.x] > 0x80004) asm volatile("st.global.u32 [%0], 1;" ::"l"(out + threadIdx.x) : "memory");
}
PAIR(decides_by_a_byte, (unsigned* out), (out))

// A byte without a value that is taken out of its word by a shift; or copied with the others, to another place.
template <bool good>
__device__ void shifted_byte(unsigned* out) {
  __shared__ unsigned s[64];
  unsigned char* const c = reinterpret_cast<unsigned char*>(s + threadIdx.x);
  for (unsigned k = 0; k < 3; ++k) c[k] = static_cast<unsigned char>(threadIdx.x + k);
  __syncthreads();
  const unsigned word = s[63 - threadIdx.x];
  unsigned byte;  // not by a load of it
  asm volatile("shr.u32 %0, %1, 24;" : "=r"(byte) : "r"(word));
  out[threadIdx.x] = good ? __funnelshift_r(word, word, 8) : byte;
}
PAIR(shifted_byte, (unsigned* out), (out))

// The same by a mask.
template <bool good>
__device__ void masked_byte(unsigned* out) {
  __shared__ unsigned s[64];
  unsigned char* const c = reinterpret_cast<unsigned char*>(s + threadIdx.x);
  for (unsigned k = 0; k < 3; ++k) c[k] = static_cast<unsigned char>(threadIdx.x + k);
  __syncthreads();
  out[threadIdx.x] = s[63 - threadIdx.x] & (good ? 0xffffff : 0xff000000);
}
PAIR(masked_byte, (unsigned* out), (out))

// Shifted by a part of a byte.
template <bool good>
__device__ void shifted_bits(unsigned* out, unsigned count) {
  __shared__ unsigned s[64];
  unsigned char* const c = reinterpret_cast<unsigned char*>(s + threadIdx.x);
  for (unsigned k = 0; k < 3; ++k) c[k] = static_cast<unsigned char>(threadIdx.x + k);
  __syncthreads();
  out[threadIdx.x] = s[63 - threadIdx.x] >> (count - 59) & (good ? 0xffff : 0xffffff);
}
PAIR(shifted_bits, (unsigned* out, unsigned count), (out, count))

template <bool good>
__device__ void inverted_bits(unsigned* out, unsigned count) {
  __shared__ unsigned s[64];
  unsigned char* const c = reinterpret_cast<unsigned char*>(s + threadIdx.x);
  for (unsigned k = 0; k < 3; ++k) c[k] = static_cast<unsigned char>(threadIdx.x + k);
  __syncthreads();
  const unsigned word = s[63 - threadIdx.x] ^ count;
  out[threadIdx.x] = good ? word & 0xffffff : word;
}
PAIR(inverted_bits, (unsigned* out, unsigned count), (out, count))

// A field of a word whose last byte has no value is set.
template <bool good>
__device__ void field_of_a_word(unsigned* out) {
  __shared__ unsigned s[64];
  unsigned char* const c = reinterpret_cast<unsigned char*>(s + threadIdx.x);
  for (unsigned k = 0; k < 3; ++k) c[k] = static_cast<unsigned char>(threadIdx.x + k);
  __syncthreads();
  unsigned word = s[63 - threadIdx.x];
  word = (word & ~0xf0u) | (threadIdx.x & 15) << 4;
  __syncthreads();
  s[threadIdx.x] = word;
  out[threadIdx.x] = good ? word & 0xf0 : (word & 0xf0000000) + 1;
}
PAIR(field_of_a_word, (unsigned* out), (out))

// Each lane clears its bit of a word, as a barrier of warps begins.
template <bool good>
__device__ void bit_by_bit(unsigned* out) {
  __shared__ unsigned bits[2];
  unsigned* const own = bits + threadIdx.x / 32;
  const unsigned lane = threadIdx.x % 32;
  if (good || lane != 31) atomicAnd(own, ~(1u << lane));
  __syncwarp();
  if (lane < 16) atomicOr(own, 1u << lane);
  __syncwarp();
  out[threadIdx.x] = *own + 1;
}
PAIR(bit_by_bit, (unsigned* out), (out))

// A shuffle gives no value of a lane that its mask leaves out.
template <bool good>
__device__ void lane_left_out(unsigned* out) {
  if (threadIdx.x % 32 < 16) out[threadIdx.x] = __shfl_xor_sync(0xffff, threadIdx.x, good ? 8 : 16);
  else out[threadIdx.x] = 1;
}
PAIR(lane_left_out, (unsigned* out), (out))

__constant__ unsigned table[16];
template <bool good>
__device__ void behind_constants(unsigned* out, unsigned count) {
  out[threadIdx.x] = table[good ? threadIdx.x % 16 : 1000 * count + threadIdx.x];
}
PAIR(behind_constants, (unsigned* out, unsigned count), (out, count))

// One warp of two comes to a barrier for both.
template <bool good>
__device__ void lonely_barrier(unsigned* out) {
  if (good || threadIdx.x < 32) asm volatile("bar.sync 1, 64;" ::: "memory");
  out[threadIdx.x] = 1;
}
PAIR(lonely_barrier, (unsigned* out), (out))
