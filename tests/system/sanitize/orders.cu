// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_90 -std=c++17 -O3 -lineinfo -o orders.ptx orders.cu
// Order by atomics, latches, semaphores and mbarriers of libcu++, in pairs as in races.cu.
#include <cooperative_groups.h>

#include <cuda/atomic>
#include <cuda/latch>
#include <cuda/semaphore>

#include "transfers.cuh"

#define FREE(name, parameters, arguments) \
  extern "C" __global__ void free_##name parameters { name arguments; }

namespace cg = cooperative_groups;
using flag_of_block = cuda::atomic_ref<u32, cuda::thread_scope_block>;
using flag_of_device = cuda::atomic_ref<u32, cuda::thread_scope_device>;

// One thread of a block releases, one of another acquires.
template <bool good>
__device__ void release_and_acquire(u32* out, u32* data, u32* word) {
  flag_of_device flag(*word);
  if (blockIdx.x == 0) {
    if (threadIdx.x != 0) return;
    data[0] = 7;
    flag.store(1, good ? cuda::memory_order_release : cuda::memory_order_relaxed);
  } else if (threadIdx.x == 0) {
    while (flag.load(cuda::memory_order_acquire) == 0) {
    }
    out[0] = data[0];
  }
}
PAIR(release_and_acquire, (u32* out, u32* data, u32* word), (out, data, word))

// Another thread adds to the flag, without order: what was released goes on to those who acquire the sum.
__device__ void release_sequence(u32* out, u32* data, u32* word) {
  flag_of_device flag(*word);
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    data[0] = 7;
    flag.fetch_add(1, cuda::memory_order_release);
  } else if (blockIdx.x == 1) {
    while (flag.load(cuda::memory_order_relaxed) == 0) {
    }
    flag.fetch_add(1, cuda::memory_order_relaxed);
  } else {
    while (flag.load(cuda::memory_order_acquire) < 2) {
    }
    out[0] = data[0];
  }
}
FREE(release_sequence, (u32* out, u32* data, u32* word), (out, data, word))

// Relaxed accesses, with fences before and behind.
template <bool good>
__device__ void fences_around(u32* out, u32* data, u32* word) {
  flag_of_device flag(*word);
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    data[0] = 7;
    cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
    flag.store(1, cuda::memory_order_relaxed);
  } else {
    while (flag.load(cuda::memory_order_relaxed) == 0) {
    }
    if (good) cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
    out[blockIdx.x] = data[0];
  }
}
PAIR(fences_around, (u32* out, u32* data, u32* word), (out, data, word))

// A chain of three blocks, each of which knows only the one before it.
template <bool good>
__device__ void chain(u32* out, u32* data, u32* words) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) data[0] = 7;
  else while (flag_of_device(words[blockIdx.x - 1]).load(cuda::memory_order_acquire) == 0) {
    }
  if (blockIdx.x == 2) out[0] = data[0];
  flag_of_device next(words[blockIdx.x]);
  if (good || blockIdx.x != 0) next.store(1, cuda::memory_order_release);
  else next.store(1, cuda::memory_order_relaxed);
}
PAIR(chain, (u32* out, u32* data, u32* words), (out, data, words))

template <bool good>
__device__ void ticket_lock(u32* out, u32* data, u32* words) {
  flag_of_device next(words[0]), served(words[1]);
  if (threadIdx.x % 32 != 0) return;
  const u32 mine = next.fetch_add(1, cuda::memory_order_relaxed);
  while (served.load(good ? cuda::memory_order_acquire : cuda::memory_order_relaxed) != mine) {
  }
  data[0] += mine;
  served.store(mine + 1, cuda::memory_order_release);
  out[blockIdx.x * 64 + threadIdx.x] = mine;
}
PAIR(ticket_lock, (u32* out, u32* data, u32* words), (out, data, words))

template <bool good>
__device__ void latch_of_block(u32* out) {
  using latch = cuda::latch<cuda::thread_scope_block>;
  __shared__ alignas(latch) char place[sizeof(latch)];
  __shared__ u32 s[64];
  latch& all = reinterpret_cast<latch&>(place);
  if (threadIdx.x == 0) new (place) latch(64);
  __syncthreads();
  s[threadIdx.x] = threadIdx.x + 1;
  all.count_down();
  if (good) all.wait();
  out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
}
PAIR(latch_of_block, (u32* out), (out))

