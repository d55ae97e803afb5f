// SPDX-License-Identifier: MIT
// Microbenchmarks of what Hopper does asynchronously: shared memory of other blocks of a cluster, mbarriers, bulk and
// tensor copies. hopper_test.cpp runs them and has the published figures. Each kernel writes cycles of the SM's clock.
// PTX: nvcc -ptx -arch=compute_90a -std=c++17 -O3 hopper.cu (CUDA 13.0).
#include <cstdint>

using u32 = std::uint32_t;
using u64 = std::uint64_t;

namespace {

extern __shared__ __align__(1024) u32 room[];

__device__ u32 address_of(const void* p) { return static_cast<u32>(__cvta_generic_to_shared(p)); }
__device__ u32 now() {
  u32 c;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(c)::"memory");
  return c;
}
__device__ u32 rank_in_cluster() {
  u32 r;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  return r;
}
__device__ u32 blocks_in_cluster() {
  u32 r;
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(r));
  return r;
}
__device__ u32 at_rank(u32 at, u32 rank) {
  u32 r;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(at), "r"(rank));
  return r;
}
__device__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}
__device__ void init(u32 bar, u32 count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1; fence.mbarrier_init.release.cluster;" ::"r"(bar), "r"(count)
               : "memory");
}
__device__ void expect(u32 bar, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}
__device__ void wait(u32 bar, u32 parity) {
  asm volatile(
      "{ .reg .pred p;\nAGAIN: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN; }" ::"r"(bar),
      "r"(parity)
      : "memory");
}
__device__ void load(u32 to, const void* from, u32 bytes, u32 bar) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
               "l"(from), "r"(bytes), "r"(bar)
               : "memory");
}
// The arrival follows the copy, as with cuda::barrier.
__device__ void wait_for(u32 bar, u32 bytes) {
  asm volatile(
      "{ .reg .pred p; .reg .b64 state;\n"
      "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;\n"
      "mbarrier.arrive.shared::cta.b64 state, [%0];\n"
      "AGAIN: mbarrier.try_wait.shared::cta.b64 p, [%0], state;\n@!p bra AGAIN; }" ::"r"(bar),
      "r"(bytes)
      : "memory");
}
__device__ void copy_and_wait(u32 to, const void* from, u32 bytes, u32 bar) {
  load(to, from, bytes, bar);
  wait_for(bar, bytes);
}
__device__ void put(u32 to, u32 from, u32 bytes, u32 bar) {
  asm volatile(
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
      "r"(from), "r"(bytes), "r"(bar)
      : "memory");
}

struct alignas(64) tensor {
  u64 words[16];
};

}  // namespace

// One thread a block chases indices through 64 words of each block of its cluster. cycles[own rank x 16 + the other's]:
// of 64 steps. All blocks are at work, each time with different partners.
extern "C" __global__ void dsm_chase(u32* cycles) {
  __shared__ u32 next[64];
  for (u32 k = 0; k < 64; ++k) next[k] = (k + 1) % 64;
  const u32 rank = rank_in_cluster(), ranks = blocks_in_cluster();
  cluster_sync();
#pragma unroll 1
  for (u32 distance = 0; distance < ranks; ++distance) {
    const u32 other = (rank + distance) % ranks;
    u32 at = 0;
    const u32* there;
    asm volatile("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(next), "r"(other));
#pragma unroll 1
    for (u32 warm = 0; warm < 2; ++warm) {
      const u32 begin = now();
#pragma unroll 16
      for (u32 k = 0; k < 64; ++k) at = *const_cast<const volatile u32*>(there + at);
      cycles[rank * 16 + other] = now() - begin + at;  // at is 0 again
    }
    cluster_sync();
  }
}

// Every lane loads words of the next block of its cluster, each the index of the one that follows (as a pointer chase
// of HPMLL/NVIDIA-Hopper-Benchmark does); of all blocks, or of the first alone.
extern "C" __global__ void dsm_loads(u32* cycles, u32 rounds, u32 only_first) {
  const u32 words = 4096, rank = rank_in_cluster();
  for (u32 k = threadIdx.x; k < words; k += blockDim.x) room[k] = (k + blockDim.x) % words;
  const u32 there = at_rank(address_of(room), (rank + 1) % blocks_in_cluster());
  cluster_sync();
  const u32 begin = now();
  if (rank == 0 || !only_first) {
    u32 at = threadIdx.x;
#pragma unroll 4
    for (u32 k = 0; k < rounds; ++k)
      asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(at) : "r"(there + at * 4) : "memory");
    room[threadIdx.x] = at;
    __syncthreads();
    if (rank == 0 && threadIdx.x == 0) cycles[0] = now() - begin;
  }
  cluster_sync();
}

