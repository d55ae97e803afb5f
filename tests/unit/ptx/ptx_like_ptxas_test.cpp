// SPDX-License-Identifier: MIT
// What ptxas 13.0 does with constants, addresses, loads and branches, on the chips where it does so.
#include <gtest/gtest.h>

#include "heddle/config/config.h"
#include "ptx_lower_text.h"

namespace heddle {
namespace ptx_like_ptxas_test {

using namespace ptx_lower_text;

std::string lowered(const char* capability, const std::string& body) {
  gpu_config gpu;
  gpu.integer.multiplier = choice::multiplier::imad;
  gpu.gpu.compute_capability = choice::named<choice::compute_capability>(capability);
  const ptx::loaded_module m = ptx::place(ptx::parse(header + body, "k.ptx"), isa::heap_base);
  return text_of(*ptx::lower(m, "k", gpu, 0));
}

unsigned times(const std::string& text, const std::string& what) {
  unsigned n = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++n;
  return n;
}

unsigned lines(const std::string& text) { return times(text, "\n"); }

// On an H100 vector_add has 20 instructions: LDC of three pointers behind the exit, ULDC of ntid.x and n before it.
// Earlier chips take parameters as operands: 16.
TEST(like_ptxas, parameters_are_loaded_from_9_0_on) {
  const std::string hopper = lowered("9.0", vector_add), ampere = lowered("8.0", vector_add);
  EXPECT_EQ(lines(hopper), 20u) << hopper;
  EXPECT_EQ(times(hopper, "LDC.B64"), 3u) << hopper;
  EXPECT_GT(hopper.find("LDC.B64"), hopper.find("EXIT")) << hopper;
  EXPECT_EQ(times(hopper.substr(0, hopper.find("EXIT")), "MOV RZ, c[0x0]"), 3u) << hopper;
  EXPECT_EQ(lines(ampere), 16u) << ampere;
  EXPECT_EQ(times(ampere, "LDC"), 0u) << ampere;
}

constexpr const char* parameters =
    ".entry k(.param .u64 p, .param .u32 a, .param .u32 b, .param .u32 n) { .reg .b64 %d<9>; .reg .b32 %r<9>; .reg .f32 %f; .reg .pred %q<3>;"
    "ld.param.u64 %d0, [p]; ld.param.u32 %r0, [a]; ld.param.u32 %r1, [b]; ld.param.u32 %r2, [n]; mov.u32 %r3, %tid.x;";

TEST(like_ptxas, neighbouring_parameters_come_in_one_load) {
  const std::string both = lowered("9.0", std::string(parameters) +
                                              "xor.b32 %r4, %r3, %r0; mul.lo.u32 %r4, %r4, %r1; xor.b32 %r4, %r4, %r2;"
                                              "st.global.u32 [%d0], %r4; ret; }");
  EXPECT_EQ(times(both, "MOV RZ, c[0x0][0x148]"), 1u) << both;
  EXPECT_EQ(times(both, "MOV RZ, c[0x0][0x14c]"), 0u) << both;
  EXPECT_EQ(times(both, "MOV RZ, c[0x0][0x150]"), 1u) << both;
}

TEST(like_ptxas, loops_read_constants_that_were_loaded_before) {
  const std::string loop = lowered(
      "9.0", std::string(parameters) +
                 "L: mul.lo.u32 %r3, %r3, %r0; xor.b32 %r3, %r3, %r1; st.volatile.global.u32 [%d0], %r3; setp.lt.u32 "
                 "%q0, %r3, %r2; @%q0 bra L; ret; }");
  EXPECT_EQ(loop.find("MOV RZ, c[0x0][0x148]", loop.find("IMAD")), std::string::npos) << loop;
  EXPECT_NE(loop.find("MOV RZ, c[0x0][0x148]"), std::string::npos) << loop;
}

// A second constant of an instruction is in a thread's register, and others read it there.
TEST(like_ptxas, a_second_constant_is_loaded_once) {
  const std::string text = lowered(
      "9.0",
      std::string(parameters) +
          "mad.lo.u32 %r4, %r0, %r3, %r2; add.u32 %r5, %r4, %r0; mul.lo.u32 %r5, %r5, %r0; st.global.u32 [%d0], %r5; ret; }");
  EXPECT_EQ(times(text, "LDC R"), 1u) << text;
  EXPECT_EQ(times(text, "0x148]") + times(text, "0x150]"), 3u) << "a load each, and one operand\n" << text;
}

TEST(like_ptxas, shared_memory_begins_at_a_place_in_its_cluster_from_9_0_on) {
  const std::string body =
      ".entry k(.param .u64 p) { .shared .align 4 .b8 s[256]; .reg .b64 %d; .reg .b32 %r<4>; ld.param.u64 %d, [p]; mov.u32 %r0, %tid.x;"
      "shl.b32 %r1, %r0, 2; mov.u32 %r2, s; add.u32 %r1, %r1, %r2; st.shared.u32 [%r1], %r0; bar.sync 0; ld.shared.u32 %r3, [%r1+4];"
      "st.global.u32 [%d], %r3; ret; }";
  EXPECT_EQ(times(lowered("9.0", body), "SR_CgaCtaId"), 1u);
  EXPECT_EQ(times(lowered("8.0", body), "SR_CgaCtaId"), 0u);
}

TEST(like_ptxas, shifted_and_signed_addends_are_part_of_a_wide_sum) {
  const std::string start =
      ".entry k(.param .u64 p) { .reg .b64 %d<6>; .reg .b32 %r<4>; ld.param.u64 %d0, [p]; mov.u32 %r0, %tid.x; mov.u64 %d4, 0;";
  const std::string shifted = lowered("9.0", start +
                                                 "ld.global.u64 %d1, [%d0]; shl.b64 %d2, %d1, 2; add.s64 %d3, %d0, %d2;"
                                                 "st.global.u32 [%d3], %r0; ret; }");
  EXPECT_EQ(times(shifted, "LEA"), 2u) << shifted;
  EXPECT_EQ(times(shifted, "SH"), 0u) << shifted;
  const std::string sign =
      lowered("9.0", start + "cvt.s64.s32 %d2, %r0; add.s64 %d3, %d0, %d2; st.global.u8 [%d3], %r0; ret; }");
  EXPECT_EQ(times(sign, "LEA"), 1u) << sign;
  EXPECT_EQ(times(sign, "SHR"), 0u) << sign;
}

// An address that is computed from a loop's variable in the same trip is a wide multiply-add and an offset.
TEST(like_ptxas, addresses_of_loop_variables_are_folded) {
  const std::string loop = lowered(
      "9.0",
      std::string(parameters) +
          "L: mul.wide.u32 %d1, %r3, 4; add.s64 %d2, %d0, %d1; ld.global.u32 %r4, [%d2]; add.u32 %r5, %r4, 8;"
          "st.volatile.shared.u32 [%r5], %r4; add.u32 %r3, %r3, %r0; setp.lt.u32 %q0, %r3, %r2; @%q0 bra L; ret; }");
  EXPECT_EQ(times(loop, "IMAD.U32.WIDE"), 1u) << loop;
  EXPECT_EQ(times(loop, "IADD3"), 1u) << loop;
  EXPECT_EQ(times(loop, "+0x8]"), 1u) << loop;
}

TEST(like_ptxas, aligned_neighbours_in_shared_memory_are_one_load) {
  const auto loads = [](const char* capability, const std::string& shift, const std::string& between) {
    std::string body =
        ".entry k(.param .u64 p) { .shared .align 16 .b8 s[4096]; .reg .b64 %d; .reg .b32 %r<9>; ld.param.u64 %d, [p]; mov.u32 %r0, %tid.x;"
        "shl.b32 %r1, %r0, " +
        shift + "; mov.u32 %r2, s; add.u32 %r1, %r1, %r2; ";
    for (unsigned k = 0; k < 4; ++k)
      body += "ld.shared.u32 %r" + std::to_string(3 + k) + ", [%r1+" + std::to_string(4 * k) + "];" +
              (k == 1 ? between : "");
    const std::string text = lowered(
        capability, body + "mad.lo.u32 %r7, %r3, %r4, %r5; mul.lo.u32 %r7, %r7, %r6; st.global.u32 [%d], %r7; ret; }");
    return times(text, "LDS.B128") * 100 + times(text, "LDS.B64") * 10 + times(text, "LDS R");
  };
  EXPECT_EQ(loads("9.0", "4", ""), 100u);
  EXPECT_EQ(loads("9.0", "3", ""), 20u);
  EXPECT_EQ(loads("9.0", "2", ""), 4u);
  EXPECT_EQ(loads("8.9", "4", ""), 4u);
  EXPECT_EQ(loads("9.0", "4", "st.shared.u32 [%r2], %r0;"), 20u) << "a store stands between";
}

// No copy waits for the memory: the load has the variables' registers.
TEST(like_ptxas, guarded_loads_of_vectors_write_the_variables) {
  for (const char* capability : {"6.1", "7.0", "8.0", "9.0"}) {
    const std::string code = lowered(
        capability,
        ".entry k(.param .u64 p) { .reg .b64 %d; .reg .b32 %r<5>; .reg .pred %q; ld.param.u64 %d, [p]; mov.u32 %r0, %tid.x;"
        "mov.u32 %r1, 1; mov.u32 %r2, 2; mov.u32 %r3, 3; mov.u32 %r4, 4; setp.gt.u32 %q, %r0, 7; @%q bra L;"
        "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d]; L: st.global.v4.u32 [%d+16], {%r1, %r2, %r3, %r4}; ret; }");
    EXPECT_EQ(times(code, "P0 LDG.B128"), 1u) << code;
    EXPECT_EQ(times(code, "P0 MOV"), 0u) << code;
  }
}

TEST(like_ptxas, logic_is_joined_and_tests_itself_for_zero) {
  const auto text = [](const char* capability, const std::string& compare) {
    return lowered(capability, std::string(parameters) + "xor.b32 %r6, %r3, %r0; and.b32 %r4, %r6, 3; setp." + compare +
                                   ".s32 %q0, %r4, 0; selp.b32 %r5, %r0, %r3, %q0; st.global.u32 [%d0], %r5; ret; }");
  };
  EXPECT_EQ(times(text("9.0", "ne"), "LOP3"), 2u) << "of two values that are no registers one stays for itself";
  EXPECT_EQ(times(text("9.0", "ne"), "ISETP"), 0u);
  EXPECT_EQ(times(text("9.0", "ne"), ", !P0"), 1u) << "SEL with its sources exchanged: " << text("9.0", "ne");
  EXPECT_EQ(times(text("9.0", "eq"), ", P0"), 2u) << "set by LOP3, read by SEL: " << text("9.0", "eq");
  EXPECT_EQ(times(text("8.9", "ne"), "ISETP"), 1u);
  const std::string three = lowered("9.0", std::string(parameters) +
                                               "ld.global.u32 %r4, [%d0]; xor.b32 %r6, %r3, %r4; and.b32 %r5, %r6, %r0;"
                                               "st.global.u32 [%d0], %r5; ret; }");
  EXPECT_EQ(times(three, "LOP3"), 1u) << three;
}

// The remainder of a division by a whole number that is converted from a constant needs neither the conversion nor the
// divisor's sign.
// (p + 16) + x * 4 is p + x * 4 for an access with a greater offset, while x and p are what they were.
TEST(like_ptxas, accesses_share_an_address_that_differs_by_a_constant) {
  const std::string begin = std::string(parameters) +
                            "mad.wide.s32 %d1, %r3, 4, %d0; ld.global.u32 %r4, [%d1]; add.s64 %d2, %d0, 16;",
                    end =
                        "mad.wide.s32 %d3, %r3, 4, %d2; ld.global.u32 %r5, [%d3+4]; add.u32 %r6, %r4, %r5;"
                        "st.global.u32 [%d0], %r6; ret; }";
  for (const char* chip : {"8.0", "9.0"}) {
    const std::string shared = lowered(chip, begin + end), other = lowered(chip, begin + "shl.b32 %r3, %r4, 1;" + end);
    EXPECT_EQ(times(shared, "IMAD.WIDE"), 1u) << shared;
    EXPECT_EQ(times(shared, "+0x14]"), 1u) << shared;
    EXPECT_EQ(times(other, "IMAD.WIDE"), 2u) << other;
  }
  const std::string sum =
      lowered("8.0", std::string(parameters) +
                         "cvt.u64.u32 %d1, %r3; add.s64 %d2, %d0, %d1; ld.global.u8 %r4, [%d2];"
                         "add.s64 %d3, %d1, 7; add.s64 %d4, %d3, %d0; st.global.u8 [%d4], %r4; ret; }");
  EXPECT_EQ(times(sum, "+0x7]"), 1u) << sum;
}

// Where registers are few, the first products get their loads first: the pointer of `b` takes some cycles for each
// load, the offsets of `a` none.
TEST(like_ptxas, loads_come_in_the_order_in_which_they_are_needed) {
  std::string body =
      std::string(parameters) + "mad.wide.s32 %d1, %r3, 4, %d0; mul.wide.u32 %d2, %r0, 4; mov.f32 %f, 0f00000000;";
  body += ".reg .f32 %a<16>, %b<16>; .reg .b64 %e<17>; add.s64 %e0, %d1, %d2;";
  for (int k = 0; k < 16; ++k) {
    const std::string n = std::to_string(k);
    body += "ld.global.f32 %a" + n + ", [%d1+" + std::to_string(4 * k) + "]; ld.global.f32 %b" + n + ", [%e" + n + "];";
    body += "add.s64 %e" + std::to_string(k + 1) + ", %e" + n + ", %d2; fma.rn.f32 %f, %a" + n + ", %b" + n + ", %f;";
  }
  const std::string text = lowered("8.0", body + "st.global.f32 [%d0], %f; ret; }");
  std::size_t fourth = 0;
  for (int k = 0; k < 4; ++k)
    for (fourth = text.find("LDG", fourth + 1); text.find("+0x", fourth) < text.find('\n', fourth);)
      fourth = text.find("LDG", fourth + 1);
  EXPECT_LT(fourth, text.find("+0x14]")) << text;
}

TEST(like_ptxas, computations_behind_a_barrier_come_while_a_load_before_it_is_in_flight) {
  const std::string text = lowered(
      "8.0",
      std::string(parameters) +
          ".shared .b32 s; ld.global.u32 %r4, [%d0]; st.shared.u32 [s], %r4; bar.sync 0; mul.lo.u32 %r5, %r3, %r3;"
          "ld.shared.u32 %r6, [s]; add.u32 %r6, %r6, %r5; st.global.u32 [%d0], %r6; ret; }");
  const std::size_t barrier = text.find("BAR");
  EXPECT_LT(text.find("IMAD"), barrier) << text;
  EXPECT_LT(text.find("STS"), barrier) << text;
  EXPECT_GT(text.find("LDS"), barrier) << text;
}

TEST(like_ptxas, shifts_of_constants_are_folded) {
  const std::string text =
      lowered("8.0", std::string(parameters) +
                         "mov.u32 %r4, 0xfffffff6; shr.u32 %r5, %r4, 31; add.s32 %r6, %r4, %r5; shr.s32 "
                         "%r7, %r6, 1; shr.u32 %r8, %r4, 40; add.u32 %r7, %r7, %r8; st.global.u32 [%d0], %r7; ret; }");
  EXPECT_EQ(times(text, "SHR"), 0u) << text;
  EXPECT_EQ(times(text, "0xfffffffb"), 1u) << text;  // -10 / 2
}

TEST(like_ptxas, divisors_that_are_known_are_folded) {
  const std::string text = lowered(
      "9.0",
      std::string(parameters) +
          "mov.f32 %f, 0f40800000; cvt.rzi.s32.f32 %r4, %f; rem.s32 %r5, %r3, %r4; st.global.u32 [%d0], %r5; ret; }");
  EXPECT_EQ(times(text, "F2I.S32"), 0u) << text;
  EXPECT_EQ(times(text, "IABS"), 1u) << text;
}

// Lanes that only exit afterwards need not meet before, and a branch over a jump is the opposite branch.
TEST(like_ptxas, lanes_do_not_meet_to_exit) {
  const std::string work = "xor.b32 %r3, %r3, 5; mul.lo.u32 %r3, %r3, %r3; st.volatile.global.u32 [%d0], %r3;";
  const std::string loop =
      lowered("9.0", std::string(parameters) + "L: " + work + "setp.lt.u32 %q0, %r3, %r0; @%q0 bra L; ret; }");
  EXPECT_EQ(times(loop, "BSSY") + times(loop, "BSYNC"), 0u) << loop;
  const std::string both =
      lowered("9.0", std::string(parameters) + "setp.lt.u32 %q0, %r3, %r0; @%q0 bra A; bra B; A: " + work +
                         "bra E; B: " + work + work + "E: ret; }");
  EXPECT_EQ(times(both, "BSSY") + times(both, "BSYNC"), 0u) << both;
  EXPECT_EQ(times(both, "BRA"), 1u) << both;
  EXPECT_EQ(times(both, "EXIT"), 2u) << both;
}

// For independent sums ptxas alternates between IADD3 and IMAD.IADD, on the two pipes that take an instruction every
// other cycle; those of a chain stay where they are.
TEST(like_ptxas, moves_sums_and_shifts_go_to_the_pipe_that_is_free) {
  const auto on = [](const char* gpu, const char* instruction) {
    std::string s =
        ".entry k(.param .u64 p) { .reg .b64 %d<2>; .reg .b32 %r<40>; ld.param.u64 %d0, [p]; mov.u32 %r0, %tid.x; "
        "mov.u32 %r1, %tid.y; xor.b32 %r2, %r0, %r1; and.b32 %r3, %r0, %r1;";
    for (unsigned k = 4; k < 12; ++k) {
      std::string one = instruction;
      const auto put = [&one](const std::string& what, unsigned number) {
        for (std::size_t at = 0; (at = one.find(what)) != std::string::npos;)
          one.replace(at, 1, std::to_string(number));
      };
      put("D", k), put("P", k - 1), put("E", k + 8), put("K", 3 * k + 1), put("S", k);
      s += one;
    }
    for (unsigned k = 4; k < 20; ++k)
      s += "st.global.u32 [%d0+" + std::to_string(4 * k) + "], %r" + std::to_string(k) + ";";
    const ptx::loaded_module m = ptx::place(ptx::parse(header + s + "ret; }", "k.ptx"), isa::heap_base);
    return text_of(*ptx::lower(m, "k", load_config(gpu), 0));
  };
  const char* sums = "xor.b32 %rE, %r0, K; add.u32 %rD, %rE, %r1;";
  const char* chain = "add.u32 %rD, %rP, %r1; mov.u32 %rE, K;";
  const char* shifts = "xor.b32 %rE, %r0, K; shl.b32 %rD, %rE, S;";
  const char* steps = "xor.b32 %rE, %r0, K; add.u32 %rD, %rE, S;";
  for (const char* gpu : {"v100", "rtx2060", "a100", "rtx3080", "h100"}) {
    EXPECT_GE(times(on(gpu, sums), "IMAD.IADD"), 3u) << gpu << on(gpu, sums);
    EXPECT_GE(times(on(gpu, shifts), "IMAD.SHL"), 3u) << gpu << on(gpu, shifts);
    EXPECT_EQ(times(on(gpu, chain), "IMAD.IADD"), 0u) << gpu << on(gpu, chain);
  }
  EXPECT_GE(times(on("h100", steps), "VIADD"), 3u) << on("h100", steps);
  EXPECT_EQ(times(on("a100", steps), "VIADD"), 0u);
  EXPECT_EQ(times(on("gtx1080", sums), "IMAD"), 0u);
}

// With many values live, pointers that a loop needs are loaded in the loop, if that leaves an SM more warps; otherwise
// before it.
TEST(like_ptxas, constants_are_loaded_again_where_registers_keep_warps_off_an_sm) {
  const auto kernel = [](unsigned values) {
    std::string s =
        ".entry k(.param .u64 p, .param .u64 q0, .param .u64 q1, .param .u64 q2, .param .u64 q3, .param .u32 n) { "
        ".reg .b64 %d<8>; .reg .b32 %r<4>; .reg .f32 %f<50>; .reg .pred %p0; ld.param.u64 %d0, [p]; ld.param.u64 %d1, "
        "[q0]; ld.param.u64 %d2, [q1]; ld.param.u64 %d3, [q2]; ld.param.u64 %d4, [q3]; ld.param.u32 %r1, [n]; mov.u32 "
        "%r0, %tid.x; mul.wide.u32 %d5, %r0, 128; add.u64 %d5, %d0, %d5; ";
    for (unsigned k = 1; k <= values; ++k)
      s += "ld.global.f32 %f" + std::to_string(k) + ", [%d5+" + std::to_string(4 * k) + "]; ";
    s += "L: mul.wide.s32 %d6, %r0, 4; ";
    for (const char* pointer : {"%d1", "%d2", "%d3", "%d4"})
      s += std::string("add.u64 %d7, ") + pointer + ", %d6; ld.volatile.global.f32 %f0, [%d7]; add.f32 %f1, %f1, %f0; ";
    for (unsigned k = 1; k <= values; ++k) {
      const std::string f = "%f" + std::to_string(k);
      s += "fma.rn.f32 " + f + ", " + f + ", " + f + ", %f0; ";
    }
    s += "add.u32 %r0, %r0, 7; setp.lt.s32 %p0, %r0, %r1; @%p0 bra L; ";
    for (unsigned k = 1; k <= values; ++k)
      s += "st.global.f32 [%d5+" + std::to_string(4 * k) + "], %f" + std::to_string(k) + "; ";
    return s + "ret; }";
  };
  const auto in_loop = [&](unsigned values) {
    const ptx::loaded_module m = ptx::place(ptx::parse(header + kernel(values), "k.ptx"), isa::heap_base);
    const auto code = ptx::lower(m, "k", load_config("h100"), 0)->code;
    const auto end = std::find_if(code.begin(), code.end(), [&](const auto& i) {
      return i.op == opcode::bra && i.target < static_cast<std::size_t>(&i - code.data());
    });
    return std::count_if(code.begin() + end->target, end, [](const auto& i) { return i.op == opcode::ldc; });
  };
  EXPECT_EQ(in_loop(8), 0);
  EXPECT_EQ(in_loop(24), 4);
}

}  // namespace ptx_like_ptxas_test
}  // namespace heddle