// A semaphore as a lock.
__device__ void semaphore(u32* out) {
  using counter = cuda::counting_semaphore<cuda::thread_scope_block, 2>;
  __shared__ alignas(counter) char place[sizeof(counter)];
  __shared__ u32 sum;
  counter& room = reinterpret_cast<counter&>(place);
  if (threadIdx.x == 0) new (place) counter(1), sum = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    room.acquire();
    sum += threadIdx.x;
    room.release();
  }
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}
FREE(semaphore, (u32* out), (out))

// Readers read again if a writer came between. What they read is atomic.
__device__ void sequence_lock(u32* out, u32* data, u32* word) {
  flag_of_device version(*word);
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    for (u32 k = 1; k <= 2; ++k) {
      version.store(2 * k - 1, cuda::memory_order_relaxed);
      cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
      for (u32 j = 0; j < 2; ++j)
        flag_of_device(data[j]).store(k, cuda::memory_order_relaxed);
      version.store(2 * k, cuda::memory_order_release);
    }
  } else {
    u32 before, after, sum;
    do {
      before = version.load(cuda::memory_order_acquire);
      sum = 0;
      for (u32 j = 0; j < 2; ++j) sum += flag_of_device(data[j]).load(cuda::memory_order_relaxed);
      cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
      after = version.load(cuda::memory_order_relaxed);
    } while (before != after || before % 2 != 0);
    out[blockIdx.x] = sum;
  }
}
FREE(sequence_lock, (u32* out, u32* data, u32* word), (out, data, word))

// A scope that is too narrow.
template <bool good>
__device__ void scope(u32* out, u32* data, u32* word) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    data[0] = 7;
    if (good) flag_of_device(*word).store(1, cuda::memory_order_release);
    else flag_of_block(*word).store(1, cuda::memory_order_release);
  } else {
    while (flag_of_device(*word).load(cuda::memory_order_acquire) == 0) {
    }
    out[blockIdx.x] = data[0];
  }
}
PAIR(scope, (u32* out, u32* data, u32* word), (out, data, word))

// Full and empty mbarriers of two buffers, whose phases alternate.
__device__ void full_and_empty(u32* out) {
  __shared__ u32 s[2][32];
  __shared__ u64 full[2], empty[2];
  if (threadIdx.x == 0)
    for (u32 k = 0; k < 2; ++k) start(full[k], 32), start(empty[k], 32);
  __syncthreads();
  const u32 lane = threadIdx.x % 32;
  u32 sum = 0;
  for (u32 turn = 0; turn < 8; ++turn) {
    const u32 k = turn % 2, phase = turn / 2 % 2;
    if (threadIdx.x < 32) {
      wait(empty[k], phase ^ 1);
      s[k][lane] = turn + lane;
      asm volatile("{ .reg .b64 t; mbarrier.arrive.shared.b64 t, [%0]; }" ::"r"(address_of(&full[k])) : "memory");
    } else {
      wait(full[k], phase);
      sum += s[k][31 - lane];
      asm volatile("{ .reg .b64 t; mbarrier.arrive.shared.b64 t, [%0]; }" ::"r"(address_of(&empty[k])) : "memory");
    }
  }
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}
FREE(full_and_empty, (u32* out), (out))

// A flag in the shared memory of the other block.
template <bool good>
__device__ void flag_of_cluster(u32* out) {
  __shared__ u32 s[64], flag;
  const cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) flag = 0;
  cluster.sync();
  u32* const theirs = cluster.map_shared_rank(s, cluster.block_rank() ^ 1);
  theirs[threadIdx.x] = threadIdx.x + cluster.block_rank();
  __syncthreads();
  if (threadIdx.x == 0) {
    cuda::atomic_ref<u32, cuda::thread_scope_device> set(*cluster.map_shared_rank(&flag, cluster.block_rank() ^ 1));
    set.store(1, good ? cuda::memory_order_release : cuda::memory_order_relaxed);
    while (cuda::atomic_ref<u32, cuda::thread_scope_device>(flag).load(cuda::memory_order_acquire) == 0) {
    }
  }
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
  cluster.sync();
}
PAIR_OF_CLUSTERS(flag_of_cluster, (u32* out), (out))

