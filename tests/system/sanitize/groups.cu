// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_90 -std=c++17 -O3 -lineinfo -o groups.ptx groups.cu
// Synchronisation as the headers of CUDA and named barriers have it, in pairs as in races.cu.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>

#include <cuda/barrier>
#include <cuda/pipeline>

#include "transfers.cuh"

#define FREE(name, parameters, arguments) \
  extern "C" __global__ void free_##name parameters { name arguments; }

namespace cg = cooperative_groups;

// Half of the warps fill two buffers in turn, the others empty them: a barrier for each buffer that is full, and for
// each that is empty.
template <bool good>
__device__ void two_buffers(u32* out) {
  __shared__ u32 s[2][64];
  u32 sum = 0;
  const u32 lane = threadIdx.x % 64;
  for (u32 turn = 0; turn < 6; ++turn) {
    const u32 full = 1 + turn % 2, empty = 3 + turn % 2;
    if (threadIdx.x < 64) {
      if (turn >= 2) asm volatile("barrier.cta.sync %0, 128;" ::"r"(empty) : "memory");
      s[turn % 2][lane] = turn + lane;
      asm volatile("barrier.cta.arrive %0, 128;" ::"r"(full) : "memory");
    } else {
      asm volatile("barrier.cta.sync %0, 128;" ::"r"(full) : "memory");
      if (!good && turn < 4) asm volatile("barrier.cta.arrive %0, 128;" ::"r"(empty) : "memory");
      sum += s[turn % 2][63 - lane];
      if (good && turn < 4) asm volatile("barrier.cta.arrive %0, 128;" ::"r"(empty) : "memory");
    }
  }
  out[blockIdx.x * 128 + threadIdx.x] = sum;
}
PAIR(two_buffers, (u32* out), (out))

// Each half of a block has its own barrier, which does not order it with the other half.
template <bool good>
__device__ void own_barriers(u32* out) {
  __shared__ u32 s[128];
  s[threadIdx.x] = threadIdx.x + 1;
  asm volatile("barrier.cta.sync %0, 64;" ::"r"(1 + threadIdx.x / 64) : "memory");
  out[blockIdx.x * 128 + threadIdx.x] = good ? s[threadIdx.x ^ 32] : s[threadIdx.x ^ 64];
}
PAIR(own_barriers, (u32* out), (out))

// A barrier that counts is a barrier.
template <bool good>
__device__ void counting_barrier(u32* out) {
  __shared__ u32 s[128];
  s[threadIdx.x] = threadIdx.x + 1;
  u32 n = 0;
  if (good) n = __syncthreads_count(threadIdx.x % 3 == 0);
  out[blockIdx.x * 128 + threadIdx.x] = n + s[127 - threadIdx.x];
}
PAIR(counting_barrier, (u32* out), (out))

// Each warp knows the one before it, by a barrier of the two: 0, 1, 3, 2.
__device__ void longer_chain(u32* out) {
  __shared__ u32 s[64];
  const u32 group = threadIdx.x / 32, lane = threadIdx.x % 32;
  u32 v = lane;
  if (group == 0) {
    s[lane] = v;
    asm volatile("barrier.cta.arrive 1, 64;" ::: "memory");
  } else if (group == 1) {
    asm volatile("barrier.cta.sync 1, 64;" ::: "memory");
    v = s[31 - lane];
    s[32 + lane] = v;
    asm volatile("barrier.cta.arrive 3, 64;" ::: "memory");
  } else if (group == 2) {
    asm volatile("barrier.cta.sync 2, 64;" ::: "memory");
    v = s[31 - lane] + s[63 - lane];
  } else {
    asm volatile("barrier.cta.sync 3, 64;\n barrier.cta.arrive 2, 64;" ::: "memory");
    v = s[31 - lane];
  }
  out[blockIdx.x * 128 + threadIdx.x] = v;
}
FREE(longer_chain, (u32* out), (out))

// The write behind an arrival is not ordered, even if a later phase of the same barrier is.
template <bool good>
__device__ void late_write(u32* out) {
  __shared__ u32 s[64];
  const u32 lane = threadIdx.x % 64;
  u32 v = 0;
  if (threadIdx.x < 64) {
    if (good) s[lane] = lane;
    asm volatile("barrier.cta.arrive 1, 128;" ::: "memory");
    if (!good) s[lane] = lane;
    asm volatile("barrier.cta.arrive 2, 128;" ::: "memory");
  } else {
    asm volatile("barrier.cta.sync 1, 128;" ::: "memory");
    v = s[63 - lane];
    asm volatile("barrier.cta.sync 2, 128;" ::: "memory");
    v += s[lane];
  }
  out[blockIdx.x * 128 + threadIdx.x] = v;
}
PAIR(late_write, (u32* out), (out))

