// SPDX-License-Identifier: MIT
// Copies from global to shared memory that a warp does not wait for.
// PTX: nvcc -ptx -arch=compute_80 -O3 asynchronous_copy.cu
#include <cstdint>

__device__ unsigned at(const void* shared) { return static_cast<unsigned>(__cvta_generic_to_shared(shared)); }
__device__ void copy_4(const void* to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at(to)), "l"(from) : "memory");
}
__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int n>
__device__ void wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory");
}
__device__ unsigned now() {
  unsigned t;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(t)::"memory");
  return t;
}

// One warp. Cycles: to issue a copy of a line that no cache has; until it is there; of a load and its use of another
// such line; of a copy of a line that the L1 has; until the older of two copies is there, of such a line; until the
// newer one is.
extern "C" __global__ void cycles(const unsigned* in, unsigned* out) {
  __shared__ unsigned place[3][32];
  const unsigned* const line = in + threadIdx.x;
  const unsigned t0 = now();
  copy_4(&place[0][threadIdx.x], line);
  const unsigned t1 = now();
  commit();
  wait<0>();
  const unsigned t2 = now();
  if (__ldca(line + 4096) == 1) out[6] = 0;  // a branch waits for the load
  const unsigned t3 = now();
  copy_4(&place[0][threadIdx.x], line);
  commit();
  wait<0>();
  const unsigned hit = now() - t3;
  copy_4(&place[1][threadIdx.x], line);
  commit();
  copy_4(&place[2][threadIdx.x], line + 8192);
  commit();
  const unsigned t4 = now();
  wait<1>();
  const unsigned t5 = now();
  wait<0>();
  const unsigned t6 = now();
  if (threadIdx.x != 0) return;
  out[0] = t1 - t0;
  out[1] = t2 - t1;
  out[2] = t3 - t2;
  out[3] = hit;
  out[4] = t5 - t4;
  out[5] = t6 - t4;
}

// The sum of k * tile[k] over the n tiles of a block, three of which are in flight, and each thread of which uses
// what another one has copied.
extern "C" __global__ void tiles(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned ring[4][128];
  const unsigned thread = threadIdx.x;
  const unsigned* const from = in + blockIdx.x * n * 128 + thread;
  for (int k = 0; k < 3; ++k) {
    if (k < n) copy_4(&ring[k][thread], from + k * 128);
    commit();
  }
  unsigned sum = 0;
  for (int k = 0; k < n; ++k) {
    wait<2>();
    __syncthreads();
    sum += ring[k % 4][(thread + k * 37) % 128] * (k + 1);
    if (k + 3 < n) copy_4(&ring[(k + 3) % 4][thread], from + (k + 3) * 128);
    commit();
  }
  out[blockIdx.x * 128 + thread] = sum;
}

// Copies of all, some or no bytes, by a count and by a predicate; only some lanes copy.
extern "C" __global__ void parts(const unsigned char* in, unsigned char* out) {
  __shared__ __align__(16) unsigned char place[3][128 * 16];
  const unsigned t = threadIdx.x;
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < 16; ++i) place[k][t * 16 + i] = 0xee;
  __syncthreads();
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at(&place[0][t * 16])), "l"(in + t * 16), "r"(t % 17) : "memory");
  if (t % 3 != 0)
    asm volatile("{.reg .pred p; setp.ne.u32 p, %2, 0; cp.async.ca.shared.global [%0+2048], [%1+8], 8, p;}" ::"r"(at(&place[0][t * 16])),
                 "l"(in + t * 16), "r"(t & 2)
                 : "memory");
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, 0;" ::"r"(at(&place[2][t * 16])), "l"(in) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < 16; ++i) out[k * 2048 + t * 16 + i] = place[k][(t ^ 5) * 16 + i];
}

// A warp exits while its copies are in flight; the next block on the SM must not see them.
extern "C" __global__ void leaves(const unsigned* in, unsigned* out) {
  extern __shared__ unsigned dynamic[];
  if (blockIdx.x % 2 == 0) {
    copy_4(&dynamic[threadIdx.x], in + blockIdx.x * 32 + threadIdx.x);
    return;
  }
  dynamic[threadIdx.x] = 7;
  for (int k = 0; k < 40; ++k) asm volatile("nanosleep.u32 20;");
  out[blockIdx.x * 32 + threadIdx.x] = dynamic[threadIdx.x];
}

// A copy to a place outside of shared memory, or from one outside of global memory.
extern "C" __global__ void outside(const unsigned* in, unsigned* out, unsigned to, unsigned long long from) {
  __shared__ unsigned place[32];
  place[threadIdx.x] = 0;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from != 0 ? from : reinterpret_cast<unsigned long long>(in)) : "memory");
  wait<0>();
  out[0] = place[threadIdx.x ^ 1];
}
