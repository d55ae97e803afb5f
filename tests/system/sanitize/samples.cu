// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_75 -std=c++17 -O3 -lineinfo -o samples.ptx samples.cu
// The errors that the public samples of NVIDIA's Compute Sanitizer show (memcheck, racecheck, synccheck), in kernels of
// our own after what they do: bad_NAME, and beside each good_NAME without the error. One block of 128 threads.
#define PAIR(name)                                                                  \
  extern "C" __global__ void bad_##name(unsigned* out) { name<false>(out); }      \
  extern "C" __global__ void good_##name(unsigned* out) { name<true>(out); }

__device__ unsigned variable[2];

// A variable of the module, written at an address that is not aligned.
template <bool good>
__device__ void device_variable(unsigned* out) {
  unsigned* const at = good ? variable : reinterpret_cast<unsigned*>(reinterpret_cast<char*>(variable) + 1);
  if (threadIdx.x == 0) *at = 42;
  out[threadIdx.x] = threadIdx.x;
}
PAIR(device_variable)

// An address of nowhere, in a function that the kernel calls.
__device__ __noinline__ void store_at(unsigned* at) { *at = 42; }
template <bool good>
__device__ void far_address(unsigned* out) {
  store_at(good ? out + threadIdx.x : reinterpret_cast<unsigned*>(0x87654320ull + 4 * threadIdx.x));
}
PAIR(far_address)

// One thread adds up what all threads of the block have written.
template <bool good>
__device__ void sum_of_block(unsigned* out) {
  __shared__ unsigned parts[128];
  parts[threadIdx.x] = out[threadIdx.x] + threadIdx.x;
  if (good) __syncthreads();
  if (threadIdx.x != 0) return;
  unsigned total = 0;
#pragma unroll 1
  for (unsigned k = 0; k < 128; ++k) total += parts[k];
  out[0] = total;
}
PAIR(sum_of_block)

// One thread of each warp adds up what its warp has written.
template <bool good>
__device__ void sum_of_warps(unsigned* out) {
  __shared__ unsigned parts[128], sums[4];
  parts[threadIdx.x] = out[threadIdx.x] + threadIdx.x;
  if (good) __syncwarp();
  if (threadIdx.x % 32 == 0) {
    unsigned total = 0;
#pragma unroll 1
    for (unsigned k = 0; k < 32; ++k) total += parts[threadIdx.x + k];
    sums[threadIdx.x / 32] = total;
  }
  __syncthreads();
  if (threadIdx.x == 0) out[0] = sums[0] + sums[1] + sums[2] + sums[3];
}
PAIR(sum_of_warps)

// A loop over chunks of the input, of which the last is not full: threads that have nothing to add skip the barrier.
template <bool good>
__device__ void tail_of_input(unsigned* out) {
  __shared__ unsigned parts[128];
  parts[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned chunk = 0; chunk < 4; ++chunk) {
    const bool inside = 128 * chunk + threadIdx.x < 4 * 128 - 16;
    if (inside) {
      parts[threadIdx.x] += out[threadIdx.x] + chunk;
      if (!good) __syncthreads();
    }
    if (good) __syncthreads();
  }
  out[threadIdx.x] = parts[threadIdx.x];
}
PAIR(tail_of_input)

// The mask has the lower half of the warp, and one thread more comes to the barrier.
template <bool good>
__device__ void mask_of_ballot(unsigned* out) {
  __shared__ unsigned parts[128];
  const unsigned lane = threadIdx.x % 32, mask = __ballot_sync(0xffffffffu, lane < 16);
  if (good ? lane < 16 : lane <= 16) {
    parts[threadIdx.x] = threadIdx.x;
    __syncwarp(mask);
    if (lane == 0) {
      unsigned total = 0;
#pragma unroll 1
      for (unsigned k = 0; k < 16; ++k) total += parts[threadIdx.x + k];
      out[threadIdx.x] = total;
    }
  }
  __syncthreads();
}
PAIR(mask_of_ballot)