// Every lane stores words, or bulk copies put them, into the next block of the cluster. The end is when the other block
// has them: a store's fence, a copy's mbarrier.
extern "C" __global__ void dsm_stores(u32* cycles, u32 rounds, u32 only_first) {
  const u32 rank = rank_in_cluster();
  const u32 there = at_rank(address_of(room), (rank + 1) % blocks_in_cluster()) + threadIdx.x * 4;
  cluster_sync();
  const u32 begin = now();
  if (rank == 0 || !only_first) {
#pragma unroll 4
    for (u32 k = 0; k < rounds; ++k)
      asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(there), "r"(k) : "memory");
    asm volatile("fence.acq_rel.cluster;" ::: "memory");
    __syncthreads();
    if (rank == 0 && threadIdx.x == 0) cycles[0] = now() - begin;
  }
  cluster_sync();
}
extern "C" __global__ void dsm_puts(u32* cycles, u32 rounds, u32 only_first) {
  __shared__ u64 bar_;
  const u32 rank = rank_in_cluster(), other = (rank + 1) % blocks_in_cluster(), bytes = 8192;
  const u32 bar = address_of(&bar_), from = address_of(room), to = at_rank(from + bytes, other);
  const u32 got = at_rank(bar, other);
  if (threadIdx.x == 0) init(bar, 1);
  cluster_sync();
  const u32 begin = now();
  if (threadIdx.x == 0) {
    if (!only_first || rank == 1) expect(bar, bytes * rounds);
    if (!only_first || rank == 0)
#pragma unroll 1
      for (u32 k = 0; k < rounds; ++k) put(to, from, bytes, got);
    if (!only_first || rank == 1) wait(bar, 0);
    if (rank == 1) cycles[0] = now() - begin;
  }
  cluster_sync();
}

// Two blocks of a cluster wait for each other's word. Cycles of 16 rounds there and back.
extern "C" __global__ void dsm_ping_pong(u32* cycles) {
  __shared__ u32 word;
  const u32 rank = rank_in_cluster(), mine = address_of(&word), there = at_rank(mine, rank ^ 1);
  if (threadIdx.x == 0) word = 0;
  cluster_sync();
  if (threadIdx.x == 0) {
    const u32 begin = now();
#pragma unroll 1
    for (u32 k = 1; k <= 16; ++k) {
      u32 got;
      if (rank == 0) asm volatile("st.volatile.shared::cluster.u32 [%0], %1;" ::"r"(there), "r"(k) : "memory");
      do asm volatile("ld.volatile.shared::cta.u32 %0, [%1];" : "=r"(got) : "r"(mine) : "memory");
      while (got != k);
      if (rank == 1) asm volatile("st.volatile.shared::cluster.u32 [%0], %1;" ::"r"(there), "r"(k) : "memory");
    }
    if (rank == 0) cycles[0] = now() - begin;
  }
  cluster_sync();
}

