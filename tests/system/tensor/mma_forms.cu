// SPDX-License-Identifier: MIT
// Forms of mma.sync: 4 bits, single bits, 8-bit floats and sparse factors. Register q of a lane of a, b and the
// accumulators is in[32 * q + lane], from 0, 128 and 256 on; that of the metadata from 384 on.
#include <cstdint>

using u32 = std::uint32_t;

__device__ u32 word(const u32* in, int place, int q) { return in[place + 32 * q + threadIdx.x]; }

#define IN4(p) "r"(word(in, p, 0)), "r"(word(in, p, 1)), "r"(word(in, p, 2)), "r"(word(in, p, 3))
#define OUT4 "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
#define SUMS "{%12, %13, %14, %15}"

// Operands %4 to %7 are a, %8 to %11 b, %12 to %15 the accumulators, %16 the metadata.
#define FORM(name, text)                                                                                 \
  extern "C" __global__ void name(const u32* in, u32* out) {                                             \
    u32 d[4] = {};                                                                                       \
    asm volatile(text : OUT4 : IN4(0), IN4(128), IN4(256), "r"(word(in, 384, 0)));                       \
    for (int q = 0; q < 4; ++q) out[32 * q + threadIdx.x] = d[q];                                        \
  }
#define D4 "{%0, %1, %2, %3}"
#define A4 "{%4, %5, %6, %7}"
#define B4 "{%8, %9, %10, %11}"

FORM(e4m3_k32, "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 " D4 ", " A4 ", {%8, %9}, " SUMS ";")
FORM(e5m2_k32, "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32 " D4 ", " A4 ", {%8, %9}, " SUMS ";")
FORM(e4m3_k16, "mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e4m3.f32 " D4 ", {%4, %5}, {%8}, " SUMS ";")
FORM(s4_k64, "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 " D4 ", " A4 ", {%8, %9}, " SUMS ";")
FORM(u4_k32, "mma.sync.aligned.m16n8k32.row.col.s32.u4.s4.s32 " D4 ", {%4, %5}, {%8}, " SUMS ";")
FORM(s4_m8, "mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32 {%0, %1}, {%4}, {%8}, {%12, %13};")
FORM(b1_k256, "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc " D4 ", " A4 ", {%8, %9}, " SUMS ";")
FORM(b1_k128, "mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.and.popc " D4 ", {%4, %5}, {%8}, " SUMS ";")
FORM(sp_f16_k16, "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " D4 ", {%4, %5}, {%8, %9}, " SUMS ", %16, 2;")
FORM(sp_f16_k32, "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 " D4 ", " A4 ", " B4 ", " SUMS
                 ", %16, 1;")
FORM(sp_bf16_k32, "mma.sp.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32 " D4 ", " A4 ", " B4 ", " SUMS ", %16, 0;")
FORM(sp_tf32_k8, "mma.sp.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 " D4 ", {%4, %5}, {%8, %9}, " SUMS ", %16, 3;")
FORM(sp_tf32_k16, "mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 " D4 ", " A4 ", " B4 ", " SUMS ", %16, 0;")
FORM(sp_s8_k32, "mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 " D4 ", {%4, %5}, {%8, %9}, " SUMS ", %16, 1;")
FORM(sp_s8_k64, "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s8.u8.s32 " D4 ", " A4 ", " B4 ", " SUMS
                ", %16, 0;")
