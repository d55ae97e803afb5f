// SPDX-License-Identifier: MIT
// Products of a warpgroup (wgmma): tiles in every layout of shared memory, rates, and a matrix product with producer and
// consumer warpgroups.
#include <cstdint>

using u32 = std::uint32_t;
using u64 = std::uint64_t;

// Lists of accumulators in the text of an instruction, and the operands that they name.
#define LIST4 \
  "{%0, %1, %2, %3}"
#define LIST8 \
  "{%0, %1, %2, %3, %4, %5, %6, %7}"
#define LIST12 \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11}"
#define LIST32 \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20," \
  " %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}"
#define LIST64 \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20," \
  " %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39," \
  " %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58," \
  " %59, %60, %61, %62, %63}"
#define LIST128 \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20," \
  " %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39," \
  " %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58," \
  " %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77," \
  " %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96," \
  " %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112," \
  " %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}"
#define LIST16 \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}"
#define O4(c, d, k) c(d[k]), c(d[k + 1]), c(d[k + 2]), c(d[k + 3])
#define O8(c, d, k) O4(c, d, k), O4(c, d, k + 4)
#define O12(c, d, k) O8(c, d, k), O4(c, d, k + 8)
#define O16(c, d, k) O8(c, d, k), O8(c, d, k + 8)
#define O32(c, d, k) O16(c, d, k), O16(c, d, k + 16)
#define O64(c, d, k) O32(c, d, k), O32(c, d, k + 32)
#define O128(c, d, k) O64(c, d, k), O64(c, d, k + 64)

// A form of wgmma with both factors in shared memory. A, B, P: places of the operands behind the accumulators.
#define FORM(name, word_type, columns, registers, constraint, A, B, P, text, tail)                                  \
  struct name {                                                                                                    \
    using word = word_type;                                                                                        \
    static constexpr int n = columns, words = registers;                                                           \
    static __device__ void multiply(word (&d)[registers], u64 a, u64 b, int add) {                                 \
      asm volatile("{.reg .pred p; setp.ne.b32 p, " P ", 0;\n wgmma.mma_async.sync.aligned." text " " LIST##registers \
                   ", " A ", " B ", p" tail ";}"                                                                   \
                   : O##registers(constraint, d, 0)                                                                \
                   : "l"(a), "l"(b), "r"(add));                                                                    \
    }                                                                                                              \
  };
FORM(f16_n8, float, 8, 4, "+f", "%4", "%5", "%6", "m64n8k16.f32.f16.f16", ", 1, 1, 0, 0")
FORM(f16_n24, float, 24, 12, "+f", "%12", "%13", "%14", "m64n24k16.f32.f16.f16", ", 1, 1, 0, 0")
FORM(f16_n64, float, 64, 32, "+f", "%32", "%33", "%34", "m64n64k16.f32.f16.f16", ", 1, 1, 0, 0")
FORM(f16_n256, float, 256, 128, "+f", "%128", "%129", "%130", "m64n256k16.f32.f16.f16", ", 1, 1, 0, 0")
FORM(f16_n64_tb, float, 64, 32, "+f", "%32", "%33", "%34", "m64n64k16.f32.f16.f16", ", 1, 1, 0, 1")
FORM(f16_n64_ta, float, 64, 32, "+f", "%32", "%33", "%34", "m64n64k16.f32.f16.f16", ", 1, 1, 1, 0")
FORM(f16_n64_tab, float, 64, 32, "+f", "%32", "%33", "%34", "m64n64k16.f32.f16.f16", ", 1, 1, 1, 1")
FORM(f16_n24_tb, float, 24, 12, "+f", "%12", "%13", "%14", "m64n24k16.f32.f16.f16", ", 1, 1, 0, 1")
FORM(f16_n64_minus, float, 64, 32, "+f", "%32", "%33", "%34", "m64n64k16.f32.f16.f16", ", -1, 1, 0, 0")
FORM(half_n64, u32, 64, 16, "+r", "%16", "%17", "%18", "m64n64k16.f16.f16.f16", ", 1, 1, 0, 0")
FORM(bf16_n64, float, 64, 32, "+f", "%32", "%33", "%34", "m64n64k16.f32.bf16.bf16", ", 1, 1, 0, 0")
FORM(tf32_n64, float, 64, 32, "+f", "%32", "%33", "%34", "m64n64k8.f32.tf32.tf32", ", 1, 1")
FORM(e4m3_n64, float, 64, 32, "+f", "%32", "%33", "%34", "m64n64k32.f32.e4m3.e4m3", ", 1, 1")
FORM(e5m2_n64, float, 64, 32, "+f", "%32", "%33", "%34", "m64n64k32.f32.e5m2.e4m3", ", 1, 1")
FORM(s8_n64, u32, 64, 32, "+r", "%32", "%33", "%34", "m64n64k32.s32.s8.s8", "")
FORM(u8_n64, u32, 64, 32, "+r", "%32", "%33", "%34", "m64n64k32.s32.u8.s8", "")
FORM(b1_n64, u32, 64, 32, "+r", "%32", "%33", "%34", "m64n64k256.s32.b1.b1.and.popc", "")

