// SPDX-License-Identifier: MIT
// What transfers.cu and clusters.cu share: mbarriers and bulk copies.
#pragma once

#include <cstdint>

#define PAIR(name, parameters, arguments)                                          \
  extern "C" __global__ void race_##name parameters { name<false> arguments; }   \
  extern "C" __global__ void free_##name parameters { name<true> arguments; }
#define PAIR_OF_CLUSTERS(name, parameters, arguments)                                                       \
  extern "C" __global__ void __cluster_dims__(2) race_##name parameters { name<false> arguments; }         \
  extern "C" __global__ void __cluster_dims__(2) free_##name parameters { name<true> arguments; }

using u32 = std::uint32_t;
using u64 = std::uint64_t;

__device__ u32 address_of(const void* shared) { return static_cast<u32>(__cvta_generic_to_shared(shared)); }
__device__ void start(u64& barrier, u32 count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address_of(&barrier)), "r"(count) : "memory");
}
__device__ void expect(u64& barrier, u32 bytes) {
  asm volatile("{ .reg .b64 t; mbarrier.arrive.expect_tx.shared.b64 t, [%0], %1; }" ::"r"(address_of(&barrier)),
               "r"(bytes)
               : "memory");
}
__device__ void wait(u64& barrier, u32 parity) {
  u32 done = 0;
  while (done == 0)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(address_of(&barrier)), "r"(parity)
                 : "memory");
}
__device__ void load(u32* to, const u32* from, u32 bytes, u64& barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   address_of(to)),
               "l"(from), "r"(bytes), "r"(address_of(&barrier))
               : "memory");
}
__device__ void store(u32* to, const u32* from, u32 bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n cp.async.bulk.commit_group;" ::"l"(to),
               "r"(address_of(from)), "r"(bytes)
               : "memory");
}
__device__ void add_to(u32* to, const u32* from, u32 bytes) {
  asm volatile(
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;\n cp.async.bulk.commit_group;" ::"l"(to),
      "r"(address_of(from)), "r"(bytes)
      : "memory");
}
__device__ void wait_for_stores() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
__device__ void wait_for_reads() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
__device__ void proxy_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
