// SPDX-License-Identifier: MIT
// Results of lowering: expansions, registers, reconvergence points, module placement, messages.
#include <gtest/gtest.h>

#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/frontend/ptx/hir/control_flow.h"
#include "heddle/frontend/ptx/lower.h"
#include "ptx_lower_text.h"

namespace heddle {
namespace ptx_lower_test {

using namespace ptx_lower_text;

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
    gpu.gpu.compute_capability = choice::named<choice::compute_capability>("8.0");
    const ptx::loaded_module m = ptx::place(ptx::parse(header + body + "ret;\n}\n", "k.ptx"), isa::heap_base);
    return count(*ptx::lower(m, "k", gpu, 0), opcode::mov);
  };
  EXPECT_LE(moves_of(false),
            10u);  // including those of the accumulators and two at the beginning; 20 if each product moved its own
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

// As ptxas 13.0 has it for 7.5: FCHK, MUFU.RCP, five FFMA, and a branch around the slow path.
TEST(lowering, a_division_has_its_slow_path_behind_a_branch) {
  const auto p = lower(
      ".entry k(.param .u64 p) { .reg .b64 %d; .reg .f32 %f<4>; ld.param.u64 %d, [p]; ld.global.f32 %f0, [%d]; ld.global.f32 %f1, [%d+4];"
      "div.rn.f32 %f2, %f0, %f1; st.global.f32 [%d], %f2; ret; }");
  EXPECT_EQ(count(*p, opcode::fchk), 1u);
  EXPECT_EQ(count(*p, opcode::mufu), 1u);
  EXPECT_EQ(count(*p, opcode::fmul), 0u);
  EXPECT_EQ(count(*p, opcode::ffma), 5u);
  const auto slow =
      std::find_if(p->code.begin(), p->code.end(), [](const isa::instruction& i) { return i.op == opcode::assist; });
  ASSERT_NE(slow, p->code.end());
  EXPECT_FALSE(slow->guarded());
  ASSERT_EQ((slow - 1)->op, opcode::bra);
  EXPECT_TRUE((slow - 1)->guarded());
  EXPECT_EQ((slow - 1)->target, static_cast<std::uint32_t>(slow - p->code.begin()) + 1);
}

// Counts of ptxas 13.0 for 7.5, without moves of constants to registers.
TEST(lowering, roots_and_reciprocals_are_tested_by_their_exponents) {
  const auto counts = [](const std::string& operation, const std::string& t) {
    const auto p =
        lower(".entry k(.param .u64 p) { .reg .b64 %d; .reg ." + t + " %f<2>; ld.param.u64 %d, [p]; ld.global." + t +
              " %f0, [%d]; " + operation + "." + t + " %f1, %f0; st.global." + t + " [%d], %f1; ret; }");
    EXPECT_EQ(count(*p, opcode::fchk), 0u);
    return std::vector<unsigned>{count(*p, opcode::ffma) + count(*p, opcode::dfma),
                                 count(*p, opcode::fmul) + count(*p, opcode::dmul), count(*p, opcode::iadd3),
                                 count(*p, opcode::isetp) + count(*p, opcode::fsetp)};
  };
  using list = std::vector<unsigned>;
  EXPECT_EQ(counts("rcp.rn", "f32"), (list{2, 0, 1, 1}));
  EXPECT_EQ(counts("sqrt.rn", "f32"), (list{2, 2, 1, 1}));
  EXPECT_EQ(counts("rcp.rn", "f64"), (list{5, 0, 1, 1}));
  EXPECT_EQ(counts("sqrt.rn", "f64"), (list{5, 3, 2, 1}));
}

// On Volta and later BSSY and BSYNC stand around code that only some lanes of a warp execute: once for two branches
// with one end, outside of a loop that lanes leave at different times, and never where all lanes decide alike.
TEST(lowering, diverged_lanes_reconverge) {
  const auto barriers = [](const char* capability, const std::string& condition, bool loop) {
    gpu_config gpu;
    gpu.gpu.compute_capability = choice::named<choice::compute_capability>(capability);
    const std::string work =
        "xor.b32 %r2, %r2, 5; mul.lo.s32 %r2, %r2, %r2; xor.b32 %r2, %r2, 7; mul.lo.s32 %r2, %r2, %r2;"
        "xor.b32 %r2, %r2, 9; mul.lo.s32 %r2, %r2, %r2; xor.b32 %r2, %r2, 11; mul.lo.s32 %r2, %r2, %r2;";
    const std::string body =
        ".entry k(.param .u64 p, .param .u32 n) { .reg .b64 %d; .reg .b32 %r<4>; .reg .pred %q<2>; ld.param.u64 %d, [p];" +
        condition + "ld.global.u32 %r2, [%d];" +
        (loop ? "L: " + work + "setp.lt.s32 %q0, %r2, %r1; @%q0 bra L;"
              : "setp.lt.s32 %q0, %r1, 7; @%q0 bra L;" + work + "setp.lt.s32 %q1, %r1, 17; @%q1 bra L;" + work + "L:") +
        "st.global.u32 [%d], %r2; ret; }";
    const ptx::loaded_module m = ptx::place(ptx::parse(header + body, "k.ptx"), isa::heap_base);
    const std::string text = text_of(*ptx::lower(m, "k", gpu, 0));
    std::string found;
    for (std::size_t at = 0; (at = text.find_first_of("BL", at)) != std::string::npos; ++at)
      for (const char* name : {"BMOV", "BSSY", "BSYNC", "BRA"})
        if ((at == 0 || text[at - 1] == '\n' || text[at - 1] == ' ') &&
            text.compare(at, std::string(name).size(), name) == 0)
          found += std::string(name) + " ";
    return found;
  };
  EXPECT_EQ(barriers("7.5", "mov.u32 %r1, %tid.x;", false), "BMOV BSSY BRA BRA BSYNC ");
  EXPECT_EQ(barriers("8.0", "mov.u32 %r1, %tid.x;", false), "BSSY BRA BRA BSYNC ");
  EXPECT_EQ(barriers("6.1", "mov.u32 %r1, %tid.x;", false), "BRA BRA ");
  EXPECT_EQ(barriers("8.0", "ld.param.u32 %r1, [n];", false), "BRA BRA ");
  EXPECT_EQ(barriers("8.0", "mov.u32 %r1, %tid.x;", true), "BSSY BRA BSYNC ");
  EXPECT_EQ(barriers("8.0", "ld.param.u32 %r1, [n];", true), "BRA ");
}

TEST(lowering, comparisons_absorb_predicate_logic) {
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
  EXPECT_LE(count(*p, opcode::mov), 4u) << "one of them for the stack pointer\n" << text_of(*p);
  const auto chain = lower(
      ".entry k(.param .u64 o) { .reg .b32 %r<7>; .reg .b64 %d<4>; ld.param.u64 %d0, [o]; ld.global.u32 %r1, [%d0]; cvt.u32.s32 %r2, %r1;"
      "add.u32 %r3, %r2, 5; cvt.s32.u32 %r4, %r3; add.u32 %r5, %r4, 6; cvt.u64.s64 %d1, %d0; add.u64 %d2, %d1, 8; cvt.s64.u64 %d3, %d2;"
      "st.global.u32 [%d3+4], %r5; ret; }");
  EXPECT_EQ(count(*chain, opcode::iadd3), 1u) << "sums of constants are seen through them: " << text_of(*chain);
  EXPECT_NE(text_of(*chain).find("+0xc]"), std::string::npos) << text_of(*chain);
}

TEST(lowering, divergent_branches_reconverge_at_the_post_dominator) {
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

// The limits of docs/isa/machine_isa.md. Each store is an instruction that must be guarded.
TEST(lowering, branches_become_guards_up_to_a_length) {
  const auto branches = [](unsigned not_taken, unsigned taken) {
    const auto stores = [](unsigned n) {
      std::string text;
      for (; n != 0; --n) text += "st.global.u32 [%d+" + std::to_string(4 * n) + "], " + std::to_string(n) + ";";
      return text;
    };
    const std::string other = taken != 0 ? "bra B; A: " + stores(taken) + "B: " : "A: ";
    const auto p = lower(
        ".entry k(.param .u64 o) { .reg .pred %p; .reg .b32 %r; .reg .b64 %d; ld.param.u64 %d, [o]; mov.u32 %r, %tid.x;"
        "setp.eq.u32 %p, %r, 0; @%p bra A; " +
        stores(not_taken) + other + "st.global.u32 [%d], 3; ret; }");
    return count(*p, opcode::bra);
  };
  EXPECT_EQ(branches(6, 0), 0u);
  EXPECT_EQ(branches(7, 0), 1u);
  for (const unsigned n : {1u, 3u, 6u}) {
    EXPECT_EQ(branches(n, 7 - n), 0u) << n;
    EXPECT_EQ(branches(n, 8 - n), 2u) << n;
  }
}

TEST(lowering, paths_that_only_exit_have_no_reconvergence_point) {
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

TEST(control_flow, dominators_and_post_dominators_of_a_loop_with_a_break) {
  //  0 -> 1 -> 2 -> 3 -> 1, 2 -> 4, 1 -> 4
  const ptx::flow_graph g = {{1}, {2, 4}, {3, 4}, {1}, {}};
  EXPECT_EQ(ptx::immediate_dominators(g, 0), (std::vector<std::uint32_t>{0, 0, 1, 2, 1}));
  const std::vector<ptx::block_end> all(g.size(), ptx::block_end::continues);
  EXPECT_EQ(ptx::reconvergence_points(g, all), (std::vector<std::uint32_t>{1, 4, 4, 1, ptx::no_node}));
  EXPECT_EQ(ptx::loop_depths(g, 0), (std::vector<unsigned>{0, 1, 1, 1, 0}));
}

TEST(control_flow, lanes_that_exit_or_fail_do_not_reconverge) {
  using end = ptx::block_end;
  // 0 branches to 1 and 3; 1 branches to 2, which exits, and 3; 3 continues to 4, the end.
  EXPECT_EQ(ptx::reconvergence_points({{1, 3}, {2, 3}, {}, {4}, {}}, {end::continues, end::continues, end::continues,
                                                                      end::continues, end::continues})[0],
            3u);
  // The same if 2 goes to the common end.
  EXPECT_EQ(ptx::reconvergence_points({{1, 3}, {2, 3}, {4}, {4}, {}},
                                      {end::continues, end::continues, end::continues, end::continues, end::leaves})[0],
            3u);
  // 1 branches to 2, which fails, and 3.
  EXPECT_EQ(
      ptx::reconvergence_points({{1, 3}, {2, 3}, {}, {}}, {end::continues, end::continues, end::fails, end::leaves}),
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