// a in registers.
__device__ void multiply_registers(float (&d)[32], const u32 (&a)[4], u64 b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " LIST32 ", {%32, %33, %34, %35}, %36, 1, 1, 1, 0;"
               : O32("+f", d, 0)
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

__device__ void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int groups>
__device__ void wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(groups) : "memory");
}
__device__ void proxy_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// Where a matrix of `lines` rows of a, or columns of b, of `bytes` bytes along k lies in shared memory. `pitch`: bytes of
// the swizzle, 16: none.
struct layout {
  u32 lines, bytes, pitch;
  bool transposed;
  int size;  // of an element

  __device__ u32 swizzled(u32 at) const { return at ^ ((at >> 7 & (pitch / 16 - 1)) << 4); }
  // Along k: blocks of `pitch` bytes of all lines. Across k: blocks of `pitch` bytes of lines, of all k.
  __device__ u32 place(u32 line, u32 k) const {
    const u32 depth = bytes / size;
    if (!transposed) {
      const u32 byte = k * size;
      return swizzled(byte / pitch * lines * pitch + line * pitch + byte % pitch);
    }
    const u32 byte = line * size;
    if (pitch == 16) return k / 8 * (lines / 8 * 128) + byte / 16 * 128 + k % 8 * 16 + byte % 16;
    return swizzled(byte / pitch * depth * pitch + k * pitch + byte % pitch);
  }
  // The descriptor of the matrix at `base`, from 32 bytes along k, or 16 rows across k, number `step` on.
  __device__ u64 descriptor(u32 base, u32 step) const {
    const u32 depth = bytes / size;
    u32 leading, stride, start;
    if (!transposed) {
      const u32 block = lines * pitch;
      leading = block, stride = 8 * pitch;
      start = step * 32 / pitch * block + step * 32 % pitch;
    } else if (pitch == 16) {
      leading = lines / 8 * 128, stride = 128, start = step * 2 * leading;
    } else {
      leading = depth * pitch, stride = 8 * pitch, start = step * 2 * stride;
    }
    const u64 swizzle = pitch == 128 ? 1 : pitch == 64 ? 2 : pitch == 32 ? 3 : 0;
    return (base + start) >> 4 & 0x3fff | u64(leading >> 4 & 0x3fff) << 16 | u64(stride >> 4 & 0x3fff) << 32 |
           swizzle << 62;
  }
  __device__ void fill(unsigned char* to, const unsigned char* from) const {
    for (u32 i = threadIdx.x; i < lines * (bytes / size); i += blockDim.x)
      for (int e = 0; e < size; ++e) to[place(i / (bytes / size), i % (bytes / size)) + e] = from[i * size + e];
  }
};

extern __shared__ __align__(1024) unsigned char memory[];

// d of one block: a of 64 rows and b of n columns, `bytes` bytes along k each; a thread's accumulators lie together.
template <class form, int size, bool ta, bool tb>
__device__ void product(const unsigned char* a, const unsigned char* b, typename form::word* d, u32 bytes, u32 pitch) {
  const layout la{64, bytes, pitch, ta, size}, lb{form::n, bytes, pitch, tb, size};
  la.fill(memory, a);
  lb.fill(memory + 64 * bytes, b);
  proxy_fence();
  __syncthreads();
  const u32 at = u32(__cvta_generic_to_shared(memory));
  typename form::word sum[form::words] = {};
  fence();
  for (u32 k = 0; k < bytes / 32; ++k)
    form::multiply(sum, la.descriptor(at, k), lb.descriptor(at + 64 * bytes, k), k > 0);
  commit();
  wait<0>();
  for (int r = 0; r < form::words; ++r) d[threadIdx.x * form::words + r] = sum[r];
}

