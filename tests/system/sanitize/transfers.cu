// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_90a -std=c++17 -O3 -lineinfo -o transfers.ptx transfers.cu
// Copies and products in flight, in pairs as in races.cu. Products: 128 threads, all else 64; 2 blocks.
#include "transfers.cuh"

// The tile is read while the copy is in flight.
template <bool good>
__device__ void load_without_wait(u32* out, const u32* in) {
  __shared__ alignas(128) u32 s[64];
  __shared__ u64 full;
  if (threadIdx.x == 0) start(full, 1);
  __syncthreads();
  if (threadIdx.x == 0) expect(full, 256), load(s, in, 256, full);
  if (good) wait(full, 0);
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
}
PAIR(load_without_wait, (u32* out, const u32* in), (out, in))

// One thread waits; a barrier must follow for the others.
template <bool good>
__device__ void load_one_waits(u32* out, const u32* in) {
  __shared__ alignas(128) u32 s[64];
  __shared__ u64 full;
  if (threadIdx.x == 0) start(full, 1);
  __syncthreads();
  if (threadIdx.x == 0) expect(full, 256), load(s, in, 256, full), wait(full, 0);
  if (good) __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
}
PAIR(load_one_waits, (u32* out, const u32* in), (out, in))

// The next tile overwrites one that is still read.
template <bool good>
__device__ void load_over_readers(u32* out, const u32* in) {
  __shared__ alignas(128) u32 s[64];
  __shared__ u64 full;
  if (threadIdx.x == 0) start(full, 1);
  __syncthreads();
  u32 sum = 0;
  for (u32 k = 0; k < 3; ++k) {
    if (threadIdx.x == 0) expect(full, 256), load(s, in + 64 * (k % 2), 256, full);
    wait(full, k % 2);
    sum += s[63 - threadIdx.x];
    if (good) __syncthreads();
  }
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}
PAIR(load_over_readers, (u32* out, const u32* in), (out, in))

// Producer and consumer with full and empty stages; a consumer that gives its stage back too early.
template <bool good>
__device__ void pipeline(u32* out, const u32* in) {
  __shared__ alignas(128) u32 s[2][64];
  __shared__ u64 full[2], empty[2];
  if (threadIdx.x == 0)
    for (u32 k = 0; k < 2; ++k) start(full[k], 1), start(empty[k], 32);
  __syncthreads();
  if (threadIdx.x == 32)
    for (u32 k = 0; k < 6; ++k) {
      wait(empty[k % 2], k / 2 % 2 ^ 1);
      expect(full[k % 2], 256);
      load(s[k % 2], in + 64 * (k % 2), 256, full[k % 2]);
    }
  if (threadIdx.x >= 32) return;
  u32 sum = 0;
  const auto give_back = [&](u32 k) {
    asm volatile("{ .reg .b64 t; mbarrier.arrive.shared.b64 t, [%0]; }" ::"r"(address_of(&empty[k % 2])) : "memory");
  };
  for (u32 k = 0; k < 6; ++k) {
    wait(full[k % 2], k / 2 % 2);
    if (!good) give_back(k);
    sum += s[k % 2][threadIdx.x] + s[k % 2][63 - threadIdx.x];
    if (good) give_back(k);
  }
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}
PAIR(pipeline, (u32* out, const u32* in), (out, in))

// A wait for the phase before this one.
template <bool good>
__device__ void wrong_phase(u32* out, const u32* in) {
  __shared__ alignas(128) u32 s[64];
  __shared__ u64 full;
  if (threadIdx.x == 0) start(full, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    expect(full, 512);
    load(s, in, 256, full);
  }
  if (good && threadIdx.x == 0)
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 256;" ::"r"(address_of(&full)) : "memory");
  wait(full, good ? 0 : 1);
  out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
}
PAIR(wrong_phase, (u32* out, const u32* in), (out, in))

// The source in global memory is overwritten while the copy reads it.
template <bool good>
__device__ void load_source_overwritten(u32* out, u32* in) {
  __shared__ alignas(128) u32 s[64];
  __shared__ u64 full;
  u32* const own = in + 64 * blockIdx.x;
  if (threadIdx.x == 0) start(full, 1);
  __syncthreads();
  if (threadIdx.x == 0) expect(full, 256), load(s, own, 256, full);
  if (good) wait(full, 0);
  own[threadIdx.x] = threadIdx.x;
  wait(full, 0);
  out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
}
PAIR(load_source_overwritten, (u32* out, u32* in), (out, in))

