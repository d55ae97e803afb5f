// SPDX-License-Identifier: MIT
// Kernels of thread block clusters; clusters.ptx was made from them by
//   nvcc -std=c++17 -arch=sm_90 -ptx clusters.cu
// (CUDA 13.0) and is what the tests run.

/// Words that each block writes: its place in the cluster, the cluster's size and place, and the SM.
constexpr unsigned shape_words = 16;

extern "C" __global__ void shape(unsigned* out) {
  unsigned* to = out + shape_words * (blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z));
  const dim3 place = __clusterRelativeBlockIdx(), size = __clusterDim(), cluster = __clusterIdx(),
             clusters = __clusterGridDimInClusters();
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  to[0] = place.x, to[1] = place.y, to[2] = place.z;
  to[3] = size.x, to[4] = size.y, to[5] = size.z;
  to[6] = cluster.x, to[7] = cluster.y, to[8] = cluster.z;
  to[9] = clusters.x, to[10] = clusters.y, to[11] = clusters.z;
  to[12] = __clusterRelativeBlockRank(), to[13] = __clusterSizeInBlocks();
  to[14] = __clusterDimIsSpecified();
  to[15] = sm;
}

/// Each round, a thread takes the value that its neighbour in the next block of the cluster had in the round before.
/// Blocks do different amounts of work, so that they arrive at different times. `value` has two words for each thread.
extern "C" __global__ void ring(volatile unsigned* value, unsigned rounds) {
  const unsigned threads = gridDim.x * blockDim.x, ranks = __clusterSizeInBlocks(), rank = __clusterRelativeBlockRank();
  const unsigned own = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned next = (blockIdx.x - rank + (rank + 1) % ranks) * blockDim.x + threadIdx.x;
  for (unsigned round = 0; round < rounds; ++round) {
    for (unsigned k = 0; k < (rank * 7 + round * 3) % 5 * 20; ++k) asm volatile("");
    const unsigned from = round % 2 * threads, to = (round + 1) % 2 * threads;
    value[to + own] = value[from + next] * 3 + round;
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
  }
}

/// Threads arrive on different paths and at different times, some exit instead, and all others do work between arrival
/// and wait. A counter of arrivals in each cluster must be complete after the wait.
extern "C" __global__ void divergent(unsigned* arrived, unsigned* seen) {
  const unsigned ranks = __clusterSizeInBlocks(), rank = __clusterRelativeBlockRank(), cluster = blockIdx.x / ranks;
  const unsigned own = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x % 16 == 5 || rank == 3) {  // a whole block, and some lanes of each warp
    atomicAdd(arrived + cluster, 1);
    return;
  }
  if (threadIdx.x % 3 == 0) {
    atomicAdd(arrived + cluster, 1);
    __cluster_barrier_arrive();
  } else {
    unsigned waste = own;
    for (unsigned k = 0; k < threadIdx.x % 7 * 5; ++k) waste = waste * 5 + 1;
    atomicAdd(arrived + cluster, waste == 0xffffffff ? 2 : 1);
    __cluster_barrier_arrive();
  }
  unsigned between = own;
  for (unsigned k = 0; k < rank * 10; ++k) between = between * 3 + 1;
  __cluster_barrier_wait();
  seen[own] = *static_cast<volatile unsigned*>(arrived + cluster) + (between == 0x12345678 ? 1 : 0);
}

/// Warp 0 of the first block waits for its cluster, the others for warp 0: none can go on.
extern "C" __global__ void stuck() {
  __cluster_barrier_arrive_relaxed();
  if (__clusterRelativeBlockRank() == 0 && threadIdx.x >= 32) __syncthreads();
  __cluster_barrier_wait();
  __cluster_barrier_arrive_relaxed();
  if (__clusterRelativeBlockRank() == 0 && threadIdx.x >= 32) return;
  __cluster_barrier_wait();
}

/// Cycles of `rounds` barriers without memory order, as thread 0 of each block sees them.
extern "C" __global__ void barriers(unsigned* cycles, unsigned rounds) {
  __cluster_barrier_arrive_relaxed();
  __cluster_barrier_wait();
  const unsigned begin = clock();
  for (unsigned k = 0; k < rounds; ++k) {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;");
  }
  if (threadIdx.x == 0) cycles[blockIdx.x] = clock() - begin;
}

/// The cluster's size is part of the kernel.
extern "C" __global__ void __cluster_dims__(2, 1, 1) pairs(unsigned* out) {
  if (threadIdx.x == 0) out[blockIdx.x] = __clusterRelativeBlockRank() + 10 * __clusterSizeInBlocks();
}