#define PRODUCT(form, size, ta, tb)                                                                             \
  extern "C" __global__ void __launch_bounds__(128) product_##form(const unsigned char* a, const unsigned char* b, \
                                                                   form::word* d, u32 bytes, u32 pitch) {       \
    product<form, size, ta, tb>(a, b, d, bytes, pitch);                                                         \
  }
PRODUCT(f16_n8, 2, false, false)
PRODUCT(f16_n24, 2, false, false)
PRODUCT(f16_n64, 2, false, false)
PRODUCT(f16_n256, 2, false, false)
PRODUCT(f16_n64_tb, 2, false, true)
PRODUCT(f16_n64_ta, 2, true, false)
PRODUCT(f16_n64_tab, 2, true, true)
PRODUCT(f16_n24_tb, 2, false, true)
PRODUCT(f16_n64_minus, 2, false, false)
PRODUCT(half_n64, 2, false, false)
PRODUCT(bf16_n64, 2, false, false)
PRODUCT(tf32_n64, 4, false, false)
PRODUCT(e4m3_n64, 1, false, false)
PRODUCT(e5m2_n64, 1, false, false)
PRODUCT(s8_n64, 1, false, false)
PRODUCT(u8_n64, 1, false, false)
PRODUCT(b1_n64, 1, false, false)

// a from registers: a row-major, 32 bytes along k at a time.
extern "C" __global__ void __launch_bounds__(128)
    product_registers(const unsigned char* a, const unsigned char* b, float* d, u32 bytes, u32 pitch) {
  const layout lb{64, bytes, pitch, false, 2};
  lb.fill(memory, b);
  proxy_fence();
  __syncthreads();
  const u32 at = u32(__cvta_generic_to_shared(memory)), group = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
  float sum[32] = {};
  for (u32 k = 0; k < bytes / 32; ++k) {
    u32 part[4];
    for (u32 q = 0; q < 4; ++q)
      part[q] = *reinterpret_cast<const u32*>(a + (group + q % 2 * 8) * bytes + 32 * k + q / 2 * 16 + threadIdx.x % 4 * 4);
    fence();
    multiply_registers(sum, part, lb.descriptor(at, k));
    commit();
    wait<0>();
  }
  for (int r = 0; r < 32; ++r) d[threadIdx.x * 32 + r] = sum[r];
}

// Cycles of `count` products in groups of four, of which one may be incomplete, and until the last is complete.
template <class form>
__device__ void cycles(u32* t, u32 count) {
  const layout a{64, 128, 128, false, 2}, b{form::n, 128, 128, false, 2};
  const u32 at = u32(__cvta_generic_to_shared(memory)) + threadIdx.x / 128;  // unknown to the compiler
  typename form::word sum[form::words] = {};
  u64 da[4], db[4];
  for (u32 j = 0; j < 4; ++j) da[j] = a.descriptor(at, j), db[j] = b.descriptor(at + 8192, j);
  __syncthreads();
  const u32 begin = clock();
  for (u32 k = 0; k < count; k += 4) {
    fence();
    for (u32 j = 0; j < 4; ++j) form::multiply(sum, da[j], db[j], 1);
    commit();
    wait<1>();
  }
  wait<0>();
  const u32 end = clock();
  if (threadIdx.x % 128 == 0) t[threadIdx.x / 128] = end - begin;
  for (int r = 0; r < form::words; ++r)
    if (sum[r] == 12345) t[4] = 1;
}

#define CYCLES(form) \
  extern "C" __global__ void __launch_bounds__(128) cycles_##form(u32* t, u32 count) { cycles<form>(t, count); }
CYCLES(f16_n8)
CYCLES(f16_n24)
CYCLES(f16_n64)
CYCLES(f16_n256)
CYCLES(half_n64)
CYCLES(bf16_n64)
CYCLES(tf32_n64)
CYCLES(e4m3_n64)
CYCLES(s8_n64)

// A descriptor that leads out of the block's shared memory.
extern "C" __global__ void __launch_bounds__(128) outside(float* d) {
  const layout a{64, 32, 32, false, 2};
  float sum[4] = {};
  fence();
  f16_n8::multiply(sum, a.descriptor(0, 0), a.descriptor(0x3fff0, 0), 0);
  commit();
  wait<0>();
  d[threadIdx.x] = sum[0];
}

