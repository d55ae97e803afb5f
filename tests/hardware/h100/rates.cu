// SPDX-License-Identifier: MIT
// Rates of an SM: results a cycle of independent instructions of 32 warps. Prints name,results.
//   nvcc -arch=sm_90 -O3 -o rates rates.cu && ./rates > rates.csv
#include <cstdint>
#include <cstdio>

using u32 = std::uint32_t;
__device__ u32 now() {
  u32 c;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(c)::"memory");
  return c;
}
#define RATE(name, text)                                                                                        \
  __global__ void __launch_bounds__(1024, 1) name(u32* out) {                                                   \
    u32 x[8], y[4];                                                                                             \
    for (int k = 0; k < 8; ++k) x[k] = out[4 + threadIdx.x + k] + k;                                            \
    for (int k = 0; k < 4; ++k) y[k] = out[64 + threadIdx.x + k];                                               \
    __syncthreads();                                                                                            \
    const u32 begin = now();                                                                                    \
    _Pragma("unroll 1") for (int i = 0; i < 32; ++i) {                                                          \
      _Pragma("unroll") for (int s = 0; s < 4; ++s) _Pragma("unroll") for (int k = 0; k < 8; ++k) asm volatile( \
          text : "+r"(x[k]) : "r"(y[(k + s) & 3]), "r"(y[(k + s + 1) & 3]));                                    \
    }                                                                                                           \
    __syncthreads();                                                                                            \
    const u32 end = now();                                                                                      \
    u32 sum = 0;                                                                                                \
    for (int k = 0; k < 8; ++k) sum ^= x[k];                                                                    \
    out[4096 + threadIdx.x] = sum;                                                                              \
    if (threadIdx.x == 0) out[0] = end - begin;                                                                 \
  }