// The same through global memory, between two blocks of a grid.
extern "C" __global__ void global_ping_pong(u32* cycles, u32* words) {
  const u32 begin = now();
  u32 *const there = words + 32 * (blockIdx.x ^ 1), *const mine = words + 32 * blockIdx.x;
#pragma unroll 1
  for (u32 k = 1; k <= 16; ++k) {
    u32 got;
    if (blockIdx.x == 0) asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(there), "r"(k) : "memory");
    do asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(got) : "l"(mine) : "memory");
    while (got != k);
    if (blockIdx.x == 1) asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(there), "r"(k) : "memory");
  }
  if (blockIdx.x == 0) cycles[0] = now() - begin;
}

#define FOUR(x) x x x x
#define SIXTEEN(x) FOUR(FOUR(x))

// Cycles of 16 operations at an mbarrier of the own block, each of which depends on the one before: an arrival by the
// address, the queries by their guard. cycles[4]: of 16 of the multiplications that make the arrival's address.
extern "C" __global__ void mbarrier_chains(u32* cycles, u32 zero, u32 hint) {
  __shared__ u64 bar_;
  const u32 bar = address_of(&bar_);
  init(bar, 1);
  u32 value = 0;
#pragma unroll 1
  for (u32 warm = 0; warm < 2; ++warm) {
    u32 begin = now();
    asm volatile("{ .reg .b64 s; .reg .b32 lo, hi; mov.b32 lo, %0;\n" SIXTEEN(
                     "mad.lo.u32 lo, lo, %2, %1; mbarrier.arrive.shared::cta.b64 s, [lo]; mov.b64 {lo, hi}, s;\n")
                 "add.u32 %0, lo, hi; }"
                 : "+r"(value)
                 : "r"(bar), "r"(zero)
                 : "memory");
    cycles[0] = now() - begin + (value & zero);
    begin = now();
    asm volatile("{ .reg .pred p; setp.eq.u32 p, %1, 0;\n" SIXTEEN(
                     "@p mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 1;\n") "@p add.u32 %1, %1, 0; }" ::"r"(bar),
                 "r"(zero)
                 : "memory");
    cycles[1] = now() - begin;
    begin = now();
    asm volatile("{ .reg .pred p; setp.eq.u32 p, %1, 0;\n" SIXTEEN(
                     "@p mbarrier.test_wait.parity.shared::cta.b64 p, [%0], 1;\n") "@p add.u32 %1, %1, 0; }" ::"r"(bar),
                 "r"(zero)
                 : "memory");
    cycles[2] = now() - begin;
    begin = now();
    asm volatile("{ .reg .pred p; setp.eq.u32 p, %1, 0;\n" SIXTEEN(
                     "@p mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 1, %2;\n") "@p add.u32 %1, %1, 0; }" ::"r"(
                     bar),
                 "r"(zero), "r"(hint)
                 : "memory");
    cycles[3] = now() - begin;
    begin = now();
    asm volatile("{\n" SIXTEEN("mad.lo.u32 %0, %0, %2, %1;\n") "}" : "+r"(value) : "r"(bar), "r"(zero) : "memory");
    cycles[4] = now() - begin + (value & zero);
  }
}

// 64 barriers of a block.
extern "C" __global__ void block_barriers(u32* cycles) {
  __syncthreads();
#pragma unroll 1
  for (u32 warm = 0; warm < 2; ++warm) {
    const u32 begin = now();
#pragma unroll
    for (u32 k = 0; k < 64; ++k) asm volatile("barrier.cta.sync.aligned 0;" ::: "memory");
    if (threadIdx.x == 0) cycles[0] = now() - begin;
  }
}

// 64 barriers of a cluster, with fences or `relaxed`: the loops of tests/hardware/h100/latency.cu.
extern "C" __global__ void cluster_barriers(u32* cycles, u32 relaxed, u32 place) {
  cluster_sync();
  u32 begin, end;
  if (relaxed) {
    begin = now();
    for (u32 k = 0; k < 64; ++k)
      asm volatile("barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    end = now();
  } else {
    cluster_sync();
    begin = now();
    for (u32 k = 0; k < 64; ++k) cluster_sync();
    end = now();
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) cycles[place] = end - begin;
}

// A single ring of pointers, one in each line of 128 bytes, if `step` and `count` are coprime.
extern "C" __global__ void ring(u64* list, u32 count, u32 step) {
  const u32 k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < count) list[k * 16] = reinterpret_cast<u64>(list + (k + step) % count * 16);
}

