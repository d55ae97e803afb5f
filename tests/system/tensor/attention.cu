// SPDX-License-Identifier: MIT
// Attention of heads of 64 f16 in the manner of FlashAttention-3: a producer warpgroup lets the TMA fetch tiles of keys
// and values, and two consumer warpgroups of 64 queries alternate (ping-pong): one multiplies the next keys and
// the last values while the other one computes its exponentials. attention.ptx was made from it by
//   nvcc -std=c++17 -arch=sm_90a -ptx attention.cu
// (CUDA 13.0) and is what the tests run.
#include <cuda_fp16.h>

#include <cstdint>

using u32 = std::uint32_t;
using u64 = std::uint64_t;

struct alignas(64) tensor_map {
  u64 words[16];
};

constexpr u32 width = 64, tile = 64, groups = 2, stages = 3, threads = 128 * (groups + 1);
constexpr u32 tile_bytes = tile * width * 2, row_bytes = width * 2;

// Shared memory: queries of each group, then keys and values of each stage, then mbarriers.
extern __shared__ __align__(1024) unsigned char memory[];
constexpr u32 keys_at = groups * tile_bytes, barriers_at = keys_at + stages * 2 * tile_bytes;
static_assert(barriers_at + 8 * (1 + 2 * stages) == 65592, "what the launches give");

#define LIST                                                                                               \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, " \
  "%22, %23, %24, %25, %26, %27, %28, %29, %30, %31}"
#define O4(d, k) "+f"(d[k]), "+f"(d[k + 1]), "+f"(d[k + 2]), "+f"(d[k + 3])
#define O16(d, k) O4(d, k), O4(d, k + 4), O4(d, k + 8), O4(d, k + 12)

__device__ void multiply(float (&d)[32], u64 a, u64 b, int add) {
  asm volatile("{.reg .pred p; setp.ne.b32 p, %34, 0;\n wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " LIST
               ", %32, %33, p, 1, 1, 0, 0;}"
               : O16(d, 0), O16(d, 16)
               : "l"(a), "l"(b), "r"(add));
}
/// a in registers, b with its rows along k.
__device__ void multiply_transposed(float (&d)[32], const u32 (&a)[4], u64 b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " LIST ", {%32, %33, %34, %35}, %36, 1, 1, 1, 1;"
               : O16(d, 0), O16(d, 16)
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
__device__ void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int pending>
__device__ void wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}

/// Rows of 128 bytes with swizzled chunks of 16, from `start` on.
__device__ u64 descriptor(u32 start, u32 leading) {
  return (start >> 4 & 0x3fff) | u64(leading >> 4 & 0x3fff) << 16 | u64(8 * row_bytes >> 4) << 32 | u64(1) << 62;
}

