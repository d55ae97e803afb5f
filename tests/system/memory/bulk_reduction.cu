// SPDX-License-Identifier: MIT
// Bulk reductions into the shared memory of blocks of a cluster, and stores of tensors' boxes in im2col mode;
// bulk_reduction.ptx was made from it by
//   nvcc -std=c++17 -arch=sm_90a -ptx bulk_reduction.cu
// (CUDA 13.0) and is what the tests run.
#include <cuda.h>

#include <cstdint>

namespace {

__device__ uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ uint32_t of_rank(uint32_t address, uint32_t rank) {
  uint32_t there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}
__device__ void meet() {
  asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

#define REDUCE(number, words)                                                                           \
  if (operation == number)                                                                              \
    asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes." words \
                 " [%0], [%1], %2, [%3];" ::"r"(to),                                                    \
                 "r"(from), "r"(bytes), "r"(bar)                                                        \
                 : "memory");

__device__ void reduce(uint32_t operation, uint32_t to, uint32_t from, uint32_t bytes, uint32_t bar) {
  REDUCE(0, "add.u32")
  REDUCE(1, "min.s32")
  REDUCE(2, "max.u32")
  REDUCE(3, "and.b32")
  REDUCE(4, "or.b32")
  REDUCE(5, "xor.b32")
  REDUCE(6, "add.u64")
  REDUCE(7, "inc.u32")
  REDUCE(8, "dec.u32")
  REDUCE(9, "min.u32")
  REDUCE(10, "add.s32")
}

}  // namespace

/// Each block of a cluster of four reduces its words into the words of all four. `words` of each block are given, and
/// shown as they are in the end.
extern "C" __global__ void __cluster_dims__(4, 1, 1)
    reduce_all(const uint32_t* in, uint32_t words, uint32_t operation, uint32_t* out) {
  extern __shared__ __align__(128) uint32_t data[];  // what it gives, then what it gets
  __shared__ uint64_t bar_;
  const uint32_t bar = shared_address(&bar_), own = blockIdx.x * words;
  for (uint32_t k = threadIdx.x; k < words; k += blockDim.x) {
    data[k] = in[own + k];
    data[words + k] = in[gridDim.x * words + own + k];
  }
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(4 * 4 * words) : "memory");
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  meet();
  if (threadIdx.x < 4)
    reduce(operation, of_rank(shared_address(data + words), threadIdx.x), shared_address(data), 4 * words,
           of_rank(bar, threadIdx.x));
  asm volatile(
      "{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @p bra done; bra again; done: }" ::
          "r"(bar)
      : "memory");
  for (uint32_t k = threadIdx.x; k < words; k += blockDim.x) out[own + k] = data[words + k];
  meet();
}

/// Each block stores one box of pixels of an image, whose first element is `at` (four numbers a block), or adds it.
extern "C" __global__ void store_pixels(const CUtensorMap* map, const int* at, uint32_t words, uint32_t adds,
                                        const uint32_t* in) {
  extern __shared__ __align__(1024) uint32_t box[];
  for (uint32_t k = threadIdx.x; k < words; k += blockDim.x) box[k] = in[blockIdx.x * words + k];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  at += 4 * blockIdx.x;
  if (threadIdx.x != 0) return;
  if (adds == 0)
    asm volatile(
        "cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group [%0, {%2, %3, %4, %5}], [%1];" ::"l"(map),
        "r"(shared_address(box)), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3])
        : "memory");
  else
    asm volatile(
        "cp.reduce.async.bulk.tensor.4d.global.shared::cta.add.im2col_no_offs.bulk_group [%0, {%2, %3, %4, %5}], "
        "[%1];" ::"l"(map),
        "r"(shared_address(box)), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3])
        : "memory");
  asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}
