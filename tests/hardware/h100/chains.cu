// SPDX-License-Identifier: MIT
// Chains of dependent instructions of one warp. Prints name,cycles an instruction. The compiler folds some of them: of
// additions of one value and of minima with two fixed ones it keeps fewer.
//   nvcc -arch=sm_90 -O3 -o chains chains.cu && ./chains > chains.csv
#include <cstdint>
#include <cstdio>

using u32 = std::uint32_t;
__device__ u32 now() {
  u32 c;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(c)::"memory");
  return c;
}
#define DEPENDENT(name, text)                                                                       \
  __global__ void name(u32* out) {                                                                  \
    u32 x = threadIdx.x, y = out[1], z = out[2];                                                    \
    u32 begin = now();                                                                              \
    _Pragma("unroll 1") for (int i = 0; i < 16; ++i) {                                              \
      _Pragma("unroll") for (int k = 0; k < 16; ++k) asm volatile(text : "+r"(x) : "r"(y), "r"(z)); \
    }                                                                                               \
    out[0] = now() - begin;                                                                         \
    out[4 + threadIdx.x] = x;                                                                       \
  }
DEPENDENT(dep_iadd, "add.s32 %0, %0, %1;")
DEPENDENT(dep_imad, "mad.lo.s32 %0, %0, %1, %2;")
DEPENDENT(dep_mulhi, "mul.hi.u32 %0, %0, %1;")
DEPENDENT(dep_popc, "popc.b32 %0, %0;")
DEPENDENT(dep_clz, "clz.b32 %0, %0;")
DEPENDENT(dep_bfind, "bfind.u32 %0, %0;")
DEPENDENT(dep_brev, "brev.b32 %0, %0;")
DEPENDENT(dep_prmt, "prmt.b32 %0, %0, %1, %2;")
DEPENDENT(dep_shf, "shf.l.wrap.b32 %0, %0, %1, %2;")
DEPENDENT(dep_lop3, "lop3.b32 %0, %0, %1, %2, 0x96;")
DEPENDENT(dep_fma, "fma.rn.f32 %0, %0, %1, %2;")
DEPENDENT(dep_fadd, "add.rn.f32 %0, %0, %1;")
DEPENDENT(dep_hfma2, "fma.rn.f16x2 %0, %0, %1, %2;")
DEPENDENT(dep_bfma2, "fma.rn.bf16x2 %0, %0, %1, %2;")
DEPENDENT(dep_ex2, "ex2.approx.ftz.f32 %0, %0;")
DEPENDENT(dep_lg2, "lg2.approx.ftz.f32 %0, %0;")
DEPENDENT(dep_rcp_add, "{.reg .f32 t; rcp.approx.ftz.f32 t, %0; add.f32 %0, t, %1;}")
DEPENDENT(dep_f32_i32, "{.reg .f32 t; cvt.rn.f32.s32 t, %0; cvt.rni.s32.f32 %0, t; add.s32 %0, %0, %1;}")
DEPENDENT(dep_add_f64ish, "{.reg .f64 t; cvt.f64.f32 t, %0; cvt.rn.f32.f64 %0, t;}")
DEPENDENT(dep_sqrt, "sqrt.approx.ftz.f32 %0, %0;")
DEPENDENT(dep_tanh, "tanh.approx.f32 %0, %0;")
DEPENDENT(dep_sin, "sin.approx.ftz.f32 %0, %0;")
DEPENDENT(dep_cvt_f2i, "{.reg .f32 f; cvt.rn.f32.s32 f, %0; mov.b32 %0, f;}")
DEPENDENT(dep_vote, "{.reg .pred p; setp.ne.u32 p, %0, 0; vote.sync.ballot.b32 %0, p, 0xffffffff;}")
DEPENDENT(dep_match, "match.any.sync.b32 %0, %0, 0xffffffff;")
DEPENDENT(dep_redux, "redux.sync.add.s32 %0, %0, 0xffffffff;")
DEPENDENT(dep_shfl, "shfl.sync.bfly.b32 %0, %0, 1, 31, 0xffffffff;")
DEPENDENT(dep_setp_selp, "{.reg .pred p; setp.lt.u32 p, %0, %1; selp.b32 %0, %1, %2, p;}")
DEPENDENT(dep_dp4a, "dp4a.u32.u32 %0, %0, %1, %2;")
DEPENDENT(dep_min3, "{.reg .b32 t; min.s32 t, %0, %1; min.s32 %0, t, %2;}")
DEPENDENT(dep_vimax_add, "{.reg .b32 t; add.s32 t, %0, %1; max.s32 %0, t, %2;}")
DEPENDENT(dep_vimnmx16, "{min.s16x2 %0, %0, %1;}")
DEPENDENT(dep_shared_store_load, "{.reg .b32 t; mov.u32 t, 0; st.shared.u32 [t], %0; ld.shared.u32 %0, [t];}")

struct chain {
  const char* name;
  void (*kernel)(u32*);
};
const chain chains[] = {{"dep_iadd", dep_iadd},
                        {"dep_imad", dep_imad},
                        {"dep_mulhi", dep_mulhi},
                        {"dep_popc", dep_popc},
                        {"dep_clz", dep_clz},
                        {"dep_bfind", dep_bfind},
                        {"dep_brev", dep_brev},
                        {"dep_prmt", dep_prmt},
                        {"dep_shf", dep_shf},
                        {"dep_lop3", dep_lop3},
                        {"dep_fma", dep_fma},
                        {"dep_fadd", dep_fadd},
                        {"dep_hfma2", dep_hfma2},
                        {"dep_bfma2", dep_bfma2},
                        {"dep_ex2", dep_ex2},
                        {"dep_lg2", dep_lg2},
                        {"dep_rcp_add", dep_rcp_add},
                        {"dep_f32_i32", dep_f32_i32},
                        {"dep_add_f64ish", dep_add_f64ish},
                        {"dep_sqrt", dep_sqrt},
                        {"dep_tanh", dep_tanh},
                        {"dep_sin", dep_sin},
                        {"dep_cvt_f2i", dep_cvt_f2i},
                        {"dep_vote", dep_vote},
                        {"dep_match", dep_match},
                        {"dep_redux", dep_redux},
                        {"dep_shfl", dep_shfl},
                        {"dep_setp_selp", dep_setp_selp},
                        {"dep_dp4a", dep_dp4a},
                        {"dep_min3", dep_min3},
                        {"dep_vimax_add", dep_vimax_add},
                        {"dep_vimnmx16", dep_vimnmx16},
                        {"dep_shared_store_load", dep_shared_store_load}};

int main() {
  u32* out;
  if (cudaMalloc(&out, 4096) != cudaSuccess || cudaMemset(out, 0, 4096) != cudaSuccess) return 1;
  for (int again = 0; again < 2; ++again)
    for (const chain& c : chains) {
      u32 cycles;
      c.kernel<<<1, 32, 1024>>>(out);
      if (cudaMemcpy(&cycles, out, sizeof cycles, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
      if (again != 0) std::printf("%s,%.2f\n", c.name, cycles / 256.);
    }
  return 0;
}
