// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_90a -std=c++17 -O3 -lineinfo -o signals.ptx signals.cu
// Stores and copies whose end an mbarrier tells: st.async, red.async and cp.async.mbarrier.arrive. Blocks of 64 threads,
// in pairs as in races.cu.
#include "../transfers.cuh"

__device__ u32 rank() {
  u32 r;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  return r;
}
__device__ u32 of_other(const void* shared) {
  u32 at;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(address_of(shared)), "r"(rank() ^ 1));
  return at;
}
__device__ void meet() {
  asm volatile("barrier.cluster.arrive.aligned;\n barrier.cluster.wait.aligned;" ::: "memory");
}
__device__ void send(u32 to, u32 value, u32 barrier) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(to), "r"(value),
               "r"(barrier)
               : "memory");
}
__device__ void send_two(u32 to, u32 value, u32 barrier) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.u32 [%0], {%1, %1}, [%2];" ::"r"(to),
               "r"(value), "r"(barrier)
               : "memory");
}
__device__ void send_sum(u32 to, u32 value, u32 barrier) {
  asm volatile(
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" ::"r"(to),
      "r"(value), "r"(barrier)
      : "memory");
}

template <bool good>
__device__ void store_to_other(u32* out) {
  __shared__ u32 s[64];
  __shared__ u64 full;
  if (threadIdx.x == 0) start(full, 1), expect(full, 256);
  meet();
  send(of_other(&s[threadIdx.x]), threadIdx.x + 3, of_other(&full));
  if (good) wait(full, 0);
  out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
  meet();
}
PAIR_OF_CLUSTERS(store_to_other, (u32* out), (out))

template <bool good>
__device__ void two_words_to_other(u32* out) {
  __shared__ alignas(8) u32 s[128];
  __shared__ u64 full;
  if (threadIdx.x == 0) start(full, 1), expect(full, 512);
  meet();
  send_two(of_other(&s[2 * threadIdx.x]), threadIdx.x + 3, of_other(&full));
  if (good) wait(full, 0);
  out[blockIdx.x * 64 + threadIdx.x] = s[127 - threadIdx.x];
  meet();
}
PAIR_OF_CLUSTERS(two_words_to_other, (u32* out), (out))

template <bool good>
__device__ void sum_of_other(u32* out) {
  __shared__ u32 sum;
  __shared__ u64 full;
  if (threadIdx.x == 0) sum = 0, start(full, 1), expect(full, 256);
  meet();
  send_sum(of_other(&sum), threadIdx.x, of_other(&full));
  if (good) wait(full, 0);
  out[blockIdx.x * 64 + threadIdx.x] = sum;
  meet();
}
PAIR_OF_CLUSTERS(sum_of_other, (u32* out), (out))

// The second message overwrites the first one. The other block says when it has read that.
template <bool good>
__device__ void messages(u32* out) {
  __shared__ u32 s[64];
  __shared__ u64 full, empty;
  if (threadIdx.x == 0) start(full, 1), start(empty, 64), expect(full, 256);
  meet();
  u32 sum = 0;
  for (u32 k = 0; k < 2; ++k) {
    send(of_other(&s[threadIdx.x]), threadIdx.x + k, of_other(&full));
    wait(full, k & 1);
    sum += s[63 - threadIdx.x];
    if (k == 0 && threadIdx.x == 0) expect(full, 256);
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(of_other(&empty)) : "memory");
    if (good) wait(empty, k & 1);
  }
  out[blockIdx.x * 64 + threadIdx.x] = sum;
  meet();
}
PAIR_OF_CLUSTERS(messages, (u32* out), (out))

// One half of each warp tells one mbarrier, one half the other.
template <bool good>
__device__ void two_barriers(u32* out) {
  __shared__ u32 s[64];
  __shared__ u64 full[2];
  if (threadIdx.x < 2) start(full[threadIdx.x], 1), expect(full[threadIdx.x], 128);
  meet();
  send(of_other(&s[threadIdx.x]), threadIdx.x + 3, of_other(&full[threadIdx.x / 16 % 2]));
  wait(full[0], 0);
  if (good) wait(full[1], 0);
  out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x ^ 16];
  wait(full[1], 0);
  meet();
}
PAIR_OF_CLUSTERS(two_barriers, (u32* out), (out))

// What others write to its shared memory keeps a block from exiting, until it has waited for that.
template <bool good>
__device__ void exit_with_stores(u32* out) {
  __shared__ u32 s[64];
  __shared__ u64 full;
  if (threadIdx.x == 0) start(full, 1), expect(full, 256);
  meet();
  send(of_other(&s[threadIdx.x]), threadIdx.x + 3, of_other(&full));
  if (good) wait(full, 0);
  out[blockIdx.x * 64 + threadIdx.x] = threadIdx.x;
}
PAIR_OF_CLUSTERS(exit_with_stores, (u32* out), (out))

// Copies that are handed over to an mbarrier, which their threads do not wait at. A barrier does not end them.
__device__ void copy_in(u32* to, const u32* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(address_of(to)), "l"(from) : "memory");
}
template <bool good>
__device__ void copies_and_barrier(u32* out, const u32* in) {
  __shared__ u32 s[64];
  __shared__ u64 full;
  if (threadIdx.x == 0) start(full, 64);
  __syncthreads();
  copy_in(&s[threadIdx.x], in + threadIdx.x);
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(address_of(&full)) : "memory");
  if (good) wait(full, 0);
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
  wait(full, 0);
}
PAIR(copies_and_barrier, (u32* out, const u32* in), (out, in))

// The phase waits for the copies and for one arrival by the program.
template <bool good>
__device__ void copies_and_arrival(u32* out, const u32* in) {
  __shared__ u32 s[2][64];
  __shared__ u64 full[2];
  if (threadIdx.x < 2) start(full[threadIdx.x], 1);
  __syncthreads();
  u32 sum = 0;
  for (u32 k = 0; k < 4; ++k) {
    copy_in(&s[k & 1][threadIdx.x], in + 64 * k + threadIdx.x);
    asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(address_of(&full[k & 1])) : "memory");
    __syncthreads();
    if (threadIdx.x == 0)
      asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(address_of(&full[k & 1])) : "memory");
    if (good || k == 3) wait(full[k & 1], k / 2);
    __syncthreads();
    sum += s[k & 1][63 - threadIdx.x];
    __syncthreads();
  }
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}
PAIR(copies_and_arrival, (u32* out, const u32* in), (out, in))

// A thread may wait for its own copies as well.
template <bool good>
__device__ void copies_in_both_ways(u32* out, const u32* in) {
  __shared__ u32 s[64];
  __shared__ u64 full;
  if (threadIdx.x == 0) start(full, 64);
  __syncthreads();
  copy_in(&s[threadIdx.x], in + threadIdx.x);
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(address_of(&full)) : "memory");
  if (good && threadIdx.x < 32) asm volatile("cp.async.wait_all;" ::: "memory");
  if (threadIdx.x < 32) out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x];
  wait(full, 0);
  out[blockIdx.x * 64 + threadIdx.x] += s[63 - threadIdx.x];
}
PAIR(copies_in_both_ways, (u32* out, const u32* in), (out, in))
