// SPDX-License-Identifier: MIT
// st.async and red.async; asynchronous_stores.ptx was made from them by
//   nvcc -std=c++17 -arch=sm_90 -ptx asynchronous_stores.cu
// (CUDA 13.0) and is what the tests run.
#include <cstdint>

__device__ unsigned in_block(unsigned own, unsigned rank) {
  unsigned there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(own), "r"(rank));
  return there;
}

__device__ unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ void cluster_barrier() {
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
}

__device__ void expect(std::uint64_t* bar, unsigned bytes) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(bar)) : "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(bar)), "r"(bytes)
               : "memory");
}

__device__ void wait(std::uint64_t* bar) {
  asm volatile(
      "{ .reg .pred p;\nw: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], 0;\n@!p bra w; }" ::"r"(
          shared_address(bar))
      : "memory");
}

/// Values travel around the cluster without a barrier of it: each block sends its values to the next one, in chunks of
/// 4, 8 and 16 bytes, and goes on when its own have come. Shared memory: rounds + 1 values for each thread, as many
/// mbarriers.
extern "C" __global__ void ring(uint4* value, unsigned rounds) {
  extern __shared__ uint4 room[];
  std::uint64_t* const bars = reinterpret_cast<std::uint64_t*>(room + (rounds + 1) * blockDim.x);
  const unsigned ranks = __clusterSizeInBlocks(), next = (__clusterRelativeBlockRank() + 1) % ranks;
  const unsigned own = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
  room[t] = value[own];
  if (t == 0)
    for (unsigned k = 1; k <= rounds; ++k) expect(bars + k, blockDim.x * 16);
  cluster_barrier();
  for (unsigned round = 0; round < rounds; ++round) {
    if (round != 0) wait(bars + round);
    uint4 v = room[round * blockDim.x + t];
    v.x = v.x * 3 + round;
    const unsigned to = in_block(shared_address(room + (round + 1) * blockDim.x + t), next);
    const unsigned bar = in_block(shared_address(bars + round + 1), next);
    if (t % 4 == 0) {
      asm volatile(
          "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(to),
          "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "r"(bar)
          : "memory");
    } else if (t % 4 == 1) {
      const std::uint64_t low = v.x | std::uint64_t{v.y} << 32, high = v.z | std::uint64_t{v.w} << 32;
      asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u64 [%0], %1, [%2];" ::"r"(to), "l"(low),
                   "r"(bar)
                   : "memory");
      asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0 + 8], %1, [%2];" ::"r"(to), "l"(high),
                   "r"(bar)
                   : "memory");
    } else if (t % 4 == 2) {
      asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.u32 [%0], {%1, %2}, [%3];" ::"r"(to),
                   "r"(v.x), "r"(v.y), "r"(bar)
                   : "memory");
      asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.f32 [%0 + 8], {%1, %2}, [%3];" ::"r"(to),
                   "f"(__uint_as_float(v.z)), "f"(__uint_as_float(v.w)), "r"(bar)
                   : "memory");
    } else {
      const unsigned part[] = {v.x, v.y, v.z, v.w};
      for (unsigned k = 0; k < 4; ++k)
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.s32 [%0], %1, [%2];" ::"r"(to + 4 * k),
                     "r"(part[k]), "r"(bar)
                     : "memory");
    }
  }
  wait(bars + rounds);
  value[own] = room[rounds * blockDim.x + t];
  cluster_barrier();  // no block ends before its values have come
}

/// All threads of a cluster reduce their values in block 0, which writes: a sum of 64 bits (two words), a sum, the
/// least, the largest as signed values, or, exclusive or, the number of threads.
extern "C" __global__ void reduce(unsigned* out, const unsigned* in) {
  __shared__ __align__(8) unsigned cells[8];
  __shared__ std::uint64_t bar;
  const unsigned ranks = __clusterSizeInBlocks(), rank = __clusterRelativeBlockRank();
  if (threadIdx.x < 8) cells[threadIdx.x] = threadIdx.x == 3 ? ~0u : threadIdx.x == 4 ? 0x80000000u : 0;
  if (threadIdx.x == 0) expect(&bar, ranks * blockDim.x * (6 * 4 + 8));
  cluster_barrier();
  const unsigned v = in[blockIdx.x * blockDim.x + threadIdx.x];
  const unsigned to = in_block(shared_address(cells), 0), there = in_block(shared_address(&bar), 0);
#define REDUCE(what, at, constraint, value)                                                   \
  asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes." what \
               " [%0], %1, [%2];" ::"r"(to + 4 * at),                                         \
               constraint(value), "r"(there)                                                  \
               : "memory")
  REDUCE("add.u64", 0, "l", std::uint64_t{v} << 16);
  REDUCE("add.s32", 2, "r", v);
  REDUCE("min.u32", 3, "r", v);
  REDUCE("max.s32", 4, "r", v);
  REDUCE("or.b32", 5, "r", v & 0x11111111);
  REDUCE("xor.b32", 6, "r", v);
  REDUCE("inc.u32", 7, "r", ~0u);
  if (rank == 0) {
    wait(&bar);
    if (threadIdx.x < 8) out[blockIdx.x / ranks * 8 + threadIdx.x] = cells[threadIdx.x];
  }
  cluster_barrier();
}
