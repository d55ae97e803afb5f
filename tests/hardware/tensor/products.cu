// SPDX-License-Identifier: MIT
// A warp's product from operands of its own: lane l of warp w reads a (4 words), b (2) and c (4) at
// in + (32 w + l) * 12 words and writes d (4) at out + (32 w + l) * 4 words. PTX:
// nvcc -std=c++17 -arch=compute_90a -ptx products.cu.
#include <cstdint>

using u32 = std::uint32_t;

#define D4 "{%0,%1,%2,%3}"
#define D2 "{%0,%1}"
#define A4 "{%4,%5,%6,%7}, {%8,%9}"
#define A2 "{%4,%5}, {%8}"

#define PRODUCT(name, text, sums, factors)                                                                         \
  extern "C" __global__ void name(const u32* in, u32* out) {                                                       \
    const u32 lane = blockIdx.x * 32 + threadIdx.x;                                                                \
    const u32* p = in + lane * 12;                                                                                 \
    u32 d[4] = {p[6], p[7], p[8], p[9]};                                                                           \
    asm volatile("mma.sync.aligned." text " " sums ", " factors ", " sums ";"                                      \
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                                  \
                 : "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3]), "r"(p[4]), "r"(p[5]));                              \
    for (int k = 0; k < 4; ++k) out[lane * 4 + k] = d[k];                                                          \
  }

PRODUCT(f16_f32, "m16n8k16.row.col.f32.f16.f16.f32", D4, A4)
PRODUCT(f16_f16, "m16n8k16.row.col.f16.f16.f16.f16", D2, A4)
PRODUCT(bf16_f32, "m16n8k16.row.col.f32.bf16.bf16.f32", D4, A4)
PRODUCT(tf32_f32, "m16n8k8.row.col.f32.tf32.tf32.f32", D4, A4)
PRODUCT(e4m3_f32, "m16n8k32.row.col.f32.e4m3.e4m3.f32", D4, A4)
PRODUCT(e5m2_f32, "m16n8k32.row.col.f32.e5m2.e4m3.f32", D4, A4)
PRODUCT(e4m3_f16, "m16n8k32.row.col.f16.e4m3.e4m3.f16", D2, A4)
PRODUCT(f16_f32_k8, "m16n8k8.row.col.f32.f16.f16.f32", D4, A2)
PRODUCT(bf16_f32_k8, "m16n8k8.row.col.f32.bf16.bf16.f32", D4, A2)
PRODUCT(f16_f16_k8, "m16n8k8.row.col.f16.f16.f16.f16", D2, A2)
PRODUCT(tf32_f32_k4, "m16n8k4.row.col.f32.tf32.tf32.f32", D4, A2)