// d = a * b for f16: warpgroup 0 copies tiles of 64 along k to a ring, warpgroups 1 and 2 multiply 64 rows each.
constexpr u32 stages = 4, tile_m = 128, tile_n = 256, a_bytes = tile_m * 128, b_bytes = tile_n * 128,
              stage_bytes = a_bytes + b_bytes, threads = 384;

__device__ void barrier_wait(u32 number) { asm volatile("bar.sync %0, 384;" ::"r"(number) : "memory"); }
__device__ void barrier_arrive(u32 number) { asm volatile("bar.arrive %0, 384;" ::"r"(number) : "memory"); }
__device__ u32 full(u32 stage) { return 1 + stage % stages; }
__device__ u32 empty(u32 stage) { return 1 + stages + stage % stages; }

__device__ void copy_tile(u32 to, const unsigned char* from, u32 lines, u32 row_bytes) {
  for (u32 i = threadIdx.x; i < lines * 8; i += 128) {
    const u32 line = i / 8, chunk = i % 8;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + line * 128 + ((chunk ^ line % 8) << 4)),
                 "l"(from + u64(line) * row_bytes + chunk * 16));
  }
}

__device__ void produce(const unsigned char* a, const unsigned char* b, u32 k_bytes, u32 at) {
  const u32 tiles = k_bytes / 128;
  for (u32 t = 0; t < tiles + 2; ++t) {
    if (t < tiles) {
      if (t >= stages) barrier_wait(empty(t));
      const u32 to = at + t % stages * stage_bytes;
      copy_tile(to, a + t * 128, tile_m, k_bytes);
      copy_tile(to + a_bytes, b + t * 128, tile_n, k_bytes);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    if (t < 2) continue;
    asm volatile("cp.async.wait_group 2;" ::: "memory");
    proxy_fence();
    barrier_arrive(full(t - 2));
  }
}

__device__ void store_sums(float* d, u32 n, u32 group, const float (&sum)[128]) {
  const u32 lane = threadIdx.x % 32, row = group * 64 + threadIdx.x % 128 / 32 * 16 + lane / 4;
  for (u32 r = 0; r < 128; r += 2) {
    float2* to = reinterpret_cast<float2*>(d + u64(row + r / 2 % 2 * 8) * n + r / 4 * 8 + lane % 4 * 2);
    *to = make_float2(sum[r], sum[r + 1]);
  }
}

__device__ void consume(float* d, u32 n, u32 k_bytes, u32 at, u32 group) {
  const u32 tiles = k_bytes / 128;
  const layout la{64, 128, 128, false, 2}, lb{tile_n, 128, 128, false, 2};
  float sum[128];
  for (u32 t = 0; t < tiles; ++t) {
    const u32 from = at + t % stages * stage_bytes;
    barrier_wait(full(t));
    fence();
    for (u32 j = 0; j < 4; ++j)
      f16_n256::multiply(sum, la.descriptor(from + group * 8192, j), lb.descriptor(from + a_bytes, j), t + j > 0);
    commit();
    wait<1>();
    if (t > 0 && t - 1 + stages < tiles) barrier_arrive(empty(t - 1));
  }
  wait<0>();
  store_sums(d, n, group, sum);
}

// a: m x k, b: n x k, d: m x n, all with the last dimension contiguous.
extern "C" __global__ void __launch_bounds__(threads, 1)
    specialised(const unsigned char* a, const unsigned char* b, float* d, u32 n, u32 k_bytes) {
  const u32 at = u32(__cvta_generic_to_shared(memory));
  a += u64(blockIdx.y) * tile_m * k_bytes;
  b += u64(blockIdx.x) * tile_n * k_bytes;
  d += u64(blockIdx.y) * tile_m * n + blockIdx.x * tile_n;
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    produce(a, b, k_bytes, at);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    consume(d, n, k_bytes, at, threadIdx.x / 128 - 1);
  }
}

