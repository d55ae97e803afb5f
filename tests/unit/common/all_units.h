// SPDX-License-Identifier: MIT
#pragma once

namespace heddle::test {

/// A kernel with one dependence chain through all units of an SM, executed twice, so that any slowdown of a unit delays
/// its end. Two warps per block. `out` has 64 KiB, `in` 64 KiB of zeros, `image` is a texture.
constexpr const char* all_units_kernel = R"(
.version 8.0
.target sm_80
.address_size 64
.const .align 4 .b32 table[1024];
.visible .entry all_units(.param .u64 out, .param .u64 in, .param .u64 image)
{
  .shared .align 16 .b8 tile[4096];
  .local .align 16 .b8 spill[256];
  .reg .pred %p<8>;
  .reg .b32 %r<64>;
  .reg .f32 %f<48>;
  .reg .f64 %d<12>;
  .reg .b64 %rd<24>;
  .reg .b32 %s<4>;
  .reg .b16 %h<2>;
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [in];
  ld.param.u64 %rd3, [image];
  mov.u32 %r60, 0;
  mov.u32 %s1, tile;
  mov.u64 %rd19, table;
  mov.u32 %r48, 0;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mad.lo.u32 %r3, %r2, 64, %r1;
  mul.wide.u32 %rd4, %r3, 16;
  add.u64 %rd5, %rd1, %rd4;
  add.u64 %rd6, %rd2, %rd4;
round:
  // Global memory: 32 and 128 bits a lane, each of a line of its own for the first, and the same again.
  mul.wide.u32 %rd7, %r3, 128;
  add.u64 %rd8, %rd2, %rd7;
  ld.global.u32 %r4, [%rd8];
  ld.global.u32 %r5, [%rd8+4];
  ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd6];
  add.u32 %r4, %r4, %r5;
  // A hit, for its address comes from that line.
  and.b32 %r49, %r4, 0;
  cvt.u64.u32 %rd16, %r49;
  add.u64 %rd17, %rd8, %rd16;
  ld.global.u32 %r50, [%rd17+8];
  add.u32 %r4, %r4, %r50;
  // A line that is used again and again.
  ld.global.u32 %r55, [%rd2+64];
  add.u32 %r4, %r4, %r55;
  // Integers.
  add.u32 %r6, %r4, %r1;
  shr.u32 %r7, %r6, 3;
  shr.u32 %r56, %r6, 2;
  xor.b32 %r7, %r7, %r56;
  mad.lo.u32 %r8, %r7, %r7, %r6;
  min.u32 %r9, %r8, %r1;
  min.u32 %r57, %r8, %r2;
  xor.b32 %r9, %r9, %r57;
  setp.lt.u32 %p1, %r9, 1000;
  selp.u32 %r10, %r9, %r8, %p1;
  popc.b32 %r11, %r10;
  clz.b32 %r12, %r11;
  clz.b32 %r58, %r10;
  add.u32 %r12, %r12, %r58;
  cvt.rn.f32.u32 %f5, %r12;
  // Single precision.
  fma.rn.f32 %f6, %f5, %f1, %f2;
  fma.rn.f32 %f7, %f6, %f6, %f3;
  add.f32 %f7, %f7, %f6;
  min.f32 %f8, %f7, %f4;
  setp.lt.f32 %p2, %f8, 0f3F800000;
  selp.f32 %f9, %f8, %f7, %p2;
  rcp.approx.f32 %f10, %f9;
  fma.rn.f32 %f9, %f10, %f6, %f9;
  cvt.rn.f16.f32 %h1, %f9;
  cvt.f32.f16 %f31, %h1;
  fma.rn.f32 %f9, %f31, %f6, %f9;
  // Independent instructions of single precision and of integers, for schedulers that issue two.
  fma.rn.f32 %f11, %f1, %f2, %f3;
  add.u32 %r13, %r6, 7;
  fma.rn.f32 %f12, %f2, %f3, %f1;
  add.u32 %r14, %r7, 9;
  fma.rn.f32 %f13, %f3, %f1, %f2;
  fma.rn.f32 %f14, %f1, %f1, %f2;
  fma.rn.f32 %f15, %f2, %f2, %f3;
  fma.rn.f32 %f16, %f3, %f3, %f1;
  // Double and half precision.
  cvt.f64.f32 %d1, %f9;
  add.f64 %d2, %d1, %d1;
  fma.rn.f64 %d3, %d2, %d2, %d1;
  setp.lt.f64 %p3, %d3, %d2;
  selp.u32 %r15, %r10, %r11, %p3;
  fma.rn.f16x2 %r16, %r15, %r15, %r15;
  setp.lt.f16x2 %p4|%p5, %r16, %r15;
  selp.u32 %r17, %r16, %r15, %p4;
  // Products of matrices, of every type and depth.
  mov.b32 %f20, 0f00000000;
  mov.b32 %r18, 0;
  mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r20, %r21}, {%r17, %r17}, {%r17}, {%r18, %r18};
  mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r20, %r21}, {%r17, %r17, %r17, %r17}, {%r17, %r17}, {%r20, %r21};
  mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f21, %f22, %f23, %f24}, {%r20, %r20}, {%r21}, {%f20, %f20, %f20, %f20};
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f21, %f22, %f23, %f24}, {%r20, %r20, %r20, %r20}, {%r21, %r21}, {%f21, %f22, %f23, %f24};
  mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f21, %f22, %f23, %f24}, {%r20, %r20, %r20, %r20}, {%r21, %r21}, {%f21, %f22, %f23, %f24};
  mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f21, %f22, %f23, %f24}, {%r20, %r20, %r20, %r20}, {%r21, %r21}, {%f21, %f22, %f23, %f24};
  mov.b32 %r22, %f21;
  mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r23, %r24}, {%r22}, {%r22}, {%r18, %r18};
  mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r25, %r26, %r27, %r28}, {%r23, %r23, %r23, %r23}, {%r24, %r24}, {%r18, %r18, %r18, %r18};
  cvt.rn.f64.s32 %d4, %r25;
  mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d5, %d6}, {%d4}, {%d4}, {%d2, %d2};
  cvt.rn.f32.f64 %f25, %d5;
  // Shared memory: conflicts, 128 bits, an atomic of all lanes; a barrier and a shuffle.
  mov.u32 %r30, tile;
  shl.b32 %r31, %r1, 5;
  add.u32 %r32, %r30, %r31;
  st.shared.f32 [%r32], %f25;
  st.shared.v4.f32 [%r32], {%f25, %f25, %f25, %f25};
  @%p1 bar.sync 1;  // by all lanes, and the second of a block; computations do not come before it, as without a guard
  ld.shared.f32 %f26, [%r32];
  ld.shared.v4.f32 {%f27, %f28, %f29, %f30}, [%r32];
  atom.shared.add.u32 %r33, [%r30], 1;
  shfl.sync.bfly.b32 %r34, %r33, 1, 0x1f, 0xffffffff;
  shfl.sync.bfly.b32 %r54, %r33, 2, 0x1f, 0xffffffff;
  add.u32 %r34, %r34, %r54;
  vote.sync.any.pred %p6, %p1, 0xffffffff;
  selp.u32 %r35, %r34, %r33, %p6;
  // Addresses that are overwritten as soon as they were read.
  and.b32 %s2, %r35, 0;
  add.u32 %s1, %s1, %s2;
  ld.shared.u32 %s3, [%s1];
  add.u32 %s1, %s1, %s2;
  st.shared.u32 [%s1+64], %s2;
  add.u32 %s1, %s1, %s2;
  add.u32 %r35, %r35, %s1;
  and.b32 %s2, %r35, 0;
  cvt.u64.u32 %rd20, %s2;
  add.u64 %rd19, %rd19, %rd20;
  ld.const.u32 %s2, [%rd19];
  add.u64 %rd19, %rd19, %rd20;
  cvt.u32.u64 %r36, %rd19;
  add.u32 %r35, %r35, %r36;
  add.u32 %s3, %s3, %s2;
  // Constants: an address by lane, the same for all, and a second line.
  and.b32 %r36, %r35, 31;
  shl.b32 %r36, %r36, 2;
  mov.u64 %rd9, table;
  cvt.u64.u32 %rd10, %r36;
  add.u64 %rd11, %rd9, %rd10;
  ld.const.u32 %r37, [%rd11];
  ld.const.u32 %r38, [%rd11+2048];
  add.u32 %r37, %r37, %r38;
  // Local memory, which threads index.
  and.b32 %r39, %r37, 12;
  cvt.u64.u32 %rd12, %r39;
  mov.u64 %rd13, spill;
  add.u64 %rd13, %rd13, %rd12;
  st.local.u32 [%rd13], %r37;
  ld.local.u32 %r40, [%rd13];
  add.u64 %rd18, %rd13, 16;
  ld.local.u32 %r51, [%rd18];
  add.u32 %r40, %r40, %r51;
  // Global atomics: of all lanes on one word, and of each on its own.
  and.b32 %r41, %r40, 0;
  cvt.u64.u32 %rd14, %r41;
  add.u64 %rd15, %rd1, 32768;
  add.u64 %rd15, %rd15, %rd14;
  atom.global.add.u32 %r42, [%rd15], 1;
  red.global.add.u32 [%rd5+32768], 1;
  // Texture.
  cvt.rn.f32.u32 %f31, %r1;
  tex.2d.v4.f32.f32 {%f32, %f33, %f34, %f35}, [%rd3, {%f31, %f31}];
  tex.2d.v4.f32.f32 {%f38, %f39, %f40, %f41}, [%rd3, {%f32, %f31}];
  add.f32 %f32, %f32, %f38;
  add.f32 %f36, %f32, %f26;
  // Lanes diverge, and some iterate over a loop with an atomic, which waits for others.
  and.b32 %r43, %r1, 3;
  setp.eq.u32 %p7, %r43, 0;
  @%p7 bra others;
  mov.u32 %r44, 0;