/// A sum of `values` 32-bit words for each cluster: each block sums its part, its threads add it to one cell of every
/// block of the cluster, and block 0 writes what it has got. All blocks must agree.
extern "C" __global__ void split_sum(const unsigned* in, unsigned* out, unsigned* agree, unsigned values) {
  __shared__ unsigned sum;
  const unsigned ranks = __clusterSizeInBlocks(), rank = __clusterRelativeBlockRank(), cluster = blockIdx.x / ranks;
  if (threadIdx.x == 0) sum = 0;
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
  unsigned own = 0;
  for (unsigned k = rank * blockDim.x + threadIdx.x; k < values; k += ranks * blockDim.x)
    own += in[cluster * values + k];
  for (unsigned k = 0; k < ranks; ++k)
    atomicAdd(static_cast<unsigned*>(__cluster_map_shared_rank(&sum, (rank + k) % ranks)), own);
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
  if (rank == 0 && threadIdx.x == 0) out[cluster] = sum;
  if (threadIdx.x < ranks) {
    const unsigned other = *static_cast<unsigned*>(__cluster_map_shared_rank(&sum, threadIdx.x));
    atomicAdd(agree, other == sum ? 1 : 0);
  }
  __cluster_barrier_arrive();  // no block ends while others read its memory
  __cluster_barrier_wait();
}

/// As `ring`, over shared memory: values of 1, 2, 4, 8 and 16 bytes are written to the next block and read from it.
extern "C" __global__ void shared_ring(uint4* value, unsigned rounds) {
  extern __shared__ uint4 room[];  // two for each thread
  const unsigned ranks = __clusterSizeInBlocks(), rank = __clusterRelativeBlockRank();
  const unsigned own = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
  room[t] = value[own];
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
  for (unsigned round = 0; round < rounds; ++round) {
    uint4* const mine = room + round % 2 * blockDim.x;
    uint4* const next = static_cast<uint4*>(__cluster_map_shared_rank(room, (rank + 1) % ranks));
    uint4* const to = next + (round + 1) % 2 * blockDim.x;
    uint4 v = mine[t];
    v.x = v.x * 3 + round;
    if (t % 5 == 0) {
      to[t] = v;
    } else if (t % 5 == 1) {
      reinterpret_cast<uint2*>(to + t)[0] = make_uint2(v.x, v.y);
      reinterpret_cast<uint2*>(to + t)[1] = make_uint2(v.z, v.w);
    } else if (t % 5 == 2) {
      for (unsigned k = 0; k < 4; ++k) reinterpret_cast<unsigned*>(to + t)[k] = reinterpret_cast<unsigned*>(&v)[k];
    } else if (t % 5 == 3) {
      for (unsigned k = 0; k < 8; ++k)
        reinterpret_cast<unsigned short*>(to + t)[k] = reinterpret_cast<unsigned short*>(&v)[k];
    } else {
      for (unsigned k = 0; k < 16; ++k)
        reinterpret_cast<unsigned char*>(to + t)[k] = reinterpret_cast<unsigned char*>(&v)[k];
    }
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
  }
  value[own] = static_cast<uint4*>(__cluster_map_shared_rank(room, rank))[rounds % 2 * blockDim.x + t];
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
}

/// Cycles of a load from the shared memory of the block with rank `rank`: a chain of loads of one thread.
extern "C" __global__ void chase(unsigned* cycles, unsigned rank, unsigned steps) {
  __shared__ unsigned next[32];
  next[threadIdx.x] = 0;
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    unsigned place, at;
    asm volatile("{ .reg .u32 a; mov.u32 a, %1; mapa.shared::cluster.u32 %0, a, %2; }"
                 : "=r"(place)
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(next))), "r"(rank));
    at = place;
    const unsigned begin = clock();
    for (unsigned k = 0; k < steps; ++k) {
      unsigned v;
      asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(at) : "memory");
      at = place + v;
    }
    cycles[0] = (clock() - begin) + (at == 1 ? 1 : 0);
  }
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
}

/// Accesses a block that does not exist, or that has ended.
extern "C" __global__ void wrong(unsigned rank, unsigned ends) {
  __shared__ unsigned cell;
  cell = 1;
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
  if (ends != 0) {
    if (blockIdx.x == rank) return;
    const unsigned begin = clock();
    while (clock() - begin < 5000) {}
  }
  *static_cast<volatile unsigned*>(__cluster_map_shared_rank(&cell, rank)) = 2;
}