// The same product with its tiles copied by the TMA: one thread of warpgroup 0 asks for boxes, whose bytes arrive at
// mbarriers. In a cluster of two blocks along m, each loads half of the tile of b and multicasts it to both.
struct alignas(64) tensor_map { u64 words[16]; };
__device__ u32 full_barrier(u32 at, u32 stage) { return at + stages * stage_bytes + stage % stages * 8; }
__device__ u32 empty_barrier(u32 at, u32 stage) { return full_barrier(at, stage) + stages * 8; }
__device__ void await(u32 barrier, u32 phase) {
  asm volatile(
      "{.reg .pred p;\nWAIT_%=:\n mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%0], %1;\n @!p bra WAIT_%=;}"
      ::"r"(barrier), "r"(phase) : "memory");
}
__device__ void load_box(u32 to, const tensor_map& map, u32 k, u32 line, u32 barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
      ::"r"(to), "l"(&map), "r"(k), "r"(line), "r"(barrier) : "memory");
}
__device__ void multicast_box(u32 to, const tensor_map& map, u32 k, u32 line, u32 barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
      "[%1, {%2, %3}], [%4], %5;" ::"r"(to), "l"(&map), "r"(k), "r"(line), "r"(barrier), "h"(short(3)) : "memory");
}

template <u32 blocks>
__device__ void multiply_boxes(const tensor_map& a, const tensor_map& b, float* d, u32 n, u32 k) {
  const u32 at = u32(__cvta_generic_to_shared(memory)), tiles = k / 64, rank = blocks == 1 ? 0 : blockIdx.y % 2;
  const u32 row = blockIdx.y * tile_m, column = blockIdx.x * tile_n;
  if (threadIdx.x == 0) {
    for (u32 s = 0; s < stages; ++s) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full_barrier(at, s)) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(empty_barrier(at, s)), "r"(2 * blocks) : "memory");
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  if (blocks == 1) __syncthreads();
  else asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    for (u32 t = 0; t < tiles && threadIdx.x == 0; ++t) {
      if (t >= stages) await(empty_barrier(at, t), t / stages - 1 & 1);
      const u32 to = at + t % stages * stage_bytes, barrier = full_barrier(at, t);
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(stage_bytes) : "memory");
      load_box(to, a, t * 64, row, barrier);
      if (blocks == 1) load_box(to + a_bytes, b, t * 64, column, barrier);
      else multicast_box(to + a_bytes + rank * b_bytes / 2, b, t * 64, column + rank * tile_n / 2, barrier);
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    const u32 group = threadIdx.x / 128 - 1;
    const layout la{64, 128, 128, false, 2}, lb{tile_n, 128, 128, false, 2};
    float sum[128];
    for (u32 t = 0; t < tiles; ++t) {
      const u32 from = at + t % stages * stage_bytes;
      await(full_barrier(at, t), t / stages & 1);
      fence();
      for (u32 j = 0; j < 4; ++j)
        f16_n256::multiply(sum, la.descriptor(from + group * 8192, j), lb.descriptor(from + a_bytes, j), t + j > 0);
      commit();
      wait<1>();
      if (t > 0 && threadIdx.x % 128 < blocks)  // one thread tells each block
        asm volatile(
            "{.reg .b32 r; mapa.shared::cluster.u32 r, %0, %1;\n"
            " mbarrier.arrive.release.cluster.shared::cluster.b64 _, [r];}"
            ::"r"(empty_barrier(at, t - 1)), "r"(threadIdx.x % 128) : "memory");
    }
    wait<0>();
    store_sums(d + u64(row) * n + column, n, group, sum);
  }
  if (blocks != 1) asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
}

extern "C" __global__ void __launch_bounds__(threads, 1)
    boxes(const __grid_constant__ tensor_map a, const __grid_constant__ tensor_map b, float* d, u32 n, u32 k) { multiply_boxes<1>(a, b, d, n, k); }
extern "C" __global__ void __cluster_dims__(1, 2, 1) __launch_bounds__(threads, 1)
    multicast_boxes(const __grid_constant__ tensor_map a, const __grid_constant__ tensor_map b, float* d, u32 n, u32 k) { multiply_boxes<2>(a, b, d, n, k); }

// Warpgroups 1 and 2 take the registers that warpgroup 0 gives back after 3,000 cycles.
extern "C" __global__ void __launch_bounds__(threads, 1) registers(u32* t) {
  const u32 begin = clock(), group = threadIdx.x / 128;
  if (group == 0) {
    while (clock() - begin < 3000) continue;
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  }
  if (threadIdx.x % 128 == 0) t[group] = clock() - begin;
}
