// SPDX-License-Identifier: MIT
// Atomics of 16 bytes; wide_atomics.ptx was made from them by
//   nvcc -std=c++17 -arch=sm_90 -ptx wide_atomics.cu
// (CUDA 13.0) and is what the tests run.
#include <cstdint>

struct alignas(16) quad {
  std::uint64_t low, high;
};

__device__ bool operator==(quad a, quad b) { return a.low == b.low && a.high == b.high; }

#define CAS(name, form, constraint, address_type)                                                                      \
  __device__ quad name(address_type at, quad compare, quad value) {                                                    \
    quad old;                                                                                                          \
    asm volatile("{ .reg .b128 c, v, d;\nmov.b128 c, {%3, %4};\nmov.b128 v, {%5, %6};\natom." form                     \
                 ".cas.b128 d, [%2], c, v;\nmov.b128 {%0, %1}, d; }"                                                   \
                 : "=l"(old.low), "=l"(old.high)                                                                       \
                 : constraint(at), "l"(compare.low), "l"(compare.high), "l"(value.low), "l"(value.high)                \
                 : "memory");                                                                                          \
    return old;                                                                                                        \
  }
CAS(cas_global, "relaxed.gpu.global", "l", quad*)
CAS(cas_shared, "acquire.cta.shared::cta", "r", unsigned)
CAS(cas_cluster, "release.cluster.shared::cluster", "r", unsigned)
CAS(cas_generic, "acq_rel.sys", "l", quad*)

#define EXCH(name, form, constraint, address_type)                                                                     \
  __device__ quad name(address_type at, quad value) {                                                                  \
    quad old;                                                                                                          \
    asm volatile("{ .reg .b128 v, d;\nmov.b128 v, {%3, %4};\natom." form                                               \
                 ".exch.b128 d, [%2], v;\nmov.b128 {%0, %1}, d; }"                                                     \
                 : "=l"(old.low), "=l"(old.high)                                                                       \
                 : constraint(at), "l"(value.low), "l"(value.high)                                                     \
                 : "memory");                                                                                          \
    return old;                                                                                                        \
  }
EXCH(exch_global, "global", "l", quad*)
EXCH(exch_cluster, "relaxed.cluster.shared::cluster", "r", unsigned)

__device__ quad load(const quad* at) {
  quad seen;
  asm volatile("{ .reg .b128 d;\nld.relaxed.gpu.global.b128 d, [%2];\nmov.b128 {%0, %1}, d; }"
               : "=l"(seen.low), "=l"(seen.high)
               : "l"(at)
               : "memory");
  return seen;
}

__device__ void store(quad* at, quad value) {
  asm volatile("{ .reg .b128 v;\nmov.b128 v, {%1, %2};\nst.volatile.global.b128 [%0], v; }" ::"l"(at), "l"(value.low),
               "l"(value.high)
               : "memory");
}

/// The upper half of a cell follows from the lower one, a count: a change in two steps would show.
constexpr std::uint64_t factor = 0x9e3779b97f4a7c15u;
__device__ quad cell_of(std::uint64_t count) { return {count, count * factor}; }

template <class Cas>
__device__ void increase(quad seen, unsigned* torn, Cas&& cas) {
  for (;;) {
    if (seen.high != seen.low * factor) atomicAdd(torn, 1);
    const quad found = cas(seen, cell_of(seen.low + 1));
    if (found == seen) return;
    seen = found;
  }
}

__device__ unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ void cluster_barrier() {
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
}

/// Each thread counts `rounds` times in the cells, in another one each time.
extern "C" __global__ void count_global(quad* cells, unsigned* torn, unsigned size, unsigned rounds) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned k = 0; k < rounds; ++k) {
    quad* const at = cells + (t + k) % size;
    increase(load(at), torn, [at](quad c, quad v) { return cas_global(at, c, v); });
  }
}

/// The same in shared memory, whose cells a block adds to those in `cells` at its end.
extern "C" __global__ void count_shared(quad* cells, unsigned* torn, unsigned size, unsigned rounds) {
  extern __shared__ quad own[];
  if (threadIdx.x < size) own[threadIdx.x] = cell_of(0);
  __syncthreads();
  for (unsigned k = 0; k < rounds; ++k) {
    const unsigned at = shared_address(own + (threadIdx.x + k) % size);
    increase(cell_of(0), torn, [at](quad c, quad v) { return cas_shared(at, c, v); });
  }
  __syncthreads();
  if (threadIdx.x < size) store(cells + blockIdx.x * size + threadIdx.x, own[threadIdx.x]);
}

/// The same in the cells of the first block of the cluster.
extern "C" __global__ void count_cluster(quad* cells, unsigned* torn, unsigned size, unsigned rounds) {
  extern __shared__ quad own[];
  if (threadIdx.x < size) own[threadIdx.x] = cell_of(0);
  cluster_barrier();
  for (unsigned k = 0; k < rounds; ++k) {
    unsigned at;
    asm volatile("mapa.shared::cluster.u32 %0, %1, 0;"
                 : "=r"(at)
                 : "r"(shared_address(own + (threadIdx.x + k) % size)));
    increase(cell_of(0), torn, [at](quad c, quad v) { return cas_cluster(at, c, v); });
  }
  cluster_barrier();
  if (threadIdx.x < size) store(cells + blockIdx.x * size + threadIdx.x, own[threadIdx.x]);
}

/// Odd threads count in shared memory, the others in the first cells of `cells`, by generic addresses.
extern "C" __global__ void count_generic(quad* cells, unsigned* torn, unsigned size, unsigned rounds) {
  extern __shared__ quad own[];
  if (threadIdx.x < size) own[threadIdx.x] = cell_of(0);
  __syncthreads();
  for (unsigned k = 0; k < rounds; ++k) {
    quad* const at = (threadIdx.x % 2 != 0 ? own : cells) + (threadIdx.x + k) % size;
    increase(cell_of(0), torn, [at](quad c, quad v) { return cas_generic(at, c, v); });
  }
  __syncthreads();
  if (threadIdx.x < size) store(cells + (blockIdx.x + 1) * size + threadIdx.x, own[threadIdx.x]);
}

/// Each thread gives values away in exchange for others. What is left in the cells and what the threads have at the end
/// (in `cells` behind them) is what was there, in another order.
extern "C" __global__ void exchange_global(quad* cells, unsigned*, unsigned size, unsigned rounds) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  quad value = cell_of(size + t);
  for (unsigned k = 0; k < rounds; ++k) value = exch_global(cells + (t * 5 + k) % size, value);
  store(cells + size + t, value);
}

/// The same with cells in all blocks of the cluster; cells and values of a block follow those of the block before.
extern "C" __global__ void exchange_cluster(quad* cells, unsigned*, unsigned size, unsigned rounds) {
  extern __shared__ quad own[];
  const unsigned ranks = __clusterSizeInBlocks(), t = blockIdx.x * blockDim.x + threadIdx.x;
  quad* const out = cells + blockIdx.x * (size + blockDim.x);
  if (threadIdx.x < size) own[threadIdx.x] = cell_of(blockIdx.x * size + threadIdx.x);
  quad value = cell_of(gridDim.x * size + t);
  cluster_barrier();
  for (unsigned k = 0; k < rounds; ++k) {
    unsigned at;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(at)
                 : "r"(shared_address(own + (t * 5 + k) % size)), "r"((t + k) % ranks));
    value = exch_cluster(at, value);
  }
  cluster_barrier();
  store(out + size + threadIdx.x, value);
  if (threadIdx.x < size) store(out + threadIdx.x, own[threadIdx.x]);
}