__device__ void arrive(u32 barrier) {
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ void expect(u32 barrier, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
__device__ void await(u32 barrier, u32 phase) {
  asm volatile(
      "{.reg .pred p;\nWAIT_%=:\n mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%0], %1;\n @!p bra WAIT_%=;}"
      ::"r"(barrier), "r"(phase) : "memory");
}
__device__ void load_box(u32 to, const tensor_map& map, u32 row, u32 barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
      ::"r"(to), "l"(&map), "r"(0), "r"(row), "r"(barrier) : "memory");
}
__device__ u32 keys(u32 at, u32 stage) { return at + keys_at + stage % stages * 2 * tile_bytes; }
__device__ u32 query_barrier(u32 at) { return at + barriers_at; }
__device__ u32 full(u32 at, u32 stage) { return at + barriers_at + 8 * (1 + stage % stages); }
__device__ u32 empty(u32 at, u32 stage) { return full(at, stage) + 8 * stages; }
/// The order of the groups at the tensor units.
__device__ void await_order(u32 group) { asm volatile("bar.sync %0, 256;" ::"r"(1 + group) : "memory"); }
__device__ void give_order(u32 group) { asm volatile("bar.arrive %0, 256;" ::"r"(1 + group) : "memory"); }

__device__ float over_row(float v, bool sums) {
  for (u32 lanes = 1; lanes < 4; lanes *= 2) {
    const float other = __shfl_xor_sync(~0u, v, lanes);
    v = sums ? v + other : fmaxf(v, other);
  }
  return v;
}

/// What a thread knows of its two rows, 8 apart.
struct rows {
  float most[2] = {-1e30f, -1e30f};
  float sum[2] = {0, 0};
};

/// Scores become weights. `old`: by which the sums so far are to be scaled, of each row.
__device__ void weigh(float (&s)[32], rows& r, float scale, float (&old)[2]) {
  for (u32 half = 0; half < 2; ++half) {
    float most = r.most[half];
    for (u32 k = 0; k < 8; ++k) most = fmaxf(most, fmaxf(s[4 * k + 2 * half], s[4 * k + 2 * half + 1]));
    most = over_row(most, false);
    old[half] = exp2f((r.most[half] - most) * scale);
    float sum = 0;
    for (u32 k = 0; k < 8; ++k)
      for (u32 e = 0; e < 2; ++e) {
        float& x = s[4 * k + 2 * half + e];
        x = exp2f((x - most) * scale);
        sum += x;
      }
    r.sum[half] = r.sum[half] * old[half] + sum;
    r.most[half] = most;
  }
}

/// Weights as the factor of the next product; the sums so far are scaled to the same maximum.
__device__ void pack(const float (&s)[32], const float (&old)[2], u32 (&weights)[4][4], float (&o)[32]) {
  for (u32 k = 0; k < 4; ++k)
    for (u32 q = 0; q < 4; ++q) {
      const __half2 two = __floats2half2_rn(s[8 * k + 2 * q], s[8 * k + 2 * q + 1]);
      weights[k][q] = *reinterpret_cast<const u32*>(&two);
    }
  for (u32 k = 0; k < 32; ++k) o[k] *= old[k / 2 % 2];
}

__device__ void add_values(float (&o)[32], const u32 (&weights)[4][4], u32 values) {
  for (u32 j = 0; j < 4; ++j)
    multiply_transposed(o, weights[j], descriptor(values + j * 16 * row_bytes, tile_bytes));
  commit();
}

__device__ void produce(const tensor_map& q, const tensor_map& k, const tensor_map& v, u32 at, u32 row, u32 key_row,
                        u32 tiles) {
  expect(query_barrier(at), groups * tile_bytes);
  for (u32 group = 0; group < groups; ++group)
    load_box(at + group * tile_bytes, q, row + group * tile, query_barrier(at));
  for (u32 t = 0; t < tiles; ++t) {
    if (t >= stages) await(empty(at, t), t / stages - 1 & 1);
    const u32 to = keys(at, t);
    expect(full(at, t), 2 * tile_bytes);
    load_box(to, k, key_row + t * tile, full(at, t));
    load_box(to + tile_bytes, v, key_row + t * tile, full(at, t));
  }
}

template <bool ping_pong>
__device__ void consume(float* out, u32 at, u32 group, u32 tiles, float scale) {
  const u32 queries = at + group * tile_bytes;
  float o[32] = {};
  rows r;
  await(query_barrier(at), 0);
  if (ping_pong && group == 1) give_order(0);
  u32 weights[4][4];
  for (u32 t = 0; t < tiles; ++t) {
    float s[32] = {}, old[2];
    await(full(at, t), t / stages & 1);
    if (ping_pong) await_order(group);
    fence();
    for (u32 j = 0; j < 4; ++j)
      multiply(s, descriptor(queries + 32 * j, 1), descriptor(keys(at, t) + 32 * j, 1), j > 0);
    commit();
    if (t > 0) add_values(o, weights, keys(at, t - 1) + tile_bytes);
    if (ping_pong && (group == 0 || t + 1 < tiles)) give_order(1 - group);
    if (t > 0) wait<1>();
    else wait<0>();
    weigh(s, r, scale, old);
    wait<0>();
    if (t > 0 && threadIdx.x % 128 == 0) arrive(empty(at, t - 1));
    pack(s, old, weights, o);
  }
  fence();
  add_values(o, weights, keys(at, tiles - 1) + tile_bytes);
  wait<0>();
  const u32 lane = threadIdx.x % 32, row = threadIdx.x % 128 / 32 * 16 + lane / 4;
  for (u32 half = 0; half < 2; ++half) {
    const float factor = 1 / over_row(r.sum[half], true);
    for (u32 k = 0; k < 8; ++k)
      *reinterpret_cast<float2*>(out + (row + 8 * half) * width + 8 * k + lane % 4 * 2) =
          make_float2(o[4 * k + 2 * half] * factor, o[4 * k + 2 * half + 1] * factor);
  }
}

/// q, k, v: a row of 64 for each position of each head. Blocks: 128 queries in x, heads in y. `scale`: of the scores,
/// times log2(e).
template <bool ping_pong>
__device__ void attend(const tensor_map& q, const tensor_map& k, const tensor_map& v, float* out, u32 length,
                       float scale) {
  const u32 at = u32(__cvta_generic_to_shared(memory)), group = threadIdx.x / 128;
  const u32 head = blockIdx.y * length, row = head + blockIdx.x * groups * tile;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(query_barrier(at)) : "memory");
    for (u32 s = 0; s < stages; ++s) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full(at, s)) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(empty(at, s)), "r"(groups) : "memory");
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0) produce(q, k, v, at, row, head, length / tile);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    consume<ping_pong>(out + u64(row + (group - 1) * tile) * width, at, group - 1, length / tile, scale);
  }
}

extern "C" __global__ void __launch_bounds__(threads, 1)
    attention(const __grid_constant__ tensor_map q, const __grid_constant__ tensor_map k,
              const __grid_constant__ tensor_map v, float* out, u32 length, float scale) {
  attend<true>(q, k, v, out, length, scale);
}
extern "C" __global__ void __launch_bounds__(threads, 1)
    attention_unordered(const __grid_constant__ tensor_map q, const __grid_constant__ tensor_map k,
                            const __grid_constant__ tensor_map v, float* out, u32 length, float scale) {
  attend<false>(q, k, v, out, length, scale);
}