// The last block to arrive sums up.
template <bool good>
__device__ void last_of_grid(u32* out, u32* parts, u32* count) {
  __shared__ u32 last;
  parts[blockIdx.x * 64 + threadIdx.x] = threadIdx.x;
  if (good) __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(count, 1u) == gridDim.x - 1;
  __syncthreads();
  if (last == 0) return;
  u32 sum = 0;
  for (u32 b = 0; b < gridDim.x; ++b) sum += parts[b * 64 + 63 - threadIdx.x];
  out[threadIdx.x] = sum;
}
PAIR(last_of_grid, (u32* out, u32* parts, u32* count), (out, parts, count))

// Volatile reads by many, of which not all need be kept: a plain write races with them, and a plain read among them
// with a volatile write.
template <bool good>
__device__ void polled_by_all(u32* out, u32* data) {
  volatile u32* const word = data;
  u32 sum = 0;
  for (u32 k = 0; k < 3; ++k) sum += word[0];
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 40) {
    if (good) word[0] = 1;
    else data[0] = 1;
  }
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}
PAIR(polled_by_all, (u32* out, u32* data), (out, data))

template <bool good>
__device__ void read_among_polls(u32* out, u32* data) {
  volatile u32* const words = data;
  u32 sum = 0;
  for (u32 k = 0; k < 3; ++k) sum += words[(threadIdx.x + 5 * k) % 64];
  if (!good && blockIdx.x == 12 && threadIdx.x == 7) sum += data[9];
  if (blockIdx.x == gridDim.x - 1) words[threadIdx.x] = 1;
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}
PAIR(read_among_polls, (u32* out, u32* data), (out, data))

// All read a table twice, more often than is kept of each word. The last block to arrive writes to it. The others have
// read before they arrive, or do so afterwards.
template <bool good>
__device__ void rewritten_table(u32* out, u32* table, u32* arrived) {
  __shared__ u32 last;
  u32 sum = table[threadIdx.x * 37 + blockIdx.x * 5 & 63];
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1u);
    while (*static_cast<volatile u32*>(arrived) < gridDim.x) {
    }
    __threadfence();
  }
  __syncthreads();
  if (good) sum += table[threadIdx.x * 37 + blockIdx.x * 7 & 63];
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(arrived + 1, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!good) sum += table[threadIdx.x * 37 + blockIdx.x * 7 & 63];
  __syncthreads();
  if (last != 0) table[threadIdx.x] = 1;
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}
PAIR(rewritten_table, (u32* out, u32* table, u32* arrived), (out, table, arrived))

// A counter of a block is set by one thread, and added to by all.
template <bool good>
__device__ void set_and_counted(u32* out) {
  __shared__ u32 count;
  if (threadIdx.x == 0) count = 3;
  if (good) __syncthreads();
  atomicAdd(&count, 1u);
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = count;
}
PAIR(set_and_counted, (u32* out), (out))

// Bins of the device are set by the first block, which adds to them behind a barrier of its own, and so do the others.
template <bool good>
__device__ void set_by_a_block(u32* out, u32* bins) {
  if (!good && blockIdx.x == 0 && threadIdx.x < 16) bins[threadIdx.x] = 7;
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = atomicAdd(&bins[threadIdx.x * 7 & 15], 1u);
}
PAIR(set_by_a_block, (u32* out, u32* bins), (out, bins))

// A word is stored to plainly and then as volatile; another block's volatile read may be of the first.
template <bool good>
__device__ void set_and_published(u32* out, u32* word) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 1) {
    out[0] = *(volatile u32*)word;
    return;
  }
  if (!good) word[0] = 5;
  *(volatile u32*)word = 6;
}
PAIR(set_and_published, (u32* out, u32* word), (out, word))

// Counters that one warp sets, and all warps add to twice.
template <bool good>
__device__ void set_and_counted_twice(u32* out) {
  __shared__ u32 s[32];
  if (threadIdx.x < 32) s[threadIdx.x] = 0;
  if (good) __syncthreads();
  atomicAdd(&s[threadIdx.x & 31], 1);
  atomicAdd(&s[threadIdx.x & 31], 2);
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x & 31];
}
PAIR(set_and_counted_twice, (u32* out), (out))

// The upper half of each warp writes and exits. The lower half meets, alone.
template <bool good>
__device__ void left_behind(u32* out) {
  __shared__ u32 s[64];
  s[threadIdx.x] = threadIdx.x;
  if (good) __syncwarp();
  if (threadIdx.x & 16) return;
  __syncwarp(0xffff);
  out[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x | 16];
}
PAIR(left_behind, (u32* out), (out))
