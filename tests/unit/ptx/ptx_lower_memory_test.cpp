// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "ptx_machine.h"

namespace heddle {
namespace ptx_lower_memory_test {

using u8 = std::uint8_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

TEST(lowered_memory, sub_word_vectors_and_signs) {
  ptx_machine machine(
      ".version 8.0\n.target sm_75\n.address_size 64\n.entry k(.param .u64 p) { .reg .b64 %d; .reg .b16 %h<8>; .reg .b32 %r<8>;"
      "ld.param.u64 %d, [p]; ld.global.v4.s8 {%r0, %r1, %r2, %r3}, [%d]; ld.global.v2.u16 {%h0, %h1}, [%d+4]; ld.global.s16 %r4, [%d+4];"
      "cvt.u32.u16 %r5, %h0; st.global.v4.u32 [%d+16], {%r0, %r1, %r2, %r3}; st.global.v2.u32 [%d+32], {%r4, %r5};"
      "st.global.v4.u8 [%d+40], {%r3, %r2, %r1, %r0}; st.global.v4.u16 [%d+48], {%h1, %h0, %h1, %h0}; st.global.u8 [%d+44], %r1; ret; }");
  std::vector<u8> image(64);
  const u8 first[] = {0x80, 0x7f, 0xff, 0x01, 0xfe, 0xff, 0x34, 0x12};
  std::copy(std::begin(first), std::end(first), image.begin());
  const u64 at = machine.buffer(image);
  machine.run("k", {1, 1, 1}, {1, 1, 1}, {at});
  const std::vector<u32> w = machine.read<u32>(at, 16);
  EXPECT_EQ(w[4], 0xffffff80u);
  EXPECT_EQ(w[5], 0x7fu);
  EXPECT_EQ(w[6], 0xffffffffu);
  EXPECT_EQ(w[7], 1u);
  EXPECT_EQ(w[8], 0xfffffffeu);
  EXPECT_EQ(w[9], 0xfffeu);
  EXPECT_EQ(w[10], 0x807fff01u);
  EXPECT_EQ(w[11] & 0xff, 0x7fu);
  EXPECT_EQ(w[12], 0xfffe1234u);
  EXPECT_EQ(w[13], 0xfffe1234u);
}

TEST(lowered_memory, atomics_barriers_and_dynamic_shared_memory) {
  ptx_machine machine(
      ".version 8.0\n.target sm_75\n.address_size 64\n.extern .shared .align 16 .b8 dyn[];\n.global .u32 total = 5;\n.const .f32 scale = 0f40000000;\n"
      ".entry k(.param .u64 p) { .reg .b64 %d<4>; .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .pred %p; .shared .u32 sum;"
      "ld.param.u64 %d0, [p]; mov.u32 %r0, %tid.x; setp.ne.u32 %p, %r0, 0; @%p bra W; st.shared.u32 [sum], 0; W: bar.sync 0;"
      "atom.shared.add.u32 %r1, [sum], %r0; mov.u32 %r3, dyn; shl.b32 %r4, %r0, 2; add.s32 %r3, %r3, %r4; st.shared.u32 [%r3], %r0; bar.sync 0;"
      "ld.shared.u32 %r2, [sum]; xor.b32 %r4, %r4, 4; mov.u32 %r5, dyn; add.s32 %r5, %r5, %r4; ld.shared.u32 %r6, [%r5]; add.s32 %r2, %r2, %r6;"
      "mul.wide.u32 %d1, %r0, 4; add.s64 %d2, %d0, %d1; ld.const.f32 %f0, [scale]; cvt.rn.f32.u32 %f1, %r2; mul.f32 %f2, %f0, %f1;"
      "st.global.f32 [%d2], %f2; mov.u64 %d3, total; atom.global.add.u32 %r7, [%d3], 1; ret; }");
  const u64 out = machine.buffer(std::vector<float>(64));
  machine.run("k", {1, 1, 1}, {64, 1, 1}, {out}, 256);
  const std::vector<float> got = machine.read<float>(out, 64);
  for (u32 k = 0; k < 64; ++k) EXPECT_EQ(got[k], 2.0f * static_cast<float>(2016 + (k ^ 1)));
  EXPECT_EQ(machine.read<u32>(ptx_machine::memory_base, 1)[0], 69u);
  EXPECT_EQ(machine.program("k").shared_bytes, 16u);
  bool reduction = false;  // the old value of the global atomic is never read
  for (const isa::instruction& i : machine.program("k").code) reduction = reduction || i.op == isa::opcode::red;
  EXPECT_TRUE(reduction);
}

// Additions of 1 whose results are not used, from compute capability 8.0 on.
TEST(lowered_memory, counts_lanes_in_shared_memory_where_the_chip_does) {
  for (const char* capability : {"7.5", "8.0"}) {
    ptx_machine machine(
        ".version 8.0\n.target sm_75\n.address_size 64\n.entry k(.param .u64 p) { .reg .b64 %d; .reg .b32 %r<6>;"
        ".shared .align 4 .b8 s[16]; ld.param.u64 %d, [p]; mov.u32 %r0, 0; st.shared.v4.u32 [s], {%r0, %r0, %r0, %r0};"
        "bar.sync 0; atom.shared.add.u32 %r4, [s], 1; red.shared.add.s32 [s], 1; red.shared.add.u32 [s+4], 2;"
        "atom.shared.add.u32 %r2, [s+8], 1; st.global.u32 [%d+12], %r2; bar.sync 0; ld.shared.u32 %r1, [s];"
        "st.global.u32 [%d], %r1; ld.shared.u32 %r1, [s+4]; st.global.u32 [%d+4], %r1; ld.shared.u32 %r1, [s+8];"
        "st.global.u32 [%d+8], %r1; ret; }");
    machine.config().gpu.compute_capability = choice::named<choice::compute_capability>(capability);
    const u64 out = machine.buffer(std::vector<u32>(4));
    machine.run("k", {1, 1, 1}, {32, 1, 1}, {out});
    EXPECT_EQ(machine.read<u32>(out, 3), (std::vector<u32>{64, 64, 32}));
    unsigned counting = 0;
    for (const isa::instruction& i : machine.program("k").code) counting += i.counts ? 1 : 0;
    EXPECT_EQ(counting, std::string(capability) == "8.0" ? 2u : 0u);
  }
}

TEST(lowered_memory, gives_managed_variables_units_of_their_own) {
  const auto m =
      ptx::place(ptx::parse(".version 8.0\n.target sm_75\n.address_size 64\n"
                            ".global .attribute(.managed) .align 4 .b8 shared[5000];\n.global .u32 own = 7;\n"
                            ".visible .global .attribute(.managed) .f64 last = 0d4004000000000000;\n",
                            "k.ptx"),
                 0x10000000);
  EXPECT_EQ(m.symbols.at("own").address, 0x10000000u);
  EXPECT_EQ(m.symbols.at("shared").address, 0x10010000u);
  EXPECT_EQ(m.symbols.at("last").address, 0x10010000u + 5000);
  EXPECT_EQ(m.managed_base, 0x10010000u);
  EXPECT_EQ(m.managed_bytes, 5008u);
  EXPECT_EQ(m.global_bytes, 0x20000u);
  EXPECT_EQ(m.global_image[0x10000 + 5006], 0x04);
}

}  // namespace ptx_lower_memory_test

}  // namespace heddle