// Follows the ring: `warm` loads past the L1, then `steps` bulk copies of 16 bytes, then as many loads. The operations
// of a step and their order are those of HPMLL/NVIDIA-Hopper-Benchmark. cycles[0]: of the copies; cycles[1]: of the loads.
extern "C" __global__ void bulk_chase(u32* cycles, u64 list, u32 warm, u32 steps) {
  __shared__ __align__(16) u64 place[2];
  __shared__ u64 bar_;
  const u32 bar = address_of(&bar_), to = address_of(place);
  init(bar, 1);
  u64 at = list;
  for (u32 k = 0; k < warm; ++k) asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at)::"memory");
  u32 begin = 0;
#pragma unroll 1
  for (u32 k = 0; k < 16 + steps; ++k) {
    if (k == 16) begin = now();
    copy_and_wait(to, reinterpret_cast<const void*>(at), 16, bar);
    asm volatile("ld.shared.u64 %0, [%1];" : "=l"(at) : "r"(to) : "memory");
  }
  cycles[0] = now() - begin;
  begin = now();
#pragma unroll 16
  for (u32 k = 0; k < steps; ++k) asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at)::"memory");
  cycles[1] = now() - begin + (at == 0);
}

// `copies` of 16 bytes from one line that the L2 has, issued one after another.
extern "C" __global__ void bulk_issue(u32* cycles, const char* line, u32 copies) {
  __shared__ __align__(16) uint4 place;
  __shared__ u64 bar_;
  const u32 bar = address_of(&bar_), to = address_of(&place);
  init(bar, 1);
#pragma unroll 1
  for (u32 warm = 0; warm < 2; ++warm) {
    const u32 begin = now();
    expect(bar, 16 * copies);
#pragma unroll 1
    for (u32 k = 0; k < copies; ++k) load(to, line, 16, bar);
    wait(bar, warm);
    cycles[0] = now() - begin;
  }
}

// One thread a block copies box after box and waits for each, as HPMLL/NVIDIA-Hopper-Benchmark does.
extern "C" __global__ void bulk_boxes(const char* from, u32 bytes, u32 boxes) {
  __shared__ u64 bar_;
  const u32 bar = address_of(&bar_), to = address_of(room);
  init(bar, 1);
#pragma unroll 1
  for (u32 k = 0; k < boxes; ++k) {
    copy_and_wait(to, from + (static_cast<u64>(k) * gridDim.x + blockIdx.x) * bytes, bytes, bar);
  }
}

// The same with boxes of a tensor, along x first: 2^wide boxes along x, 2^high along y.
extern "C" __global__ void tensor_boxes(const __grid_constant__ tensor map, u32 dimensions, u32 bytes, u32 boxes,
                                        u32 wide, u32 high, u32 x, u32 y, u32 z) {
  __shared__ u64 bar_;
  const u32 bar = address_of(&bar_), to = address_of(room);
  init(bar, 1);
#pragma unroll 1
  for (u32 k = 0; k < boxes; ++k) {
    const u32 box = k * gridDim.x + blockIdx.x, row = box >> wide;
    const u32 at[3] = {(box & ((1u << wide) - 1)) * x, (row & ((1u << high) - 1)) * y, (row >> high) * z};
    if (dimensions == 1)
      asm volatile(
          "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%3];" ::
              "r"(to),
          "l"(&map), "r"(at[0]), "r"(bar)
          : "memory");
    else if (dimensions == 2)
      asm volatile(
          "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::
              "r"(to),
          "l"(&map), "r"(at[0]), "r"(at[1]), "r"(bar)
          : "memory");
    else
      asm volatile(
          "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::
              "r"(to),
          "l"(&map), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(bar)
          : "memory");
    wait_for(bar, bytes);
  }
}