// The tile is stored before all threads have written it.
template <bool good>
__device__ void store_without_barrier(u32* out) {
  __shared__ alignas(128) u32 s[64];
  s[threadIdx.x] = threadIdx.x + 1;
  proxy_fence();
  if (good) __syncthreads();
  if (threadIdx.x == 0) store(out + blockIdx.x * 64, s, 256), wait_for_stores();
}
PAIR(store_without_barrier, (u32* out), (out))

// The tile is overwritten while the copy reads it.
template <bool good>
__device__ void store_source_overwritten(u32* out) {
  __shared__ alignas(128) u32 s[64];
  for (u32 k = 0; k < 2; ++k) {
    s[threadIdx.x] = threadIdx.x + k;
    proxy_fence();
    __syncthreads();
    if (threadIdx.x == 0) {
      store(out + k * 128 + blockIdx.x * 64, s, 256);
      if (good) wait_for_reads();
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) wait_for_stores();
}
PAIR(store_source_overwritten, (u32* out), (out))

// The result is read back when the copy has only read its source.
template <bool good>
__device__ void store_read_back(u32* out, u32* middle) {
  __shared__ alignas(128) u32 s[64];
  s[threadIdx.x] = threadIdx.x;
  proxy_fence();
  __syncthreads();
  if (threadIdx.x == 0) {
    store(middle + blockIdx.x * 64, s, 256);
    if (good) wait_for_stores();
    else wait_for_reads();
  }
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = middle[blockIdx.x * 64 + 63 - threadIdx.x];
}
PAIR(store_read_back, (u32* out, u32* middle), (out, middle))

// The block exits while a copy reads its shared memory.
template <bool good>
__device__ void store_and_exit(u32* out) {
  __shared__ alignas(128) u32 s[64];
  s[threadIdx.x] = threadIdx.x;
  proxy_fence();
  __syncthreads();
  if (threadIdx.x != 0) return;
  store(out + blockIdx.x * 64, s, 256);
  if (good) wait_for_reads();
}
PAIR(store_and_exit, (u32* out), (out))

// Reductions are atomic with each other, not with a plain store.
template <bool good>
__device__ void bulk_reduction(u32* out) {
  __shared__ alignas(128) u32 s[64];
  s[threadIdx.x] = threadIdx.x;
  proxy_fence();
  __syncthreads();
  if (threadIdx.x == 0) add_to(out, s, 256), wait_for_stores();
  if (!good) out[threadIdx.x] += 1;
  else atomicAdd(out + threadIdx.x, 1);
}
PAIR(bulk_reduction, (u32* out), (out))

__device__ void copy_in(u32* to, const u32* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(address_of(to)), "l"(from) : "memory");
}
__device__ void close_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int left>
__device__ void await_groups() { asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory"); }

// wait_group waits for closed groups alone.
template <bool good>
__device__ void copy_of_no_group(u32* out, const u32* in) {
  __shared__ u32 s[64];
  copy_in(&s[threadIdx.x], in + threadIdx.x);
  if (good) close_group();
  await_groups<0>();
  out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x];
  await_groups<0>();
}
PAIR(copy_of_no_group, (u32* out, const u32* in), (out, in))

// Two stages: the newer one may still be in flight.
template <bool good>
__device__ void copy_of_newest_group(u32* out, const u32* in) {
  __shared__ u32 s[2][64];
  copy_in(&s[0][threadIdx.x], in + threadIdx.x);
  close_group();
  copy_in(&s[1][threadIdx.x], in + 64 + threadIdx.x);
  close_group();
  await_groups<1>();
  out[blockIdx.x * 64 + threadIdx.x] = s[good ? 0 : 1][threadIdx.x];
  await_groups<0>();
}
PAIR(copy_of_newest_group, (u32* out, const u32* in), (out, in))

// The thread overwrites what its own copy reads.
template <bool good>
__device__ void copy_source_overwritten(u32* out, u32* in) {
  __shared__ u32 s[64];
  u32* const own = in + blockIdx.x * 64 + threadIdx.x;
  copy_in(&s[threadIdx.x], own);
  close_group();
  if (good) await_groups<0>();
  *own = 7;
  await_groups<0>();
  out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x];
}
PAIR(copy_source_overwritten, (u32* out, u32* in), (out, in))

