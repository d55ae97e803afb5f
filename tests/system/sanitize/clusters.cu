// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_90a -std=c++17 -O3 -lineinfo -o clusters.ptx clusters.cu
// Clusters of two blocks of 64 threads, in pairs as in races.cu.
#include "transfers.cuh"

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
__device__ void put(u32 at, u32 value) {
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(at), "r"(value) : "memory");
}
__device__ u32 get(u32 at) {
  u32 v;
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(at) : "memory");
  return v;
}
__device__ void arrive() { asm volatile("barrier.cluster.arrive.aligned;" ::: "memory"); }
__device__ void await() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }
__device__ void meet() { arrive(), await(); }

template <bool good>
__device__ void write_to_other(u32* out) {
  __shared__ u32 s[64];
  s[threadIdx.x] = 1;
  meet();
  put(of_other(&s[threadIdx.x]), threadIdx.x + 3);
  if (good) meet();
  else __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
  meet();
}
PAIR_OF_CLUSTERS(write_to_other, (u32* out), (out))

// What a thread does between its arrival and its wait is not released by the arrival.
template <bool good>
__device__ void write_after_arrival(u32* out) {
  __shared__ u32 s[64];
  if (good) s[threadIdx.x] = threadIdx.x + 3;
  arrive();
  if (!good) s[threadIdx.x] = threadIdx.x + 3;
  await();
  out[blockIdx.x * 64 + threadIdx.x] = get(of_other(&s[63 - threadIdx.x]));
  meet();
}
PAIR_OF_CLUSTERS(write_after_arrival, (u32* out), (out))

template <bool good>
__device__ void relaxed_arrival(u32* out) {
  __shared__ u32 s[64];
  s[threadIdx.x] = threadIdx.x + 3;
  if (good) asm volatile("fence.acq_rel.cluster;" ::: "memory");
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  await();
  out[blockIdx.x * 64 + threadIdx.x] = get(of_other(&s[63 - threadIdx.x]));
  meet();
}
PAIR_OF_CLUSTERS(relaxed_arrival, (u32* out), (out))

// A block reads the other's shared memory and exits; nothing keeps the other from exiting before.
template <bool good>
__device__ void exit_too_early(u32* out) {
  __shared__ u32 s[64];
  s[threadIdx.x] = threadIdx.x + 3;
  meet();
  out[blockIdx.x * 64 + threadIdx.x] = get(of_other(&s[63 - threadIdx.x]));
  if (good) meet();
}
PAIR_OF_CLUSTERS(exit_too_early, (u32* out), (out))

template <bool good>
__device__ void counter_of_cluster(u32* out) {
  __shared__ u32 count;
  if (threadIdx.x == 0) count = 0;
  meet();
  u32 at;
  asm("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(at) : "r"(address_of(&count)));
  if (threadIdx.x == 0) {
    if (good) asm volatile("red.shared::cluster.add.u32 [%0], %1;" ::"r"(at), "r"(rank() + 1) : "memory");
    else put(at, get(at) + rank() + 1);
  }
  meet();
  out[blockIdx.x * 64 + threadIdx.x] = get(at);
  meet();
}
PAIR_OF_CLUSTERS(counter_of_cluster, (u32* out), (out))

// A message to the other block, with an arrival at its mbarrier.
template <bool good>
__device__ void message_to_other(u32* out) {
  __shared__ u32 s[64];
  __shared__ u64 full;
  if (threadIdx.x == 0) start(full, 64);
  meet();
  const u32 at = of_other(&full);
  if (good) put(of_other(&s[threadIdx.x]), threadIdx.x + 3);
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(at) : "memory");
  if (!good) put(of_other(&s[threadIdx.x]), threadIdx.x + 3);
  wait(full, 0);
  out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
  meet();
}
PAIR_OF_CLUSTERS(message_to_other, (u32* out), (out))