RATE(iadd_xor, "{.reg .b32 t; add.u32 t, %0, %1; xor.b32 %0, t, %2;}")
RATE(lop3, "lop3.b32 %0, %0, %1, %2, 0x6a;")
RATE(imad, "mad.lo.s32 %0, %0, %1, %2;")
RATE(mulhi, "mul.hi.u32 %0, %0, %1;")
RATE(imad_wide, "{.reg .b64 t; mad.wide.u32 t, %0, %1, 77; cvt.u32.u64 %0, t;}")
RATE(shf, "shf.l.wrap.b32 %0, %0, %1, %2;")
RATE(shr, "shr.u32 %0, %0, %1;")
RATE(prmt, "prmt.b32 %0, %0, %1, %2;")
RATE(popc, "popc.b32 %0, %0;")
RATE(clz, "clz.b32 %0, %0;")
RATE(brev, "brev.b32 %0, %0;")
RATE(min_max, "{.reg .b32 t; min.s32 t, %0, %1; max.s32 %0, t, %2;}")
RATE(add_max, "{.reg .b32 t; add.s32 t, %0, %1; max.s32 %0, t, %2;}")
RATE(min_s16x2, "{.reg .b32 t; min.s16x2 t, %0, %1; max.s16x2 %0, t, %2;}")
RATE(dp4a, "dp4a.u32.u32 %0, %0, %1, %2;")
RATE(setp_selp, "{.reg .pred p; setp.lt.u32 p, %0, %1; selp.b32 %0, %1, %2, p;}")
RATE(ffma, "fma.rn.f32 %0, %0, %1, %2;")
RATE(fadd, "add.rn.f32 %0, %0, %1;")
RATE(fmnmx, "{.reg .f32 t; min.f32 t, %0, %1; max.f32 %0, t, %2;}")
RATE(fsetp_sel, "{.reg .pred p; setp.lt.f32 p, %0, %1; selp.b32 %0, %1, %2, p;}")
RATE(hfma2, "fma.rn.f16x2 %0, %0, %1, %2;")
RATE(hadd2, "add.rn.f16x2 %0, %0, %1;")
RATE(bfma2, "fma.rn.bf16x2 %0, %0, %1, %2;")
RATE(hmnmx2, "{.reg .b32 t; min.f16x2 t, %0, %1; max.f16x2 %0, t, %2;}")
RATE(ex2, "ex2.approx.ftz.f32 %0, %0;")
RATE(rsqrt, "rsqrt.approx.ftz.f32 %0, %0;")
RATE(tanh, "tanh.approx.f32 %0, %0;")
RATE(i2f, "{.reg .f32 f; cvt.rn.f32.s32 f, %0; mov.b32 %0, f;}")
RATE(u2f, "{.reg .f32 f; cvt.rn.f32.u32 f, %0; mov.b32 %0, f;}")
RATE(f2i, "{.reg .f32 f; mov.b32 f, %0; cvt.rzi.s32.f32 %0, f;}")
RATE(f2f_f16, "{.reg .b16 h; cvt.rn.f16.f32 h, %0; cvt.f32.f16 %0, h;}")
RATE(pack_f16x2, "cvt.rn.f16x2.f32 %0, %1, %0;")
RATE(pack_bf16x2, "cvt.rn.bf16x2.f32 %0, %1, %0;")
RATE(i2f_f64, "{.reg .f64 d; cvt.rn.f64.s32 d, %0; cvt.rn.f32.f64 %0, d;}")
RATE(shfl, "shfl.sync.bfly.b32 %0, %0, 1, 31, 0xffffffff;")
RATE(vote, "{.reg .pred p; setp.ne.u32 p, %0, 0; vote.sync.ballot.b32 %0, p, 0xffffffff;}")
RATE(redux, "redux.sync.add.s32 %0, %0, 0xffffffff;")
RATE(lds, "{.reg .b32 t; and.b32 t, %0, 0xffc; ld.volatile.shared.u32 %0, [t];}")
RATE(atoms, "{.reg .b32 t; and.b32 t, %1, 0xffc; atom.shared.add.u32 %0, [t], 1;}")
struct rate {
  const char* name;
  void (*kernel)(u32*);
};
#define ROW(n) \
  { #n, n }
const rate rates[] = {ROW(iadd_xor), ROW(lop3),       ROW(imad),        ROW(mulhi),     ROW(imad_wide), ROW(shf),
                      ROW(shr),      ROW(prmt),       ROW(popc),        ROW(clz),       ROW(brev),      ROW(min_max),
                      ROW(add_max),  ROW(min_s16x2),  ROW(dp4a),        ROW(setp_selp), ROW(ffma),      ROW(fadd),
                      ROW(fmnmx),    ROW(fsetp_sel),  ROW(hfma2),       ROW(hadd2),     ROW(bfma2),     ROW(hmnmx2),
                      ROW(ex2),      ROW(rsqrt),      ROW(tanh),        ROW(i2f),       ROW(u2f),       ROW(f2i),
                      ROW(f2f_f16),  ROW(pack_f16x2), ROW(pack_bf16x2), ROW(i2f_f64),   ROW(shfl),      ROW(vote),
                      ROW(redux),    ROW(lds),        ROW(atoms)};
int main() {
  u32* out;
  if (cudaMalloc(&out, 1 << 16) != cudaSuccess || cudaMemset(out, 0, 1 << 16) != cudaSuccess) return 1;
  static u32 random[16384];
  for (u32 k = 0, v = 12345; k < 16384; ++k) random[k] = v = v * 1664525u + 1013904223u;
  for (const rate& r : rates) {
    u32 cycles = 0;
    for (int again = 0; again < 3; ++again) {
      cudaMemcpy(out, random, sizeof random, cudaMemcpyHostToDevice);
      r.kernel<<<1, 1024, 4096>>>(out);
      if (cudaMemcpy(&cycles, out, sizeof cycles, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
    }
    std::printf("%s,%.2f\n", r.name, 32. * 32 * 1024 / cycles);
  }
  return 0;
}
