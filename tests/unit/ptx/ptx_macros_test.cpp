// SPDX-License-Identifier: MIT
// Instructions that lowering expands: fns, vector atomics, saturated mad; and cluster instructions for clusters of one
// block.
#include <gtest/gtest.h>

#include <algorithm>

#include "ptx_machine.h"

namespace heddle {
namespace ptx_macros_test {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

std::string text_of(const std::string& code) {
  return ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out) {\n"
         ".reg .b64 %in, %out, %d<8>; .reg .b32 %l, %b, %r<12>; .reg .b16 %h<12>; .reg .f32 %f<12>; .reg .pred %p<4>; .shared .align 8 .b32 area[8];\n"
         "mov.u32 %l, %tid.x; mov.u32 %b, %ctaid.x; ld.param.u64 %in, [in]; ld.param.u64 %out, [out];\n" +
         code + "\nret; }\n";
}

// As worded in the PTX ISA.
u32 nth_set(u32 mask, s32 base, s32 number) {
  if (number == 0) return mask >> base & 1 ? static_cast<u32>(base) : ~0u;
  s64 left = std::abs(s64{number}) - 1;
  for (s32 at = base; at >= 0 && at<32; at += number> 0 ? 1 : -1)
    if (mask >> at & 1) {
      if (left == 0) return static_cast<u32>(at);
      --left;
    }
  return ~0u;
}

TEST(fns, finds_what_the_isa_says) {
  std::vector<u32> cases;
  for (const u32 mask : {0u, 1u, 0x80000000u, ~0u, 0x80000001u, 0x55555555u, 0xf00f0ff0u, 0x12345678u, 0xfffeffffu})
    for (const s32 number : {0,
                             1,
                             -1,
                             2,
                             -2,
                             3,
                             -5,
                             8,
                             15,
                             -16,
                             17,
                             31,
                             -31,
                             32,
                             -32,
                             33,
                             1000,
                             -1000,
                             s32(0x7fffffff),
                             s32(0x80000000u)}) {
      cases.push_back(mask);
      cases.push_back(static_cast<u32>(number));
    }
  const u32 count = static_cast<u32>(cases.size() / 2);
  ptx_machine machine(text_of(
      "mad.wide.u32 %in, %b, 8, %in; ld.global.v2.u32 {%r1, %r2}, [%in]; mov.u32 %r0, 77; setp.ne.u32 %p0, %l, 13;\n"
      "@%p0 fns.b32 %r0, %r1, %l, %r2; mad.lo.u32 %r3, %b, 32, %l; mad.wide.u32 %out, %r3, 4, %out; st.global.u32 [%out], %r0;"));
  const u64 in = machine.buffer(cases), out = machine.buffer(std::vector<u32>(count * 32));
  machine.run("k", {count, 1, 1}, {32, 1, 1}, {in, out});
  const std::vector<u32> got = machine.read<u32>(out, count * 32);
  for (u32 c = 0; c < count; ++c)
    for (u32 l = 0; l < 32; ++l)
      ASSERT_EQ(got[c * 32 + l],
                l == 13 ? 77 : nth_set(cases[2 * c], static_cast<s32>(l), static_cast<s32>(cases[2 * c + 1])))
          << std::hex << cases[2 * c] << " from " << l << " number " << cases[2 * c + 1];
}

// The last lane to arrive finds the sums of all others; integers are exact.
TEST(vector_atomics, of_f32) {
  ptx_machine machine(text_of(
      "mov.f32 %f0, 0f3F800000; mov.f32 %f1, 0f40000000; mov.f32 %f2, 0f40400000; mov.f32 %f3, 0f40800000;\n"
      "red.global.add.v2.f32 [%out], {%f0, %f1}; red.relaxed.gpu.global.add.v4.f32 [%out+16], {%f0, %f1, %f2, %f3};\n"
      "setp.eq.u32 %p0, %l, 0; @%p0 atom.global.v2.f32.add {%f0, %f1}, [%out+32], {%f1, %f0}; @%p0 st.global.v2.f32 [%out+48], {%f0, %f1};\n"
      "@%p0 atom.add.v4.f32 {%f0, _, %f2, %f3}, [%out+64], {%f0, %f1, %f2, %f3};"));
  std::vector<float> memory(32);
  memory[8] = 10, memory[9] = 20;
  const u64 out = machine.buffer(memory);
  machine.run("k", {1, 1, 1}, {32, 1, 1}, {out, out});
  const std::vector<float> got = machine.read<float>(out, 32);
  EXPECT_EQ(std::vector<float>(got.begin(), got.begin() + 8), (std::vector<float>{32, 64, 0, 0, 32, 64, 96, 128}));
  EXPECT_EQ(std::vector<float>(got.begin() + 8, got.begin() + 14), (std::vector<float>{12, 21, 0, 0, 10, 20}));
  EXPECT_EQ(std::vector<float>(got.begin() + 16, got.begin() + 20), (std::vector<float>{10, 20, 3, 4}));
}

TEST(vector_atomics, of_halves) {
  std::string eight = "{";
  for (u32 k = 0; k < 8; ++k) eight += std::string(k ? ", " : "") + "%h" + std::to_string(k);
  std::string code;
  for (u32 k = 0; k < 8; ++k)
    code += "mov.b16 %h" + std::to_string(k) + ", " + std::to_string(0x3c00 + 0x400 * (k % 3)) + ";\n";  // 1, 2, 4
  code +=
      "red.global.add.noftz.v8.f16 [%out], " + eight +
      "}; red.global.max.noftz.v2.f16 [%out+16], {%h1, %h2};\n"
      "mov.b32 %r0, 0x40003f80; mov.b32 %r1, 0xbf80c000; red.global.add.noftz.v2.bf16x2 [%out+32], {%r0, %r1}; atom.global.min.noftz.v2.bf16x2 {%r2, %r3}, [%out+40], {%r0, %r1};\n"
      "red.global.add.noftz.v4.f16x2 [%out+48], {%r4, %r4, %r4, %r4}; red.global.min.noftz.v4.bf16 [%out+64], {%h0, %h1, %h2, %h3};";
  code = "mov.b32 %r4, 0x3c004000;\n" + code;
  ptx_machine machine(text_of(code));
  std::vector<u16> memory(64);
  memory[32] = 0x7f80;
  const u64 out = machine.buffer(memory);
  machine.run("k", {1, 1, 1}, {32, 1, 1}, {out, out});
  const std::vector<u16> got = machine.read<u16>(out, 64);
  const u16 sums[3] = {0x5000, 0x5400, 0x5800};  // 32, 64, 128
  for (u32 k = 0; k < 8; ++k) EXPECT_EQ(got[k], sums[k % 3]) << k;
  EXPECT_EQ((std::vector<u16>(got.begin() + 8, got.begin() + 10)), (std::vector<u16>{0x4000, 0x4400}));
  EXPECT_EQ((std::vector<u16>(got.begin() + 16, got.begin() + 24)),
            (std::vector<u16>{0x4200, 0x4280, 0xc280, 0xc200, 0, 0, 0xc000, 0xbf80}));
  EXPECT_EQ((std::vector<u16>(got.begin() + 24, got.begin() + 26)), (std::vector<u16>{0x5400, 0x5000}));
  EXPECT_EQ(got[32], 0x3c00);
}

TEST(vector_atomics, are_refused_where_there_are_none) {
  const auto refusal = [](const std::string& code, const char* capability) {
    ptx_machine machine(text_of(code));
    machine.config().gpu.compute_capability = choice::named<choice::compute_capability>(capability);
    machine.config().gpu.name = "test";
    try {
      machine.program("k");
    } catch (const input_error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(refusal("red.global.add.v2.f32 [%out], {%f0, %f1};", "8.0").find("needs compute capability 9.0"),
            std::string::npos);
  EXPECT_EQ(refusal("red.global.add.v2.f32 [%out], {%f0, %f1};", "9.0"), "");
  for (const char* code : {"red.global.min.v2.f32 [%out], {%f0, %f1};", "red.global.add.v2.u32 [%out], {%r0, %r1};",
                           "red.shared.add.v2.f32 [%r0], {%f0, %f1};",
                           "red.global.add.v8.f32 [%out], {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7};",
                           "atom.global.exch.v2.f32 {%f0, %f1}, [%out], {%f0, %f1};"})
    EXPECT_NE(refusal(code, "9.0").find("unsupported form of instruction"), std::string::npos) << code;
  EXPECT_NE(refusal("red.global.add.v4.f32 [%out], {%f0, %f1};", "9.0").find("as many registers as elements"),
            std::string::npos);
}

TEST(saturated_mad, clamps_the_sum_alone) {
  const std::vector<s32> numbers = {0,           1,          -1,         0x7fffffff, s32(0x80000000u), 0x40000000,
                                    -0x40000000, 0x12345678, -0x7654321, 0x7fffff,   -0x800000};
  ptx_machine machine(text_of(
      "mad.wide.u32 %in, %b, 12, %in; ld.global.u32 %r1, [%in]; ld.global.u32 %r2, [%in+4]; ld.global.u32 %r3, [%in+8];\n"
      "mad.hi.sat.s32 %r4, %r1, %r2, %r3; mad24.hi.sat.s32 %r5, %r1, %r2, %r3; mad.wide.u32 %out, %b, 8, %out; st.global.v2.u32 [%out], {%r4, %r5};"));
  std::vector<s32> cases;
  for (const s32 a : numbers)
    for (const s32 b : numbers)
      for (const s32 c : numbers) cases.insert(cases.end(), {a, b, c});
  const u32 count = static_cast<u32>(cases.size() / 3);
  const u64 in = machine.buffer(cases), out = machine.buffer(std::vector<s32>(count * 2));
  machine.run("k", {count, 1, 1}, {1, 1, 1}, {in, out});
  const std::vector<s32> got = machine.read<s32>(out, count * 2);
  const auto clamp = [](s64 v) { return static_cast<s32>(std::clamp(v, s64{-0x80000000ll}, s64{0x7fffffff})); };
  const auto narrow = [](s32 v) { return s64{static_cast<s32>(static_cast<u32>(v) << 8) >> 8}; };
  for (u32 k = 0; k < count; ++k) {
    const s32 a = cases[3 * k], b = cases[3 * k + 1], c = cases[3 * k + 2];
    ASSERT_EQ(got[2 * k], clamp((s64{a} * b >> 32) + c)) << a << " " << b << " " << c;
    ASSERT_EQ(got[2 * k + 1], clamp(s64{static_cast<s32>(narrow(a) * narrow(b) >> 16)} + c))
        << a << " " << b << " " << c;
  }
}

TEST(clusters_of_one_block, share_the_memory_of_the_block) {
  ptx_machine machine(text_of(
      "mov.u32 %r1, area; mapa.shared::cluster.u32 %r2, %r1, 0; st.shared::cluster.u32 [%r2+4], 123; cvt.u64.u32 %d1, %r1; cvta.shared.u64 %d1, %d1;\n"
      "mov.u32 %r3, 0; mapa.u64 %d2, %d1, %r3; ld.u32 %r0, [%d2+4]; isspacep.shared::cluster %p0, %d2; @%p0 add.u32 %r0, %r0, 1000; isspacep.shared::cluster %p0, %out;\n"
      "@%p0 add.u32 %r0, %r0, 2000; getctarank.shared::cluster.u32 %r4, %r1; add.u32 %r0, %r0, %r4; mov.u32 %r5, %cluster_nctarank; mad.lo.u32 %r0, %r5, 10000, %r0;\n"
      "mov.u32 %r6, %clusterid.x; mad.lo.u32 %r0, %r6, 100000, %r0; mad.wide.u32 %out, %b, 4, %out; st.global.u32 [%out], %r0;"));
  const u64 out = machine.buffer(std::vector<u32>(2));
  machine.run("k", {2, 1, 1}, {32, 1, 1}, {out, out});
  EXPECT_EQ(machine.read<u32>(out, 2), (std::vector<u32>{11123, 111123}));
}

// The reserved part of shared memory does not overlap the program's variables.
TEST(reserved_shared_memory, does_not_overlap_variables) {
  ptx_machine machine(text_of(
      "mov.u32 %r1, %reserved_smem_offset_begin; mov.u32 %r2, %reserved_smem_offset_end; mov.u32 %r3, %reserved_smem_offset_1; mov.u32 %r4, %reserved_smem_offset_cap;\n"
      "mov.u32 %r5, area; st.shared.u32 [%r5+28], 5; st.shared.u32 [%r3], 7; ld.shared.u32 %r6, [%r5+28]; sub.u32 %r7, %r2, %r1; st.global.v4.u32 [%out], {%r6, %r7, %r4, %r3};\n"
      "mov.u32 %r8, %reserved_smem_offset_0; st.global.v4.u32 [%out+16], {%r1, %r8, %r5, %r5};"));
  const u64 out = machine.buffer(std::vector<u32>(8));
  machine.run("k", {1, 1, 1}, {1, 1, 1}, {out, out});
  const std::vector<u32> got = machine.read<u32>(out, 8);
  EXPECT_EQ(got[0], 5u);
  EXPECT_EQ(got[1], 1024u);
  EXPECT_EQ(got[2], 1024u);
  EXPECT_EQ(got[4], got[5]);
  EXPECT_TRUE(got[3] >= got[4] && got[3] + 288 <= got[4] + 1024);  // reserved for cooperative groups
  EXPECT_GE(machine.program("k").shared_bytes, 1024u + 32u);
}

}  // namespace ptx_macros_test
}  // namespace heddle
