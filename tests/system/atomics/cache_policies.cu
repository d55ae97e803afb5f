// SPDX-License-Identifier: MIT
// Reads with cache policies; cache_policies.ptx was made from them by
//   nvcc -std=c++17 -arch=sm_90 -ptx cache_policies.cu
// (CUDA 13.0) and is what the tests run.
#include <cstdint>

/// Reads the first word of each of `sectors` sectors of 32 bytes.
extern "C" __global__ void read(const unsigned* from, unsigned* sum, unsigned sectors, std::uint64_t policy) {
  unsigned all = 0;
  for (unsigned k = blockIdx.x * blockDim.x + threadIdx.x; k < sectors; k += gridDim.x * blockDim.x) {
    unsigned word;
    asm volatile("ld.global.cg.L2::cache_hint.u32 %0, [%1], %2;" : "=r"(word) : "l"(from + 8 * k), "l"(policy));
    all += word;
  }
  if (all == 1) *sum = all;
}

/// The same with policies that the kernel makes: 0 evict_first, 1 evict_first of a part, 2 evict_last of the first half.
extern "C" __global__ void read_made(const unsigned* from, unsigned* sum, unsigned sectors, unsigned which,
                                     float fraction) {
  std::uint64_t policy;
  if (which == 0) asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  else if (which == 1)
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, %1;" : "=l"(policy) : "f"(fraction));
  else
    asm volatile("createpolicy.range.L2::evict_last.L2::evict_first.b64 %0, [%1], %2, %3;"
                 : "=l"(policy)
                 : "l"(from), "r"(16 * sectors), "r"(32 * sectors));
  unsigned all = 0;
  for (unsigned k = blockIdx.x * blockDim.x + threadIdx.x; k < sectors; k += gridDim.x * blockDim.x) {
    unsigned word;
    asm volatile("ld.global.cg.L2::cache_hint.u32 %0, [%1], %2;" : "=r"(word) : "l"(from + 8 * k), "l"(policy));
    all += word;
  }
  if (all == 1) *sum = all;
}

/// Bulk copies of 4 KiB, one after another in each block.
extern "C" __global__ void copy(const unsigned* from, unsigned*, unsigned sectors, std::uint64_t policy) {
  __shared__ alignas(128) unsigned room[1024];
  __shared__ std::uint64_t bar;
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(room)),
             barrier = static_cast<unsigned>(__cvta_generic_to_shared(&bar));
  if (threadIdx.x != 0) return;
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
  unsigned phase = 0;
  for (unsigned k = blockIdx.x; k < sectors / 128; k += gridDim.x, phase ^= 1) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 4096;" ::"r"(barrier) : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], 4096, [%2], "
        "%3;" ::"r"(at),
        "l"(from + 1024 * k), "r"(barrier), "l"(policy)
        : "memory");
    asm volatile("{ .reg .pred p;\nw: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra w; }" ::"r"(
                     barrier),
                 "r"(phase)
                 : "memory");
  }
}