// Copies in stages, each into a buffer that others have read.
template <bool good>
__device__ void stages(u32* out, const u32* in) {
  __shared__ u32 s[4][64];
  u32 sum = 0;
  for (u32 k = 0; k < 3; ++k)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\n cp.async.commit_group;" ::"r"(address_of(&s[k][threadIdx.x])),
                 "l"(in + 64 * k + threadIdx.x)
                 : "memory");
  for (u32 k = 0; k < 8; ++k) {
    asm volatile("cp.async.wait_group 2;" ::: "memory");
    __syncthreads();
    sum += s[k % 4][63 - threadIdx.x];
    const u32 next = (k + (good ? 3 : 4)) % 4;
    if (k + 3 < 8)
      asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(address_of(&s[next][threadIdx.x])),
                   "l"(in + 64 * (k + 3) + threadIdx.x)
                   : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}
PAIR(stages, (u32* out, const u32* in), (out, in))

// Sixteen bytes at a time, fewer of them from memory: the rest are zeros.
template <bool good>
__device__ void copy_with_zeros(u32* out, const u32* in) {
  __shared__ alignas(16) u32 s[256];
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address_of(&s[4 * threadIdx.x])),
               "l"(in + 4 * threadIdx.x), "r"(threadIdx.x < 32 ? 16 : 0)
               : "memory");
  if (good) asm volatile("cp.async.wait_all;" ::: "memory");
  else asm volatile("cp.async.commit_group;\n cp.async.wait_group 1;" ::: "memory");
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = s[255 - 4 * threadIdx.x];
}
PAIR(copy_with_zeros, (u32* out, const u32* in), (out, in))

template <bool good>
__device__ void memcpy_of_group(u32* out, const u32* in) {
  __shared__ u32 s[64];
  const cg::thread_block block = cg::this_thread_block();
  cg::memcpy_async(block, s, in + 64 * blockIdx.x, sizeof s);
  if (good) cg::wait(block);
  else block.sync();
  out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
  if (!good) cg::wait(block);
}
PAIR(memcpy_of_group, (u32* out, const u32* in), (out, in))

template <bool good>
__device__ void barrier_of_library(u32* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> b;
  __shared__ u32 s[64];
  if (threadIdx.x == 0) init(&b, 64);
  __syncthreads();
  u32 sum = 0;
  for (u32 turn = 0; turn < 3; ++turn) {
    s[threadIdx.x] = turn + threadIdx.x;
    auto token = b.arrive();
    if (good) b.wait(std::move(token));
    sum += s[63 - threadIdx.x];
    if (!good) b.wait(std::move(token));
    b.arrive_and_wait();
  }
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}
PAIR(barrier_of_library, (u32* out), (out))

// Half of the threads leave; the others' barrier expects fewer from then on.
template <bool good>
__device__ void some_drop_out(u32* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> b;
  __shared__ u32 s[64];
  if (threadIdx.x == 0) init(&b, 64);
  __syncthreads();
  if (threadIdx.x >= 32) {
    if (good) s[threadIdx.x] = 1;
    b.arrive_and_drop();
    if (!good) s[threadIdx.x] = 1;
    return;
  }
  b.arrive_and_wait();
  s[threadIdx.x] = 2;
  b.arrive_and_wait();
  out[blockIdx.x * 64 + threadIdx.x] = s[31 - threadIdx.x] + s[32 + threadIdx.x];
}
PAIR(some_drop_out, (u32* out), (out))

template <bool good>
__device__ void copies_at_barrier(u32* out, const u32* in) {
  __shared__ cuda::barrier<cuda::thread_scope_block> b;
  __shared__ alignas(16) u32 s[64];
  if (threadIdx.x == 0) init(&b, 64);
  __syncthreads();
  cuda::memcpy_async(s + threadIdx.x, in + threadIdx.x, sizeof(u32), b);
  auto token = b.arrive();
  if (good) b.wait(std::move(token));
  out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
  if (!good) b.wait(std::move(token));
}
PAIR(copies_at_barrier, (u32* out, const u32* in), (out, in))

template <bool good>
__device__ void pipeline_of_library(u32* out, const u32* in) {
  constexpr u32 depth = 2;
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, depth> state;
  __shared__ u32 s[depth][64];
  const cg::thread_block block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  u32 sum = 0;
  for (u32 k = 0, ahead = 0; k < 6; ++k) {
    for (; ahead < 6 && ahead < k + depth; ++ahead) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, s[ahead % depth], in + 64 * ahead, sizeof s[0], pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    if (!good) pipe.consumer_release();
    sum += s[k % depth][63 - threadIdx.x];
    if (good) pipe.consumer_release();
  }
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}
PAIR(pipeline_of_library, (u32* out, const u32* in), (out, in))

// Tiles of sixteen threads.
__device__ void tile_of_group(u32* out) {
  __shared__ u32 s[64];
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  s[threadIdx.x] = threadIdx.x;
  tile.sync();
  out[blockIdx.x * 64 + threadIdx.x] =
      s[threadIdx.x / 16 * 16 + 15 - threadIdx.x % 16] +
      cg::reduce(tile, threadIdx.x, cg::plus<u32>());
}
FREE(tile_of_group, (u32* out), (out))

