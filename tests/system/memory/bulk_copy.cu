// SPDX-License-Identifier: MIT
// Bulk copies (cp.async.bulk) and mbarriers of compute capability 9.0.
#include <cstdint>

namespace {

__device__ uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ void init(uint32_t bar, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count) : "memory");
}
__device__ void expect(uint32_t bar, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}
__device__ void arrive(uint32_t bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
}
__device__ bool try_wait(uint32_t bar, uint32_t parity) {
  uint32_t done;
  asm volatile(
      "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
      : "=r"(done)
      : "r"(bar), "r"(parity)
      : "memory");
  return done != 0;
}
__device__ bool try_wait_for(uint32_t bar, uint32_t parity, uint32_t nanoseconds) {
  uint32_t done;
  asm volatile(
      "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2, %3; selp.u32 %0, 1, 0, p; }"
      : "=r"(done)
      : "r"(bar), "r"(parity), "r"(nanoseconds)
      : "memory");
  return done != 0;
}
__device__ bool test_wait(uint32_t bar, uint32_t parity) {
  uint32_t done;
  asm volatile(
      "{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
      : "=r"(done)
      : "r"(bar), "r"(parity)
      : "memory");
  return done != 0;
}
__device__ void wait(uint32_t bar, uint32_t parity) {
  while (!try_wait(bar, parity)) {
  }
}
__device__ void load(uint32_t to, const void* from, uint32_t bytes, uint32_t bar) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
               "l"(from), "r"(bytes), "r"(bar)
               : "memory");
}
__device__ void store(void* to, uint32_t from, uint32_t bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from), "r"(bytes)
               : "memory");
}
__device__ void add(void* to, uint32_t from, uint32_t bytes) {
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;" ::"l"(to), "r"(from),
               "r"(bytes)
               : "memory");
}
__device__ void within(uint32_t to, uint32_t from, uint32_t bytes, uint32_t bar) {
  asm volatile(
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
      "r"(from), "r"(bytes), "r"(bar)
      : "memory");
}
__device__ void fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ void commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
__device__ void wait_written() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
__device__ void wait_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }

}  // namespace