// cp.async.mbarrier.arrive hands copies to those who wait at the mbarrier.
template <bool good>
__device__ void copies_at_mbarrier(u32* out, const u32* in) {
  __shared__ u32 s[64];
  __shared__ u64 full;
  if (threadIdx.x == 0) start(full, 64);
  __syncthreads();
  copy_in(&s[threadIdx.x], in + threadIdx.x);
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(address_of(&full)) : "memory");
  if (good) wait(full, 0);
  out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
  wait(full, 0);
}
PAIR(copies_at_mbarrier, (u32* out, const u32* in), (out, in))

// Products of a warpgroup: 64 rows of a, 8 columns of b, 16 elements deep, without swizzling.
struct tiles {
  alignas(128) u32 a[64 * 8], b[8 * 8];
};
__device__ u64 matrix(const void* at, u32 leading, u32 stride) {
  return (address_of(at) >> 4 & 0x3fff) | u64(leading >> 4) << 16 | u64(stride >> 4) << 32;
}
__device__ void fill(tiles& t, u32 value) {
  for (u32 k = threadIdx.x; k < 64 * 8; k += 128) t.a[k] = value;
  if (threadIdx.x < 64) t.b[threadIdx.x] = value;
}
__device__ void multiply(float (&d)[4], const tiles& t) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "l"(matrix(t.a, 1024, 128)), "l"(matrix(t.b, 128, 128)));
}
__device__ void product_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ void commit_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int left>
__device__ void await_products() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(left) : "memory"); }
// A use that the compiler moves neither up nor down.
__device__ float used(float v) {
  float w;
  asm volatile("add.f32 %0, %1, 0f3f800000;" : "=f"(w) : "f"(v) : "memory");
  return w;
}

template <bool good>
__device__ void accumulator_without_wait(float* out) {
  __shared__ tiles t;
  fill(t, 0x3c003c00);
  proxy_fence();
  __syncthreads();
  float d[4] = {};
  product_fence();
  multiply(d, t);
  commit_products();
  if (good) await_products<0>();
  out[blockIdx.x * 128 + threadIdx.x] = used(d[0]);
  await_products<0>();
}
PAIR(accumulator_without_wait, (float* out), (out))

// The product was not closed into a group.
template <bool good>
__device__ void product_of_no_group(float* out) {
  __shared__ tiles t;
  fill(t, 0x3c003c00);
  proxy_fence();
  __syncthreads();
  float d[4] = {};
  product_fence();
  multiply(d, t);
  if (good) commit_products();
  await_products<0>();
  out[blockIdx.x * 128 + threadIdx.x] = used(d[0]);
}
PAIR(product_of_no_group, (float* out), (out))

// Two products in flight: only the older one is complete.
template <bool good>
__device__ void newest_product(float* out) {
  __shared__ tiles t;
  fill(t, 0x3c003c00);
  proxy_fence();
  __syncthreads();
  float d[4] = {}, e[4] = {};
  product_fence();
  multiply(d, t);
  commit_products();
  multiply(e, t);
  commit_products();
  await_products<1>();
  out[blockIdx.x * 128 + threadIdx.x] = good ? used(d[0]) : used(e[0]);
  await_products<0>();
  out[256 + blockIdx.x * 128 + threadIdx.x] = used(d[1]) + used(e[1]);
}
PAIR(newest_product, (float* out), (out))

// The tile is filled again while the product reads it.
template <bool good>
__device__ void operand_overwritten(float* out) {
  __shared__ tiles t;
  float d[4] = {};
  for (u32 k = 0; k < 2; ++k) {
    fill(t, 0x3c003c00 + k);
    proxy_fence();
    __syncthreads();
    product_fence();
    multiply(d, t);
    commit_products();
    if (good) await_products<0>();
    __syncthreads();
  }
  await_products<0>();
  out[blockIdx.x * 128 + threadIdx.x] = used(d[0]);
}
PAIR(operand_overwritten, (float* out), (out))

// The product begins before all threads have filled the tile.
template <bool good>
__device__ void operand_without_barrier(float* out) {
  __shared__ tiles t;
  fill(t, 0x3c003c00);
  proxy_fence();
  if (good) __syncthreads();
  float d[4] = {};
  product_fence();
  multiply(d, t);
  commit_products();
  await_products<0>();
  out[blockIdx.x * 128 + threadIdx.x] = used(d[0]);
}
PAIR(operand_without_barrier, (float* out), (out))