again:
  atom.shared.add.u32 %r45, [%r30+16], 1;
  add.u32 %r44, %r44, 1;
  setp.lt.u32 %p3, %r44, %r43;
  @%p3 bra again;
others:
  // A store to a line that was read, and that is read again.
  mov.u32 %r57, %laneid;
  and.b32 %r57, %r57, 0;
  cvt.u64.u32 %rd21, %r57;
  add.u64 %rd22, %rd5, %rd21;
  ld.global.u32 %r52, [%rd22+12];
  add.u32 %r52, %r52, %r48;
  st.global.u32 [%rd5+12], %r52;
  ld.global.u32 %r53, [%rd5+8];
  add.u32 %r37, %r37, %r53;
  ld.global.u32 %r56, [%rd2+64];
  add.u32 %r37, %r37, %r56;
  membar.gl;
  st.global.v4.f32 [%rd5], {%f36, %f27, %f10, %f11};
  add.u32 %r46, %r37, %r42;
  add.u32 %r46, %r46, %s3;
  st.global.u32 [%rd5], %r46;
  ld.global.u32 %r47, [%rd8];
  add.u32 %r48, %r47, %r13;
  add.u32 %r48, %r48, %r14;
  add.f32 %f37, %f12, %f13;
  add.f32 %f37, %f37, %f14;
  add.f32 %f37, %f37, %f15;
  add.f32 %f37, %f37, %f16;
  st.global.u32 [%rd5+4], %r48;
  st.global.f32 [%rd5+8], %f37;
  add.u32 %r60, %r60, 1;
  setp.lt.u32 %p1, %r60, 2;
  @%p1 bra round;
  ret;
}
)";

}  // namespace heddle::test
