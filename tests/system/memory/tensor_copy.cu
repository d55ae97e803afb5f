// SPDX-License-Identifier: MIT
// Bulk copies of tensors' boxes (cp.async.bulk.tensor). Each block moves one box, whose first element is `at` (five
// numbers a block), and shows or fills its shared memory as it lies there.
#include <cuda.h>

#include <cstdint>

namespace {

__device__ uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ void begin(uint32_t bar, uint32_t bytes) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}
__device__ void wait(uint32_t bar) {
  asm volatile(
      "{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @p bra done; bra again; done: }" ::"r"(
          bar)
      : "memory");
}
__device__ void finish() {
  asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}

#define LOAD "cp.async.bulk.tensor."
#define INTO "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {"

template <int dimensions>
__device__ void load(uint32_t to, const CUtensorMap* map, const int* at, uint32_t bar) {
  if (dimensions == 1)
    asm volatile(LOAD "1" INTO "%3}], [%2];" ::"r"(to), "l"(map), "r"(bar), "r"(at[0]) : "memory");
  if (dimensions == 2)
    asm volatile(LOAD "2" INTO "%3, %4}], [%2];" ::"r"(to), "l"(map), "r"(bar), "r"(at[0]), "r"(at[1]) : "memory");
  if (dimensions == 3)
    asm volatile(LOAD "3" INTO "%3, %4, %5}], [%2];" ::"r"(to), "l"(map), "r"(bar), "r"(at[0]), "r"(at[1]), "r"(at[2])
                 : "memory");
  if (dimensions == 4)
    asm volatile(LOAD "4" INTO "%3, %4, %5, %6}], [%2];" ::"r"(to), "l"(map), "r"(bar), "r"(at[0]), "r"(at[1]),
                 "r"(at[2]), "r"(at[3])
                 : "memory");
  if (dimensions == 5)
    asm volatile(LOAD "5" INTO "%3, %4, %5, %6, %7}], [%2];" ::"r"(to), "l"(map), "r"(bar), "r"(at[0]), "r"(at[1]),
                 "r"(at[2]), "r"(at[3]), "r"(at[4])
                 : "memory");
}

template <int dimensions>
__device__ void show(const CUtensorMap* map, const int* at, uint32_t bytes, uint8_t* out) {
  extern __shared__ __align__(1024) uint8_t box[];
  __shared__ uint64_t bar_;
  const uint32_t bar = shared_address(&bar_);
  if (threadIdx.x == 0) begin(bar, bytes);
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
    load<dimensions>(shared_address(box), map, at + 5 * blockIdx.x, bar);
  }
  wait(bar);
  for (uint32_t k = threadIdx.x; k < bytes; k += blockDim.x) out[blockIdx.x * bytes + k] = box[k];
}

__device__ uint32_t fill(const uint8_t* in, uint32_t bytes) {
  extern __shared__ __align__(1024) uint8_t box[];
  for (uint32_t k = threadIdx.x; k < bytes; k += blockDim.x) box[k] = in[blockIdx.x * bytes + k];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  return shared_address(box);
}

}  // namespace

#define SHOW(n)                                                                                              \
  extern "C" __global__ void load_##n(const __grid_constant__ CUtensorMap map, const int* at, uint32_t bytes, \
                                      uint8_t* out) {                                                        \
    show<n>(&map, at, bytes, out);                                                                           \
  }
SHOW(1)
SHOW(2)
SHOW(3)
SHOW(4)
SHOW(5)

// The map is a part of a parameter, whose other parts the kernel reads.
struct parameters {
  uint32_t scale;
  CUtensorMap map;
  uint32_t unused[5];
};
extern "C" __global__ void of_struct(const __grid_constant__ parameters p, const int* at, uint32_t bytes,
                                     uint8_t* out) {
  const parameters* all = &p;
  asm volatile("" : "+l"(all));
  show<2>(&p.map, at, bytes, out);
  if (threadIdx.x == 0 && all->scale != 7) out[0] = 0xee;
}

extern "C" __global__ void store_2(const __grid_constant__ CUtensorMap map, const int* at, uint32_t bytes,
                                   const uint8_t* in) {
  const uint32_t box = fill(in, bytes);
  at += 5 * blockIdx.x;
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&map),
                 "r"(box), "r"(at[0]), "r"(at[1])
                 : "memory");
    finish();
  }
}
extern "C" __global__ void store_3(const __grid_constant__ CUtensorMap map, const int* at, uint32_t bytes,
                                   const uint8_t* in) {
  const uint32_t box = fill(in, bytes);
  at += 5 * blockIdx.x;
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(&map),
                 "r"(box), "r"(at[0]), "r"(at[1]), "r"(at[2])
                 : "memory");
    finish();
  }
}
extern "C" __global__ void add_2(const __grid_constant__ CUtensorMap map, const int* at, uint32_t bytes,
                                 const uint8_t* in) {
  const uint32_t box = fill(in, bytes);
  at += 5 * blockIdx.x;
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(&map), "r"(at[0]), "r"(at[1])
                 : "memory");
    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(
                     &map),
                 "r"(box), "r"(at[0]), "r"(at[1])
                 : "memory");
    finish();
  }
}

// The map of another tensor, changed in shared memory and copied from there to global memory: a tensor of 40 x 30 floats
// at `tensor`, boxes of 16 x 8 with swizzled rows, NaN outside.
__device__ CUtensorMap changed[16];
extern "C" __global__ void replaced(const __grid_constant__ CUtensorMap map, const int* at, uint32_t bytes, uint8_t* out,
                                    const float* tensor) {
  __shared__ __align__(128) uint32_t copy[32];
  if (threadIdx.x < 32) {
    copy[threadIdx.x] = reinterpret_cast<const uint32_t*>(&map)[threadIdx.x];
    __syncwarp();
    const uint32_t here = shared_address(copy);
#define REPLACE(field, type, constraint, value) \
  asm volatile("tensormap.replace.tile." field ".shared::cta.b1024." type ", %1;" ::"r"(here), constraint(value) : "memory")
#define CHOOSE(field, value) asm volatile("tensormap.replace.tile." field ".shared::cta.b1024.b32 [%0], " value ";" ::"r"(here) : "memory")
    if (threadIdx.x == 0) {
      REPLACE("global_address", "b64 [%0]", "l", tensor);
      REPLACE("rank", "b32 [%0]", "r", 1);
      REPLACE("box_dim", "b32 [%0], 0", "r", 16);
      REPLACE("box_dim", "b32 [%0], 1", "r", 8);
      REPLACE("global_dim", "b32 [%0], 0", "r", 40);
      REPLACE("global_dim", "b32 [%0], 1", "r", 30);
      REPLACE("global_stride", "b64 [%0], 0", "l", uint64_t{160});
      REPLACE("element_stride", "b32 [%0], 0", "r", 1);
      REPLACE("element_stride", "b32 [%0], 1", "r", 1);
      CHOOSE("elemtype", "7");
      CHOOSE("interleave_layout", "0");
      CHOOSE("swizzle_mode", "2");
      CHOOSE("fill_mode", "1");
    }
    __syncwarp();
    asm volatile(
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(
            changed + blockIdx.x),
        "r"(here)
        : "memory");
  }
  __syncthreads();
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(changed + blockIdx.x) : "memory");
  show<2>(changed + blockIdx.x, at, bytes, out);
}