template <bool good>
__device__ void tiles_of_warp(u32* out) {
  __shared__ u32 s[64];
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  s[threadIdx.x] = threadIdx.x;
  tile.sync();
  out[blockIdx.x * 64 + threadIdx.x] = good ? s[threadIdx.x ^ 15] : s[threadIdx.x ^ 31];
}
PAIR(tiles_of_warp, (u32* out), (out))

template <bool good>
__device__ void coalesced(u32* out) {
  __shared__ u32 s[64];
  u32 v = 0;
  if (threadIdx.x % 3 == 0) {
    const cg::coalesced_group g = cg::coalesced_threads();
    const u32 base = threadIdx.x / 32 * 32;
    s[base + g.thread_rank()] = threadIdx.x;
    if (good) g.sync();
    v = s[base + g.size() - 1 - g.thread_rank()];
  }
  out[blockIdx.x * 64 + threadIdx.x] = v;
}
PAIR(coalesced, (u32* out), (out))

// A histogram over the shared memory of a cluster.
template <bool good>
__device__ void cluster_histogram(u32* out, const u32* in) {
  __shared__ u32 bins[32];
  const cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x < 32) bins[threadIdx.x] = 0;
  if (good) cluster.sync();
  else __syncthreads();
  const u32 bin = (in[threadIdx.x] + 7 * threadIdx.x) % 64;
  atomicAdd(cluster.map_shared_rank(bins, bin / 32) + bin % 32, 1u);
  cluster.sync();
  if (threadIdx.x < 32) out[blockIdx.x * 64 + threadIdx.x] = bins[threadIdx.x];
}
PAIR_OF_CLUSTERS(cluster_histogram, (u32* out, const u32* in), (out, in))

template <bool good>
__device__ void cluster_halo(u32* out) {
  __shared__ u32 s[2][64];
  const cg::cluster_group cluster = cg::this_cluster();
  const u32* other = cluster.map_shared_rank(&s[0][0], cluster.block_rank() ^ 1);
  s[0][threadIdx.x] = threadIdx.x;
  for (u32 k = 0; k < 4; ++k) {
    auto token = cluster.barrier_arrive();
    cluster.barrier_wait(std::move(token));
    s[good ? (k + 1) % 2 : 0][threadIdx.x] = other[(good ? k % 2 : 0) * 64 + 63 - threadIdx.x] + 1;
  }
  cluster.sync();
  out[blockIdx.x * 64 + threadIdx.x] = s[0][threadIdx.x];
}
PAIR_OF_CLUSTERS(cluster_halo, (u32* out), (out))

// Memory of malloc.
template <bool good>
__device__ void shared_list(u32* out) {
  __shared__ u32* list;
  if (threadIdx.x == 0) list = static_cast<u32*>(malloc(64 * sizeof(u32)));
  __syncthreads();
  list[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = list[63 - threadIdx.x];
  if (good) __syncthreads();
  if (threadIdx.x == 63) free(list);
}
PAIR(shared_list, (u32* out), (out))

struct node {
  u32 value;
  node* next;
};
template <bool good>
__device__ void list_of_nodes(u32* out) {
  node* head = nullptr;
  for (u32 k = 0; k < 3; ++k) head = new node{k + threadIdx.x, head};
  u32 sum = 0;
  for (node* n = head; n != nullptr;) {
    sum += n->value;
    node* next = n->next;
    if (good || next != nullptr || threadIdx.x != 5) delete n;
    n = next;
  }
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}
PAIR(list_of_nodes, (u32* out), (out))

// Blocks that others allocated.
template <bool good>
__device__ void freed_by_others(u32* out, u32** lists) {
  lists[threadIdx.x] = static_cast<u32*>(malloc(8 + threadIdx.x));
  lists[threadIdx.x][0] = threadIdx.x;
  __syncthreads();
  u32* mine = lists[63 - threadIdx.x];
  const u32 v = mine[0];
  if (good || threadIdx.x > 2) free(mine);
  out[threadIdx.x] = v;
}
PAIR(freed_by_others, (u32* out, u32** lists), (out, lists))

// The last of all blocks frees what all have read.
template <bool good>
__device__ void last_frees(u32* out, u32** list, u32* count) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    u32* const made = static_cast<u32*>(malloc(256));
    for (u32 k = 0; k < 64; ++k) made[k] = k;
    __threadfence();
    atomicExch(reinterpret_cast<unsigned long long*>(list), reinterpret_cast<unsigned long long>(made));
  }
  u32* found = nullptr;
  while (found == nullptr)
    found = reinterpret_cast<u32*>(atomicAdd(reinterpret_cast<unsigned long long*>(list), 0ull));
  __threadfence();
  out[blockIdx.x * 64 + threadIdx.x] = found[63 - threadIdx.x];
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (good) __threadfence();
  if (atomicAdd(count, 1u) == gridDim.x - 1) free(found);
}
PAIR(last_frees, (u32* out, u32** list, u32* count), (out, list, count))