// A bulk copy to the other block's shared memory.
template <bool good>
__device__ void copy_to_other(u32* out) {
  __shared__ alignas(128) u32 s[64], from[64];
  __shared__ u64 full;
  if (threadIdx.x == 0) start(full, 1), expect(full, 256);
  from[threadIdx.x] = threadIdx.x + 3;
  proxy_fence();
  meet();
  if (threadIdx.x == 0)
    asm volatile(
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::"r"(of_other(s)),
        "r"(address_of(from)), "r"(of_other(&full))
        : "memory");
  if (good) wait(full, 0);
  out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
  wait(full, 0);
  meet();
}
PAIR_OF_CLUSTERS(copy_to_other, (u32* out), (out))

// One block loads a tile for both.
template <bool good>
__device__ void multicast(u32* out, const u32* in) {
  __shared__ alignas(128) u32 s[64];
  __shared__ u64 full;
  if (threadIdx.x == 0) start(full, 1), expect(full, 256);
  meet();
  if (rank() == 0 && threadIdx.x == 0)
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 256, [%2], %3;" ::"r"(
            address_of(s)),
        "l"(in), "r"(address_of(&full)), "h"(static_cast<unsigned short>(3))
        : "memory");
  if (good || rank() == 0) wait(full, 0);
  out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
  wait(full, 0);
  meet();
}
PAIR_OF_CLUSTERS(multicast, (u32* out, const u32* in), (out, in))

// Global memory, ordered by the cluster's barrier.
template <bool good>
__device__ void global_of_cluster(u32* out, u32* data) {
  data[blockIdx.x * 64 + threadIdx.x] = threadIdx.x + 5;
  if (good) meet();
  else __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = data[(blockIdx.x ^ 1) * 64 + threadIdx.x];
}
PAIR_OF_CLUSTERS(global_of_cluster, (u32* out, u32* data), (out, data))

// One block has exited when the other reads its shared memory.
extern "C" __global__ void __cluster_dims__(2) reads_exited_block(u32* out, u32* flag) {
  __shared__ u32 s[64];
  s[threadIdx.x] = threadIdx.x;
  meet();
  if (rank() == 1) {
    if (threadIdx.x == 0) atomicExch(flag, 1u);
    return;
  }
  if (threadIdx.x == 0)
    while (atomicAdd(flag, 0u) == 0) {
    }
  __syncthreads();
  for (u32 k = 0; k < 1000; ++k) asm volatile("nanosleep.u32 100;");
  out[threadIdx.x] = get(of_other(&s[threadIdx.x]));
}

// After a barrier of the cluster, a warp writes; another one tells the other block, by an atomic in its shared memory.
template <bool good>
__device__ void flag_of_other(u32* out) {
  __shared__ u32 s[64], flag;
  if (threadIdx.x == 0) flag = 0;
  meet();
  if (rank() == 0) {
    if (threadIdx.x >= 32) {
      s[threadIdx.x] = threadIdx.x + 3;
      if (good) asm volatile("fence.acq_rel.cluster;" ::: "memory");
    }
    __syncthreads();
    if (threadIdx.x == 0)
      asm volatile("red.shared::cluster.add.u32 [%0], 1;" ::"r"(of_other(&flag)) : "memory");
  } else if (threadIdx.x == 0) {
    while (atomicAdd(&flag, 0u) == 0) {
    }
    out[0] = get(of_other(&s[40]));
  }
  meet();
}
PAIR_OF_CLUSTERS(flag_of_other, (u32* out), (out))

// A warp that has not waited for the barrier of the cluster yet learns by an atomic what others did before it.
template <bool good>
__device__ void flag_before_wait(u32* out) {
  __shared__ u32 s[64], flag;
  if (threadIdx.x == 0) flag = 0;
  meet();
  if (rank() == 0) s[threadIdx.x] = threadIdx.x + 3;
  arrive();
  if (rank() == 0) {
    await();
    if (threadIdx.x == 0) {
      if (good) asm volatile("fence.acq_rel.cluster;" ::: "memory");
      asm volatile("red.shared::cluster.add.u32 [%0], 1;" ::"r"(of_other(&flag)) : "memory");
    }
  } else {
    if (threadIdx.x == 0) {
      if (good)
        while (atomicAdd(&flag, 0u) == 0) {
        }
      out[0] = get(of_other(&s[0]));
    }
    await();
  }
  meet();
}
PAIR_OF_CLUSTERS(flag_before_wait, (u32* out), (out))