// Each block performs a program of its own: steps of eight words {operation, slot, other slot, offset, words, value,
// issuing warp, parts}. Its shared memory has `slots` slots of 1024 words; it reads `in` and writes its part of `out`.
constexpr uint32_t slot_words = 1024, slots = 6;
extern "C" __global__ void perform(const uint32_t* steps, uint32_t count, const uint32_t* in, uint32_t* out,
                                   uint32_t out_words) {
  extern __shared__ __align__(128) uint32_t data[];
  __shared__ uint64_t bars[2];
  const uint32_t tid = threadIdx.x, copied = shared_address(&bars[0]), counted = shared_address(&bars[1]);
  for (uint32_t k = tid; k < slots * slot_words; k += blockDim.x) data[k] = k;
  if (tid == 0) {
    init(copied, 1);
    init(counted, blockDim.x / 32);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  steps += blockIdx.x * count * 8;
  out += blockIdx.x * out_words;
  uint32_t copies = 0, counts = 0;
  for (uint32_t k = 0; k < count; ++k, steps += 8) {
    const uint32_t op = steps[0], slot = steps[1], other = steps[2], offset = steps[3], words = steps[4],
                   value = steps[5], issuer = steps[6] * 32, parts = steps[7];
    uint32_t* const here = data + slot * slot_words;
    const uint32_t at = shared_address(here), bytes = words * 4;
    switch (op) {
      case 0:  // load, in parts
        if (tid == issuer) {
          fence();
          const uint32_t part = bytes / parts / 16 * 16;
          if (value & 1) expect(copied, bytes);
          for (uint32_t p = 0; p < parts; ++p) {
            const uint32_t n = p + 1 == parts ? bytes - p * part : part;
            if (n != 0) load(at + p * part, in + offset + p * part / 4, n, copied);
          }
          if (!(value & 1)) expect(copied, bytes);
        }
        wait(copied, copies++ & 1);
        __syncthreads();  // no warp is a phase behind
        break;
      case 1:  // change every word
        for (uint32_t w = tid; w < words; w += blockDim.x) here[w] = here[w] * 3 + value;
        __syncthreads();
        break;
      case 2:  // store
      case 3:  // reduction
        __syncthreads();
        if (tid == issuer) {
          fence();
          if (op == 2) store(out + offset, at, bytes);
          else add(out + offset, at, bytes);
          commit();
          if (value & 1) wait_read();
          else wait_written();
          if (value & 1) wait_written();
        }
        __syncthreads();
        break;
      case 4:  // to another slot
        if (tid == issuer) {
          fence();
          expect(copied, bytes);
          within(shared_address(data + other * slot_words), at, bytes, copied);
        }
        wait(copied, copies++ & 1);
        __syncthreads();
        break;
      case 5: {  // each warp adds to the slot in turn; all wait for all
        for (uint32_t w = tid; w < words; w += blockDim.x) here[w] += value;
        __syncwarp();
        if (tid % 32 == value % 32) arrive(counted);
        const uint32_t parity = counts++ & 1;
        if (value & 2) while (!test_wait(counted, parity)) {}
        else wait(counted, parity);
        break;
      }
    }
  }
  __syncthreads();
  for (uint32_t s = 0; s < slots; ++s)
    for (uint32_t w = tid; w < slot_words; w += blockDim.x) out[out_words - (slots - s) * slot_words + w] = data[s * slot_words + w];
}

// A chase through `in`: each element is the next index. Cycles of a step by bulk copies of 16 bytes, and by loads.
extern "C" __global__ void chase(const uint4* in, uint32_t steps, uint32_t* out) {
  __shared__ __align__(128) uint4 place;
  __shared__ uint64_t bar_;
  const uint32_t bar = shared_address(&bar_), to = shared_address(&place);
  init(bar, 1);
  uint32_t at = 0;
  for (uint32_t k = 0; k < steps; ++k)
    at = __ldcg(&in[at].x);
  const uint32_t begin = clock();
  for (uint32_t k = 0; k < steps; ++k) {
    expect(bar, 16);
    load(to, in + at, 16, bar);
    wait(bar, k & 1);
    at = *reinterpret_cast<volatile uint32_t*>(&place.x);
  }
  const uint32_t middle = clock();
  for (uint32_t k = 0; k < steps; ++k)
    at = __ldcg(&in[at].x);
  const uint32_t end = clock();
  out[0] = (middle - begin) / steps;
  out[1] = (end - middle) / steps;
  out[2] = at;
}

// Each block copies its part of `in` through a ring of boxes of `bytes` bytes: bandwidth.
extern "C" __global__ void stream(const uint8_t* in, uint32_t bytes, uint32_t boxes, uint32_t* out) {
  extern __shared__ __align__(128) uint8_t box[];
  __shared__ uint64_t bar_;
  const uint32_t bar = shared_address(&bar_), to = shared_address(box);
  if (threadIdx.x == 0) {
    init(bar, 1);
    for (uint32_t k = 0; k < boxes; ++k) {
      expect(bar, bytes);
      load(to, in + (static_cast<uint64_t>(k) * gridDim.x + blockIdx.x) * bytes, bytes, bar);
      wait(bar, k & 1);
    }
    out[blockIdx.x] = *reinterpret_cast<volatile uint32_t*>(box);
  }
}

// Warp 0 waits for warp 1, which works for a while: how it waits, and with which limit.
extern "C" __global__ void suspend(uint32_t rounds, uint32_t limit, uint32_t* out) {
  __shared__ uint64_t bar_;
  const uint32_t bar = shared_address(&bar_);
  if (threadIdx.x == 0) init(bar, 1);
  __syncthreads();
  if (threadIdx.x == 32) {
    uint32_t x = 1;
    for (uint32_t k = 0; k < rounds; ++k) x = x * 1664525 + 1013904223;
    out[1] = x;
    arrive(bar);
  }
  if (threadIdx.x == 0) {
    uint32_t tries = 1;
    while (!(limit != 0 ? try_wait_for(bar, 0, limit) : try_wait(bar, 0))) ++tries;
    out[0] = tries;
  }
}

// Lanes of one warp wait for others of it.
extern "C" __global__ void lanes(uint32_t* out) {
  __shared__ uint64_t bars[4];
  __shared__ uint32_t order;
  const uint32_t lane = threadIdx.x, group = lane / 8;
  if (lane < 4) init(shared_address(&bars[lane]), 8);
  if (lane == 0) order = 0;
  __syncwarp();
  if (group != 0) wait(shared_address(&bars[group - 1]), 0);  // group k waits for group k - 1
  out[lane] = atomicAdd(&order, 1) / 8;
  arrive(shared_address(&bars[group]));
}

// No thread completes the phase.
extern "C" __global__ void never() {
  __shared__ uint64_t bar_;
  const uint32_t bar = shared_address(&bar_);
  if (threadIdx.x == 0) init(bar, 2);
  __syncthreads();
  if (threadIdx.x == 0) arrive(bar);
  wait(bar, 0);
}

extern "C" __global__ void wrong(const uint8_t* in, uint32_t to, uint32_t bytes, uint64_t add) {
  __shared__ __align__(128) uint8_t place[256];
  __shared__ uint64_t bar_;
  const uint32_t bar = shared_address(&bar_);
  if (threadIdx.x == 3) {
    init(bar, 1);
    expect(bar, bytes);
    load(shared_address(place) + to, in + add, bytes, bar);
    wait(bar, 0);
  }
}

// A block of the cluster loads for all blocks of `mask`; then each sends what it has to the next one.
extern "C" __global__ void __cluster_dims__(4, 1, 1) multicast(const uint32_t* in, uint32_t words, uint32_t mask,
                                                                uint32_t* out) {
  extern __shared__ __align__(128) uint32_t data[];
  __shared__ uint64_t bars[2];
  uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  const uint32_t got = shared_address(&bars[0]), passed = shared_address(&bars[1]);
  uint32_t* const second = data + words;
  for (uint32_t k = threadIdx.x; k < 2 * words; k += blockDim.x) data[k] = 0;
  if (threadIdx.x == 0) {
    init(got, 1);
    init(passed, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    if (mask >> rank & 1) expect(got, words * 4);
    expect(passed, words * 4);
  }
  asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
  if (rank == 1 && threadIdx.x == 0)
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" ::
            "r"(shared_address(data)),
        "l"(in + blockIdx.x / 4 * words), "r"(words * 4), "r"(got), "h"(static_cast<uint16_t>(mask))
        : "memory");
  if (mask >> rank & 1) wait(got, 0);
  __syncthreads();
  if (threadIdx.x == 0) {
    uint32_t to, bar;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(shared_address(second)), "r"((rank + 1) % 4));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(bar) : "r"(passed), "r"((rank + 1) % 4));
    fence();
    within(to, shared_address(data), words * 4, bar);
  }
  wait(passed, 0);
  for (uint32_t k = threadIdx.x; k < words; k += blockDim.x)
    out[blockIdx.x * words + k] = data[k] * 5 + second[k];
  asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
