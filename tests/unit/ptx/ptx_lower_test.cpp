// SPDX-License-Identifier: MIT
// Results of lowering: expansions, registers, reconvergence points, module placement, messages.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "heddle/config/config.h"
#include "heddle/config/error.h"
#include "heddle/frontend/ptx/hir/control_flow.h"
#include "heddle/frontend/ptx/lower.h"
#include "heddle/frontend/ptx/machine/register_allocation.h"

namespace heddle {
namespace ptx_lower_test {

using isa::opcode;

const char* header = ".version 8.0\n.target sm_75\n.address_size 64\n";

std::shared_ptr<const isa::program> lower(const std::string& body, const char* multiplier = "imad",
                                          unsigned registers = 0, double fp64 = 1) {
  gpu_config gpu;
  gpu.integer.multiplier = multiplier == std::string("xmad") ? choice::multiplier::xmad : choice::multiplier::imad;
  gpu.fp64.lanes = fp64;
  const ptx::loaded_module m = ptx::place(ptx::parse(header + body, "k.ptx"), isa::heap_base);
  return ptx::lower(m, "k", gpu, registers);
}

unsigned count(const isa::program& p, opcode op) {
  return static_cast<unsigned>(
      std::count_if(p.code.begin(), p.code.end(), [&](const isa::instruction& i) { return i.op == op; }));
}

std::string text_of(const isa::program& p) {
  std::string s;
  for (const isa::instruction& i : p.code) s += isa::to_string(i) + "\n";
  return s;
}

std::string message_of(const std::string& body, double fp64 = 1) {
  try {
    lower(body, "imad", 0, fp64);
  } catch (const input_error& e) {
    return e.what();
  }
  return "no error";
}

const char* vector_add =
    ".entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u32 n) {\n.reg .pred %p<2>; .reg .f32 %f<4>; .reg .b32 %r<6>; .reg "
    ".b64 %rd<11>;\nld.param.u64 %rd1, [pa];\nld.param.u64 %rd2, [pb];\nld.param.u64 %rd3, [pc];\nld.param.u32 %r2, [n];\nmov.u32 %r3, "
    "%ctaid.x;\nmov.u32 %r4, %ntid.x;\nmov.u32 %r5, %tid.x;\nmad.lo.s32 %r1, %r3, %r4, %r5;\nsetp.ge.s32 %p1, %r1, %r2;\n@%p1 bra "
    "DONE;\ncvta.to.global.u64 %rd4, %rd1;\nmul.wide.s32 %rd5, %r1, 4;\nadd.s64 %rd6, %rd4, %rd5;\ncvta.to.global.u64 %rd7, "
    "%rd2;\nadd.s64 %rd8, %rd7, %rd5;\nld.global.f32 %f1, [%rd8];\nld.global.f32 %f2, [%rd6];\nadd.f32 %f3, %f2, "
    "%f1;\ncvta.to.global.u64 %rd9, %rd3;\nadd.s64 %rd10, %rd9, %rd5;\nst.global.f32 [%rd10], %f3;\nDONE: ret;\n}\n";

// A fetch has as many registers as elements up to the last one that is read; three take the place of four.
TEST(lowering, texture_fetches_have_registers_for_what_is_read) {
  for (unsigned last = 0; last < 4; ++last) {
    const std::string element = std::to_string(last);
    const auto p = lower(
        ".entry k(.param .u64 t, .param .u64 o) {\n.reg .b64 %rd<3>; .reg .f32 %f<6>;\nld.param.u64 %rd1, [t];\nld.param.u64 %rd2, [o];\n"
        "mov.f32 %f4, 0f3F000000;\ntex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%rd1, {%f4, %f4}];\nst.global.f32 [%rd2], %f" +
        element + ";\nret;\n}\n");
    const auto fetch =
        std::find_if(p->code.begin(), p->code.end(), [](const isa::instruction& i) { return i.op == opcode::tex; });
    ASSERT_NE(fetch, p->code.end());
    EXPECT_EQ(fetch->dst_count, last < 2 ? last + 1 : 4u);
  }
}

// A product on the tensor unit needs its factors in aligned registers. A factor of several products is moved there
// once. If one of its registers is written between two products (%r0), it is moved again for the second.
TEST(lowering, factors_of_several_matrix_products_are_gathered_once) {
  const auto moves_of = [](bool written) {
    std::string body =
        ".entry k(.param .u64 pa) {\n.reg .b32 %r<10>, %c<32>; .reg .b64 %rd<2>;\nld.param.u64 %rd1, [pa];\n";
    for (unsigned k = 0; k < 4; ++k)
      body += "ld.global.b32 %r" + std::to_string(k) + ", [%rd1+" + std::to_string(40 * k) + "];\n";
    for (unsigned product = 0; product < 6; ++product) {
      std::string c = "{", d = "{";
      for (unsigned e = 0; e < 4; ++e) {
        c += (e ? ", " : "") + std::string("%c") + std::to_string(8 + e);
        d += (e ? ", " : "") + std::string("%c") + std::to_string(8 + e);
      }
      if (product == 0)
        for (unsigned e = 0; e < 4; ++e) body += "mov.b32 %c" + std::to_string(8 + e) + ", 0;\n";
      body += "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 " + d + "}, {%r0, %r1}, {%r2}, " + c + "};\n";
      if (product == 2 && written) body += "ld.global.b32 %r0, [%rd1+400];\n";
    }
    for (unsigned e = 0; e < 4; ++e)
      body += "st.global.b32 [%rd1+" + std::to_string(600 + 4 * e) + "], %c" + std::to_string(8 + e) + ";\n";
    gpu_config gpu;
    gpu.gpu.compute_capability = "8.0";
    const ptx::loaded_module m = ptx::place(ptx::parse(header + body + "ret;\n}\n", "k.ptx"), isa::heap_base);
    return count(*ptx::lower(m, "k", gpu, 0), opcode::mov);
  };
  EXPECT_LE(moves_of(false), 8u);  // including those of the accumulators; 18 if each product moved its own
  EXPECT_GT(moves_of(true), moves_of(false));
}

TEST(lowering, vector_add_has_the_shape_of_real_code) {
  const auto p = lower(vector_add);
  EXPECT_EQ(count(*p, opcode::ldc), 0u);
  EXPECT_EQ(count(*p, opcode::s2r), 2u);
  EXPECT_EQ(count(*p, opcode::ld), 2u);
  EXPECT_EQ(count(*p, opcode::fadd), 1u);
  EXPECT_NE(text_of(*p).find("c[0x0][0x8]"), std::string::npos) << "ntid.x is a constant operand\n" << text_of(*p);
  EXPECT_NE(text_of(*p).find("c[0x0][0x158]"), std::string::npos) << "n is a constant operand\n" << text_of(*p);
  EXPECT_LE(p->registers, 16u);
  EXPECT_EQ(p->parameter_bytes, 28u);
  ASSERT_EQ(p->parameters.size(), 4u);
  EXPECT_EQ(p->parameters[3].offset, 24u);
  EXPECT_EQ(p->code.back().op, opcode::exit);
}

TEST(lowering, keeps_positions) {
  const auto p = lower(vector_add);
  for (const isa::instruction& i : p->code) {
    if (i.op == opcode::fadd) {
      EXPECT_EQ(i.line, 23u) << "the line of add.f32";
    }
    EXPECT_GT(i.line, 0u);
    EXPECT_GT(i.column, 0u);
  }
}

TEST(lowering, keeps_positions_of_vectors_in_calls) {
  const auto p = lower(
      ".func (.reg .v2 .u32 r) swap(.reg .v2 .u32 a) {\nmov.u32 r.x, a.y;\nmov.u32 r.y, a.x;\nret; }\n"
      ".entry k(.param .u64 o) { .reg .b64 %d<2>; .reg .v2 .u32 %v;\nld.param.u64 %d0, [o];\nld.global.v2.u32 %v, [%d0];\n"
      "call (%v), swap, (%v);\nadd.u32 %v.x, %v.x, %v.y;\nst.global.v2.u32 [%d0], %v;\nret; }");
  for (const isa::instruction& i : p->code) EXPECT_GT(i.line, 0u) << text_of(*p);
}

TEST(lowering, multiplier_decides_the_expansion) {
  const std::string body =
      ".entry k(.param .u64 p) { .reg .b64 %d; .reg .b32 %r<4>; ld.param.u64 %d, [p]; ld.global.u32 %r0, [%d]; ld.global.u32 %r1, [%d+4];"
      "mad.lo.s32 %r2, %r0, %r1, %r1; st.global.u32 [%d], %r2; ret; }";
  EXPECT_EQ(count(*lower(body, "imad"), opcode::imad), 1u);
  const auto p = lower(body, "xmad");
  EXPECT_EQ(count(*p, opcode::imad), 0u);
  EXPECT_EQ(count(*p, opcode::xmad), 3u);
  EXPECT_NE(text_of(*p).find("XMAD.H1A.H1B.PSL.CBCC"), std::string::npos) << text_of(*p);
}

TEST(lowering, division_is_fchk_mufu_ffma_and_a_guarded_assist) {
  const auto p = lower(
      ".entry k(.param .u64 p) { .reg .b64 %d; .reg .f32 %f<4>; ld.param.u64 %d, [p]; ld.global.f32 %f0, [%d]; ld.global.f32 %f1, [%d+4];"
      "div.rn.f32 %f2, %f0, %f1; st.global.f32 [%d], %f2; ret; }");
  EXPECT_EQ(count(*p, opcode::fchk), 1u);
  EXPECT_EQ(count(*p, opcode::mufu), 1u);
  EXPECT_EQ(count(*p, opcode::ffma), 6u);
  for (const isa::instruction& i : p->code)
    if (i.op == opcode::assist) {
      EXPECT_NE(i.guard.reg, isa::pt);
    }
  EXPECT_EQ(count(*p, opcode::assist), 1u);
}

TEST(lowering, comparisons_take_predicate_logic_along) {
  const auto p = lower(
      ".entry k(.param .u32 a, .param .u32 b, .param .u64 o) { .reg .pred %p<4>; .reg .b32 %r<4>; .reg .b64 %d; ld.param.u64 %d, [o];"
      "mov.u32 %r0, %tid.x; ld.param.u32 %r1, [a]; ld.param.u32 %r2, [b]; setp.lt.s32 %p0, %r0, %r1; setp.gt.s32 %p1, %r0, %r2;"
      "and.pred %p2, %p0, %p1; not.pred %p3, %p2; @%p3 bra E; st.global.u32 [%d], %r0; E: ret; }");
  EXPECT_EQ(count(*p, opcode::isetp), 2u);
  EXPECT_EQ(count(*p, opcode::plop3), 0u) << text_of(*p);
}

TEST(lowering, addresses_fold_constants_and_symbols) {
  const auto p = lower(
      ".entry k(.param .u64 o) { .shared .align 4 .b8 a[64]; .shared .align 4 .b8 b[64]; .reg .b32 %r<6>; .reg .b64 %d<3>; ld.param.u64 "
      "%d0, [o]; mov.u32 %r0, %tid.x; mov.u32 %r1, b; add.s32 %r2, %r1, %r0; ld.shared.u32 %r3, [%r2+8]; add.s64 %d1, %d0, 32; add.s64 %d2, "
      "%d1, 8; st.global.u32 [%d2+4], %r3; ret; }");
  EXPECT_EQ(count(*p, opcode::iadd3), 0u) << text_of(*p);
  EXPECT_NE(text_of(*p).find("+0x48]"), std::string::npos) << text_of(*p);
  EXPECT_NE(text_of(*p).find("+0x2c]"), std::string::npos) << text_of(*p);
  EXPECT_EQ(p->shared_bytes, 128u);
}

// Data read through the read-only path are never written, so such a load may be moved before a preceding store; other
// loads may not.
TEST(lowering, read_only_loads_pass_stores) {
  const auto text = [](const std::string& load) {
    return text_of(*lower(
        ".entry k(.param .u64 o, .param .u64 q) { .reg .b32 %r<4>; .reg .b64 %d<2>; ld.param.u64 %d0, [o]; ld.param.u64 %d1, [q];"
        "ld.global.u32 %r1, [%d0]; add.u32 %r1, %r1, 1; st.global.u32 [%d0], %r1;" +
        load + " %r2, [%d1]; add.u32 %r3, %r2, 7; st.global.u32 [%d0+4096], %r3; ret; }"));
  };
  const std::string read_only = text("ld.global.nc.u32"), plain = text("ld.global.u32");
  EXPECT_LT(read_only.find("LDG.CI"), read_only.find("STG")) << read_only;
  EXPECT_GT(plain.rfind("LDG"), plain.find("STG")) << plain;
}

// An instruction's offset is a signed 24-bit number.
TEST(lowering, offsets_are_as_long_as_an_instruction_holds) {
  const auto text = [](const std::string& sum, const std::string& offset) {
    return text_of(
        *lower(".entry k(.param .u64 o) { .reg .b32 %r; .reg .b64 %d<3>; ld.param.u64 %d0, [o]; add.s64 %d1, %d0, " +
               sum + "; ld.global.u32 %r, [%d1" + offset + "]; st.global.u32 [%d0], %r; ret; }"));
  };
  EXPECT_NE(text("8388600", "+4").find("+0x7ffffc]"), std::string::npos) << text("8388600", "+4");
  EXPECT_NE(text("-8388600", "+-8").find("-0x800000]"), std::string::npos) << text("-8388600", "+-8");
  EXPECT_NE(text("8388604", "+4").find("+0x4]"), std::string::npos) << text("8388604", "+4");
  EXPECT_NE(text("-8388604", "+-8").find("-0x8]"), std::string::npos) << text("-8388604", "+-8");
  EXPECT_NE(text("16777216", "+8").find("+0x8]"), std::string::npos) << text("16777216", "+8");
}

// Constants are signed if their types are: an offset of -4 is folded, and -3 * 5 is -15 in both words.
TEST(lowering, negative_constants_are_folded) {
  const auto p = lower(
      ".entry k(.param .u64 o) { .shared .align 4 .b8 a[64]; .reg .b32 %r<6>; .reg .b64 %d<3>; ld.param.u64 %d0, [o]; mov.u32 %r0, %tid.x;"
      "add.s32 %r1, %r0, -4; ld.shared.u32 %r2, [%r1]; mov.s32 %r3, -3; mul.wide.s32 %d1, %r3, 5; st.global.u32 [%d0], %r2;"
      "st.global.u64 [%d0+8], %d1; ret; }");
  EXPECT_EQ(count(*p, opcode::iadd3), 0u) << text_of(*p);
  EXPECT_EQ(count(*p, opcode::imad), 0u) << text_of(*p);
  EXPECT_NE(text_of(*p).find("-0x4]"), std::string::npos) << text_of(*p);
  EXPECT_NE(text_of(*p).find("0xfffffff1"), std::string::npos) << text_of(*p);
  EXPECT_NE(text_of(*p).find("0xffffffff"), std::string::npos) << text_of(*p);
  EXPECT_EQ(p->local_bytes, 0u);
}

// A value that cannot be negative needs no sign extension, and one of unchanged width no conversion.
TEST(lowering, conversions_that_change_nothing_are_no_instructions) {
  const auto p = lower(
      ".entry k(.param .u64 o) { .reg .pred %p; .reg .b16 %h<3>; .reg .b32 %r<6>; .reg .b64 %d<2>; ld.param.u64 %d0, [o]; mov.u32 %r0, %tid.x;"
      "setp.lt.u32 %p, %r0, 7; selp.u16 %h1, 5, 9, %p; cvt.s32.s16 %r1, %h1; cvt.u32.s32 %r2, %r0; st.global.v2.u32 [%d0], {%r1, %r2}; ret; }");
  EXPECT_EQ(count(*p, opcode::bfe) + count(*p, opcode::i2i) + count(*p, opcode::lop3) + count(*p, opcode::prmt), 0u)
      << text_of(*p);
  EXPECT_LE(count(*p, opcode::mov), 3u) << text_of(*p);
  const auto chain = lower(
      ".entry k(.param .u64 o) { .reg .b32 %r<7>; .reg .b64 %d<4>; ld.param.u64 %d0, [o]; ld.global.u32 %r1, [%d0]; cvt.u32.s32 %r2, %r1;"
      "add.u32 %r3, %r2, 5; cvt.s32.u32 %r4, %r3; add.u32 %r5, %r4, 6; cvt.u64.s64 %d1, %d0; add.u64 %d2, %d1, 8; cvt.s64.u64 %d3, %d2;"
      "st.global.u32 [%d3+4], %r5; ret; }");
  EXPECT_EQ(count(*chain, opcode::iadd3), 1u) << "sums of constants are seen through them: " << text_of(*chain);
  EXPECT_NE(text_of(*chain).find("+0xc]"), std::string::npos) << text_of(*chain);
}

TEST(lowering, divergent_branches_meet_at_the_post_dominator) {
  const auto p = lower(
      ".entry k(.param .u64 o) { .reg .pred %p; .reg .b32 %r<3>; .reg .b64 %d; ld.param.u64 %d, [o]; mov.u32 %r0, %tid.x; setp.eq.u32 %p, %r0, 0;"
      "@%p bra A; st.volatile.global.u32 [%d], 1; bra B; A: st.volatile.global.u32 [%d], 2; B: st.global.u32 [%d], 3; ret; }");
  unsigned conditional = 0;
  for (const isa::instruction& i : p->code) {
    if (i.op != opcode::bra) continue;
    if (i.guard.reg == isa::pt) {
      EXPECT_EQ(i.reconverge, isa::no_target);
      continue;
    }
    ++conditional;
    ASSERT_LT(i.reconverge, p->code.size());
    EXPECT_EQ(isa::to_string(p->code[i.target - 1]).substr(0, 3), "BRA") << text_of(*p);
    EXPECT_GT(i.reconverge, i.target);
  }
  EXPECT_EQ(conditional, 1u);
}

TEST(lowering, short_branches_become_guards) {
  const auto p = lower(
      ".entry k(.param .u64 o) { .reg .pred %p; .reg .b32 %r<3>; .reg .b64 %d; ld.param.u64 %d, [o]; mov.u32 %r0, %tid.x; setp.gt.u32 %p, %r0, 99; @%p bra E;"
      "setp.eq.u32 %p, %r0, 0; @%p bra A; st.global.u32 [%d], 1; bra B; A: ld.global.u32 %r1, [%d]; st.global.u32 [%d], %r1; B: st.global.u32 [%d], 3; E: ret; }");
  unsigned guarded = 0;
  for (const isa::instruction& i : p->code) {
    EXPECT_NE(i.op, opcode::bra) << text_of(*p);
    if (i.guard.reg != isa::pt) ++guarded;
  }
  EXPECT_EQ(guarded, 4u) << "an exit, two stores, a load\n" << text_of(*p);
}

TEST(lowering, paths_that_only_end_have_no_meeting_point) {
  const auto p = lower(
      ".entry k(.param .u64 o) { .reg .pred %p; .reg .b32 %r; .reg .b64 %d; ld.param.u64 %d, [o]; mov.u32 %r, %tid.x; setp.eq.u32 %p, %r, 0;"
      "@%p bra A; st.global.u32 [%d], 1; ret; A: st.global.u32 [%d], 2; ret; }");
  for (const isa::instruction& i : p->code)
    if (i.op == opcode::bra) {
      EXPECT_EQ(i.reconverge, isa::no_target);
    }
}

TEST(lowering, loop_variables_need_no_copies) {
  const auto p = lower(
      ".entry k(.param .u64 o, .param .u32 n) { .reg .pred %p; .reg .b32 %r<6>; .reg .f32 %f<6>; .reg .b64 %d<4>; ld.param.u64 %d1, [o];"
      "ld.param.u32 %r1, [n]; mov.f32 %f1, 0f00000000; mov.u32 %r2, 0; L: ld.global.f32 %f2, [%d1]; add.f32 %f3, %f2, %f1; mov.f32 %f1, %f3;"
      "add.s32 %r3, %r2, 1; mov.u32 %r2, %r3; setp.lt.u32 %p, %r3, %r1; @%p bra L; st.global.f32 [%d1], %f1; ret; }");
  bool in_loop = false;
  std::uint32_t head = 0;
  for (const isa::instruction& i : p->code)
    if (i.op == opcode::bra) head = i.target;
  for (std::size_t k = head; k < p->code.size() && p->code[k].op != opcode::bra; ++k) {
    in_loop = true;
    EXPECT_NE(p->code[k].op, opcode::mov) << text_of(*p);
  }
  EXPECT_TRUE(in_loop);
}

std::string wide_kernel(unsigned values) {
  std::string s = ".entry k(.param .u64 o) { .reg .b64 %d; .reg .f32 %f<512>; ld.param.u64 %d, [o];\n";
  for (unsigned k = 0; k < values; ++k)
    s += "ld.global.volatile.f32 %f" + std::to_string(k) + ", [%d+" + std::to_string(4 * k) + "];\n";
  s += "bar.sync 0;\nmov.f32 %f500, 0f00000000;\n";
  for (unsigned k = 0; k < values; ++k) s += "fma.rn.f32 %f500, %f" + std::to_string(k) + ", %f500, %f500;\n";
  return s + "st.global.f32 [%d], %f500; ret; }";
}

TEST(register_allocation, uses_what_is_live_and_spills_beyond_the_limit) {
  const auto free = lower(wide_kernel(100));
  EXPECT_GE(free->registers, 100u);
  EXPECT_LE(free->registers, 106u);
  EXPECT_EQ(free->local_bytes, 0u);
  const auto tight = lower(wide_kernel(100), "imad", 40);
  EXPECT_LE(tight->registers, 40u);
  EXPECT_GE(tight->local_bytes, 4u * 60);
  const auto huge = lower(wide_kernel(300));
  EXPECT_LE(huge->registers, 255u);
  EXPECT_GE(huge->local_bytes, 4u * 45);
}

// Spilled values occupy local memory without gaps, and an instruction that reads one twice loads it once.
TEST(register_allocation, a_spilled_word_has_one_place_and_is_loaded_once) {
  std::string s = ".entry k(.param .u64 o) { .reg .b64 %d; .reg .b32 %r<41>; ld.param.u64 %d, [o];\n";
  for (int k = 0; k < 24; ++k)
    s += "ld.volatile.global.u32 %r" + std::to_string(k) + ", [%d+" + std::to_string(4 * k) + "];\n";
  for (int k = 0; k < 24; ++k)
    s += "mul.lo.u32 %r40, %r" + std::to_string(k) + ", %r" + std::to_string(k) + "; st.global.u32 [%d+" +
         std::to_string(4 * k) + "], %r40;\n";
  const auto p = lower(s + "ret; }", "imad", 24);
  const unsigned stores =
      static_cast<unsigned>(std::count_if(p->code.begin(), p->code.end(), [](const isa::instruction& i) {
        return i.op == opcode::st && i.mem_space == isa::space::local;
      }));
  const unsigned loads =
      static_cast<unsigned>(std::count_if(p->code.begin(), p->code.end(), [](const isa::instruction& i) {
        return i.op == opcode::ld && i.mem_space == isa::space::local;
      }));
  EXPECT_GT(stores, 0u) << text_of(*p);
  EXPECT_EQ(loads, stores) << text_of(*p);
  EXPECT_EQ(p->local_bytes, 4 * stores) << text_of(*p);
}

TEST(register_allocation, a_limit_that_no_code_fits_is_refused) {
  EXPECT_THROW(lower(vector_add, "imad", 2), input_error);
}

TEST(register_allocation, verifier_finds_shared_registers) {
  ptx::machine_function f;
  const std::uint32_t a = f.new_register(1), b = f.new_register(1);
  ptx::machine_block block;
  const auto put = [&](opcode op, std::uint32_t d, std::initializer_list<std::uint32_t> sources) {
    ptx::machine_instruction i;
    i.base.op = op;
    if (d != ptx::no_register) i.dst = {d, 0, 1};
    else i.dst.count = 0;
    unsigned k = 0;
    for (std::uint32_t s : sources) i.src[k++] = ptx::register_part{s, 0, 1};
    block.code.push_back(i);
  };
  put(opcode::s2r, a, {});
  put(opcode::s2r, b, {});
  put(opcode::st, ptx::no_register, {a, b});
  f.blocks.push_back(block);
  ptx::register_allocation allocation;
  allocation.registers = 2;
  allocation.physical = {0, 1};
  EXPECT_NO_THROW(ptx::verify_allocation(f, allocation));
  allocation.physical = {1, 1};
  EXPECT_THROW(ptx::verify_allocation(f, allocation), internal_error);
  ptx::register_allocation good;
  ASSERT_TRUE(ptx::allocate_registers(f, ptx::register_rules(), good));
  EXPECT_EQ(good.registers, 2u);
}

std::shared_ptr<const isa::program> lower_for(const std::string& capability, const std::string& text) {
  gpu_config gpu;
  gpu.gpu.compute_capability = capability;
  gpu.sub_partition.register_banks = 2;
  gpu.integer.multiplier = choice::multiplier::imad;
  return ptx::lower(
      ptx::place(ptx::parse(".version 7.0\n.target sm_75\n.address_size 64\n" + text, "k.ptx"), isa::heap_base), "k",
      gpu);
}

// As `ptxas -v` reports: R1 is the stack pointer, and from Volta on two registers are added to the highest.
TEST(register_count, of_a_kernel_that_needs_none) {
  const std::string empty = ".entry k() { ret; }";
  EXPECT_EQ(lower_for("6.1", empty)->registers, 2u);
  EXPECT_EQ(lower_for("7.0", empty)->registers, 4u);
  EXPECT_EQ(lower_for("8.0", empty)->registers, 4u);
  EXPECT_EQ(lower_for("1.0", empty)->registers, 1u);
}

TEST(register_count, nothing_is_placed_in_the_stack_pointer) {
  const auto p = lower_for("8.0", wide_kernel(40));
  for (const isa::instruction& i : p->code)
    for (unsigned k = 0; k < i.dst_count; ++k) EXPECT_NE(i.dst + k, 1u) << text_of(*p);
}

TEST(register_count, of_a_call_of_the_system) {
  const std::string text =
      ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
      ".entry k(.param .u64 o) { .reg .b64 %d; .reg .b32 %r<9>; ld.param.u64 %d, [o];\n";
  const std::string call =
      "{ .param .b64 x; .param .b64 y; .param .b32 z; st.param.b64 [x], %d; st.param.b64 [y], %d; call.uni (z), vprintf, (x, y); }\n";
  EXPECT_EQ(lower_for("8.0", text + call + "ret; }")->registers, 24u);
  std::string loads, stores;
  for (int k = 0; k < 9; ++k) {
    loads += "ld.global.u32 %r" + std::to_string(k) + ", [%d+" + std::to_string(4 * k) + "];\n";
    stores += "st.global.u32 [%d+" + std::to_string(64 + 4 * k) + "], %r" + std::to_string(k) + ";\n";
  }
  EXPECT_GE(lower_for("8.0", text + loads + call + stores + "ret; }")->registers, 16u + 9 + 2)
      << "what lives on stands from R16 on";
}

TEST(register_count, of_the_slow_path_of_a_division) {
  const auto divide = [](const std::string& form) {
    return lower_for(
               "7.5",
               ".entry k(.param .u64 o) { .reg .b64 %d; .reg .f32 %f<3>; ld.param.u64 %d, [o]; ld.global.f32 %f0, [%d]; ld.global.f32 %f1, [%d+4];\n"
               "div." +
                   form + ".f32 %f2, %f0, %f1; st.global.f32 [%d], %f2; ret; }")
        ->registers;
  };
  EXPECT_GE(divide("rn"), 13u);
  EXPECT_LT(divide("full"), divide("rn"));
}

// A store's data and the low word of its address are in different banks.
TEST(register_count, stored_data_keep_out_of_the_address_bank) {
  const auto p = lower_for(
      "8.0",
      ".entry k(.param .u64 o) { .reg .b64 %d<3>; .reg .b32 %r<4>; ld.param.u64 %d0, [o]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4;\n"
      "add.s64 %d2, %d0, %d1; ld.global.u32 %r1, [%d2]; mul.lo.u32 %r2, %r1, %r1; st.global.u32 [%d2], %r2; ret; }");
  bool stored = false;
  for (const isa::instruction& i : p->code) {
    if (i.op != opcode::st) continue;
    stored = true;
    EXPECT_NE(i.src[0].reg % 2, i.src[1].reg % 2) << text_of(*p);
  }
  EXPECT_TRUE(stored);
  EXPECT_EQ(p->registers, 8u) << "as ptxas: R5 holds the product\n" << text_of(*p);
}

// Of a factor and an array's address, the factor is moved to a register: one word, shared by all arrays.
TEST(register_count, arrays_share_the_factor_of_their_elements) {
  const auto p = lower_for("8.0", vector_add);
  unsigned moves = 0;
  for (const isa::instruction& i : p->code) moves += i.op == opcode::mov;
  EXPECT_EQ(moves, 1u) << text_of(*p);
}

// Between 40 and 48 registers, more registers only reduce the number of warps per SM: ptxas also uses 40 for this
// kernel on 8.0.
TEST(register_count, goes_back_to_what_lets_an_sm_hold_more_warps) {
  std::ifstream file(HEDDLE_SOURCE "/testbench/workloads/wmma_gemm/wmma_gemm.ptx");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_LE(
      ptx::lower(ptx::place(ptx::parse(text, "wmma_gemm.ptx"), isa::heap_base), "wmma_gemm", load_config("a100", {}))
          ->registers,
      40u);
}

// A double that does not fit an immediate operand is placed in a constant bank, not in two registers.
TEST(register_count, doubles_stand_in_the_literal_bank) {
  const auto p = lower_for(
      "8.0",
      ".entry k(.param .u64 o) { .reg .b64 %d; .reg .f64 %x<4>; ld.param.u64 %d, [o]; ld.global.f64 %x0, [%d];\n"
      "mul.f64 %x1, %x0, 0d3FD5555555555555; add.f64 %x2, %x1, 0d3FF0000000000000; fma.rn.f64 %x3, %x2, %x0, 0d3FD5555555555555;\n"
      "st.global.f64 [%d], %x3; ret; }");
  ASSERT_EQ(p->bank2.size(), 8u) << "one number, twice";
  std::uint64_t number = 0;
  std::memcpy(&number, p->bank2.data(), 8);
  EXPECT_EQ(number, 0x3fd5555555555555u);
  EXPECT_NE(text_of(*p).find("c[0x2][0x0]"), std::string::npos) << text_of(*p);
  EXPECT_EQ(text_of(*p).find(", 0x5555"), std::string::npos) << text_of(*p);
}

TEST(register_allocation, predicates_beyond_seven_survive) {
  std::string s =
      ".entry k(.param .u64 o) { .reg .b64 %d; .reg .pred %p<12>; .reg .b32 %r<4>; ld.param.u64 %d, [o]; mov.u32 %r0, %tid.x; mov.u32 %r1, 0;\n";
  for (unsigned k = 0; k < 12; ++k) s += "setp.eq.u32 %p" + std::to_string(k) + ", %r0, " + std::to_string(k) + ";\n";
  s += "bar.sync 0;\n";
  for (unsigned k = 0; k < 12; ++k)
    s += "@%p" + std::to_string(k) + " add.u32 %r1, %r1, " + std::to_string(k + 1) + ";\n";
  const auto p = lower(s + "st.global.u32 [%d], %r1; ret; }");
  EXPECT_EQ(p->local_bytes, 0u);
  EXPECT_GE(count(*p, opcode::isetp), 12u);
}

TEST(placement, lays_out_and_relocates_module_variables) {
  const ptx::loaded_module m = ptx::place(
      ptx::parse(
          std::string(header) +
              ".global .align 4 .b8 bytes[3] = {1, 2, 3};\n.global .align 8 .u32 table[4] = {10, 20};\n"
              ".global .u64 pointer = generic(table)+4;\n.const .align 16 .f32 scale[2] = {0f3F800000, 0f40000000};\n",
          "k.ptx"),
      0x10000000);
  EXPECT_EQ(m.symbols.at("bytes").address, 0x10000000u);
  EXPECT_EQ(m.symbols.at("pointer").address, 0x10000018u);
  EXPECT_EQ(m.symbols.at("table").address, 0x10000008u);
  EXPECT_EQ(m.global_bytes, 32u);
  EXPECT_EQ(m.global_image[2], 3);
  EXPECT_EQ(m.global_image[24], 0x0c);
  EXPECT_EQ(m.global_image[27], 0x10);
  EXPECT_EQ(m.global_image[12], 20);
  EXPECT_EQ(m.constant_image.size(), 8u);
  EXPECT_EQ(m.constant_image[3], 0x3f);
  EXPECT_THROW(ptx::place(ptx::parse(std::string(header) + ".const .b8 big[70000];\n", "k.ptx"), 0), input_error);
}

TEST(lowering_errors, name_place_and_cause) {
  const std::string start = ".entry k(.param .u64 o) {\n.reg .b32 %r<4>; .reg .b64 %d; .reg .f64 %x; .reg .pred %p;\n";
  EXPECT_EQ(message_of(start + "  frobnicate.u32 %r0, %r1;\nret; }"),
            "k.ptx:6:3: unknown instruction 'frobnicate.u32'");
  EXPECT_EQ(message_of(start + "add.cc.u32 %r0, %r1, %q7;\nret; }").substr(0, 12), "k.ptx:6:22: ");
  EXPECT_EQ(message_of(start + "add.wide.u32 %r0, %r1, %r2;\nret; }"),
            "k.ptx:6:1: unsupported modifier '.wide' in instruction 'add.wide.u32'");
  EXPECT_EQ(message_of(start + "ret ret; }"), "k.ptx:6:5: 'ret' takes no operands, expected ';'");
  EXPECT_EQ(message_of(start + "add.u32 %r0, %r1, %d;\nret; }"),
            "k.ptx:6:19: operand of 'add.u32' is a .b64 register, expected one for .u32");
  EXPECT_EQ(message_of(start + "add.f64 %x, %x, %r1;\nret; }"),
            "k.ptx:6:17: operand of 'add.f64' is a .b32 register, expected one for .f64");
  EXPECT_EQ(message_of(start + "mul.wide.u32 %r0, %r1, %r2;\nret; }"),
            "k.ptx:6:14: operand of 'mul.wide.u32' is a .b32 register, expected one for .u64");
  EXPECT_EQ(message_of(start + "bra NOWHERE;\nret; }"), "k.ptx:6:5: unknown label 'NOWHERE'");
  EXPECT_NE(message_of(start + "add.f64 %x, %x, %x; mov.b64 %d, %x; st.global.u64 [%d], %d;\nret; }", 0)
                .find("compute capability 6.1"),
            std::string::npos);
  EXPECT_NE(message_of(start + "call.uni nothing, ();\nret; }").find("'nothing'"), std::string::npos);
  EXPECT_NE(message_of(start + "add.u32 %r0, %p, %r1; st.global.u32 [%d], %r0;\nret; }").find("k.ptx:6:"),
            std::string::npos);
  EXPECT_NE(message_of(".entry other() { ret; }").find("no kernel 'k', expected one of: other"), std::string::npos);
}

TEST(lowering_errors, operands_and_modifiers_that_mean_nothing_here_are_refused) {
  const char* const refused[] = {"add.u32 %r1, %r0, %r0, %r0;",
                                 "min.f32 %f1, %f0, %f0, %f0;",
                                 "fma.rn.f32 %f1, %f0, %f0, %f0, %f0;",
                                 "selp.u32 %r1, %r0, %r0, %p0, %p0;",
                                 "setp.eq.u32 %p1, %r0, %r0, %p0;",
                                 "cvt.u32.f32 %r1, %f0, %f0;",
                                 "popc.b32 %r1, %r0, %r0;",
                                 "div.u32 %r1, %r0, %r0, %r0;",
                                 "ld.global.u32 %r1, [%d0], %r0;",
                                 "st.global.u32 [%d0], %r0, %r0;",
                                 "shfl.sync.bfly.b32 %r1, %r0, 1, 31, -1, 5;",
                                 "vote.sync.any.pred %p1, %p0, -1, %r0;",
                                 "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r0], %r0;",
                                 "tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%d0, {%f4, %f5}], {%r0, %r1};",
                                 "tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%d0, {%f4, %f5}], %f1;",
                                 "add.sat.f64 %e0, %e1, %e1;",
                                 "mul.lo.sat.s32 %r1, %r0, %r0;",
                                 "red.global.cas.b32 [%d0], 1, 2;",
                                 "red.global.exch.b32 [%d0], 1;"};
  for (const char* line : refused) {
    const std::string message = message_of(
        std::string(
            ".entry k() {\n.reg .b32 %r<4>; .reg .b64 %d<4>; .reg .f32 %f<6>; .reg .f64 %e<4>; .reg .pred %p<4>;\n") +
        line + "\nret; }");
    EXPECT_NE(message.find("k.ptx:6:"), std::string::npos) << line << ": " << message;
  }
}

TEST(lowering_errors, unknown_instructions_elsewhere_do_not_matter) {
  EXPECT_NO_THROW(lower(".entry k() { ret; }\n.entry other() { .reg .b32 %r; frobnicate.u32 %r, %r; ret; }"));
}

TEST(control_flow, dominators_and_post_dominators_of_a_loop_with_a_break) {
  //  0 -> 1 -> 2 -> 3 -> 1, 2 -> 4, 1 -> 4
  const ptx::flow_graph g = {{1}, {2, 4}, {3, 4}, {1}, {}};
  EXPECT_EQ(ptx::immediate_dominators(g, 0), (std::vector<std::uint32_t>{0, 0, 1, 2, 1}));
  const std::vector<ptx::block_end> all(g.size(), ptx::block_end::goes_on);
  EXPECT_EQ(ptx::meeting_points(g, all), (std::vector<std::uint32_t>{1, 4, 4, 1, ptx::no_node}));
  EXPECT_EQ(ptx::loop_depths(g, 0), (std::vector<unsigned>{0, 1, 1, 1, 0}));
}

TEST(control_flow, who_leaves_or_fails_is_not_waited_for) {
  using end = ptx::block_end;
  // 0 branches to 1 and 3; 1 branches to 2, which exits, and 3; 3 continues to 4, the end.
  EXPECT_EQ(ptx::meeting_points({{1, 3}, {2, 3}, {}, {4}, {}},
                                {end::goes_on, end::goes_on, end::goes_on, end::goes_on, end::goes_on})[0],
            3u);
  // The same if 2 goes to the common end.
  EXPECT_EQ(ptx::meeting_points({{1, 3}, {2, 3}, {4}, {4}, {}},
                                {end::goes_on, end::goes_on, end::goes_on, end::goes_on, end::leaves})[0],
            3u);
  // 1 branches to 2, which fails, and 3.
  EXPECT_EQ(ptx::meeting_points({{1, 3}, {2, 3}, {}, {}}, {end::goes_on, end::goes_on, end::fails, end::leaves}),
            (std::vector<std::uint32_t>{3, 3, ptx::no_node, ptx::no_node}));
}

TEST(disassembly, reads_like_sass) {
  isa::instruction i;
  i.op = opcode::ffma;
  i.dst = 3;
  i.dst_count = 1;
  i.guard = {0, true};
  i.src[0] = isa::make_reg(4);
  i.src[1] = isa::make_constant(0, 0x144);
  i.src[2] = isa::make_reg(3);
  EXPECT_EQ(isa::to_string(i), "@!P0 FFMA R3, R4, c[0x0][0x144], R3");
  isa::instruction compare;
  compare.op = opcode::isetp;
  compare.pdst = {2, isa::pt};
  compare.src[0] = isa::make_reg(4);
  compare.src[1] = isa::make_immediate(7);
  EXPECT_NE(isa::to_string(compare).find(" P2, PT, R4, 0x7"), std::string::npos) << isa::to_string(compare);
}

}  // namespace ptx_lower_test
}  // namespace heddle
