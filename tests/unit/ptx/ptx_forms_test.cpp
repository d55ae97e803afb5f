// SPDX-License-Identifier: MIT
// Code that lowering rejects in any context, results of rare forms, and the text of instructions.
#include <gtest/gtest.h>

#include <regex>

#include "heddle/frontend/ptx/hir/form_table.h"
#include "heddle/frontend/ptx/hir/hir.h"
#include "ptx_machine.h"

namespace heddle {
namespace ptx_forms_test {

std::string module_of(const std::string& code) {
  return ".version 8.6\n.target sm_90\n.address_size 64\n.const .align 16 .b32 cv[4] = {1, 2, 3, 4};\n.visible .entry k(.param .u64 p) {\n"
         ".reg .b16 %h<8>; .reg .b32 %r<8>; .reg .b64 %d<8>; .reg .f32 %f<8>; .reg .f64 %e<8>; .reg .pred %p<4>;\nld.param.u64 %d0, [p];\n" +
         code + "\nret;\n}\n";
}

/// The message with which lowering rejects the code; "" if it accepts it.
std::string refusal(const std::string& code, const std::string& capability = "9.0") {
  gpu_config config;
  config.gpu.name = "test";
  config.gpu.compute_capability = choice::named<choice::compute_capability>(capability);
  config.fp64.lanes = capability == "1.0" ? 0 : 32;
  config.half.lanes = capability == "1.0" ? 0 : 32;
  try {
    static_cast<void>(
        ptx::lower(ptx::place(ptx::parse(module_of(code), "forms.ptx"), isa::heap_base, 0x2000'0000), "k", config));
  } catch (const input_error& e) {
    return e.what();
  }
  return "";
}

std::vector<std::uint32_t> result(const std::string& code) {
  ptx_machine machine(module_of(code));
  const std::uint64_t out = machine.buffer(std::vector<std::uint32_t>(64, 0));
  machine.run("k", {1, 1, 1}, {1, 1, 1}, {out});
  return machine.read<std::uint32_t>(out, 16);
}

TEST(ptx_forms, what_a_gpu_lacks_is_refused_even_if_its_result_is_unused) {
  const std::string lacks = "needs double precision, which compute capability 1.0 (test) does not have";
  EXPECT_NE(refusal("add.f64 %e0, %e1, %e2;", "1.0").find("forms.ptx:8:1: instruction 'add.f64' " + lacks),
            std::string::npos);
  EXPECT_NE(
      refusal("bra END;\nadd.f64 %e0, %e1, %e2;\nEND:", "1.0").find("forms.ptx:9:1: instruction 'add.f64' " + lacks),
      std::string::npos);
  EXPECT_NE(refusal("@%p0 bra END;\ncvt.f64.f32 %e0, %f1; END:", "1.0").find(lacks), std::string::npos);
  EXPECT_NE(refusal("fma.rn.f16x2 %r0, %r1, %r2, %r3;", "1.0").find("needs half precision"), std::string::npos);
  EXPECT_NE(refusal("redux.sync.add.u32 %r0, %r1, -1;", "7.5").find("needs compute capability 8.0"), std::string::npos);
  EXPECT_NE(refusal("ld.shared.v4.f64 {%e0, %e1, %e2, %e3}, [%r0];").find("unsupported"), std::string::npos);
  EXPECT_EQ(refusal("ld.global.f64 %e0, [%d0]; mov.f64 %e1, %e0; add.f32 %f0, %f1, %f2;", "1.0"), "");
}

// The capabilities are those that the PTX ISA names ("Target ISA Notes").
TEST(ptx_forms, need_the_capability_that_the_isa_names_and_no_higher_one) {
  struct {
    const char *code, *least, *below;
  } const forms[] = {{"match.any.sync.b32 %r0, %r1, -1;", "7.0", "6.2"},
                     {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%r1];", "7.5", "7.2"},
                     {"movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;", "7.5", "7.2"},
                     {"redux.sync.add.u32 %r0, %r1, -1;", "8.0", "7.5"},
                     {"mbarrier.init.shared.b64 [%r0], 1;", "8.0", "7.5"},
                     {"cvt.rn.satfinite.e4m3x2.f32 %h0, %f0, %f1;", "8.9", "8.6"},
                     {"elect.sync %r0|%p0, -1;", "9.0", "8.9"},
                     {"stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r0};", "9.0", "8.9"}};
  for (const auto& f : forms) {
    EXPECT_EQ("", refusal(f.code, f.least));
    EXPECT_NE(std::string::npos, refusal(f.code, f.below).find(std::string("needs compute capability ") + f.least))
        << f.code << ": " << refusal(f.code, f.below);
  }
}

TEST(ptx_forms, a_load_that_is_removed_does_not_affect_another_one) {
  // A dead load of a fragment must not pass its lane assignment to a live one.
  const std::string load =
      "wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, [%d0], 16;\n";
  const std::string store =
      "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%d0+1024], {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, 16;\n";
  ptx_machine machine(module_of(
      "{ .reg .f32 %x<8>; wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {%x0, %x1, %x2, %x3, %x4, %x5, %x6, %x7}, [%d0], 16; }\n" +
      load + store));
  std::vector<std::uint32_t> in(512);
  for (std::uint32_t k = 0; k < 256; ++k) in[k] = k;
  const std::uint64_t memory = machine.buffer(in);
  machine.run("k", {1, 1, 1}, {32, 1, 1}, {memory});
  const std::vector<std::uint32_t> out = machine.read<std::uint32_t>(memory, 512);
  for (std::uint32_t k = 0; k < 256; ++k) EXPECT_EQ(out[256 + k], k);
}

TEST(ptx_forms, code_behind_a_call_that_never_returns_is_unreachable) {
  const std::string module =
      ".version 8.6\n.target sm_90\n.address_size 64\n.func f(.param .b64 a) { .reg .b64 %x; .reg .b64 %y; ld.param.b64 %x, [a]; add.s64 %y, %x, 1;\n"
      "call f, (%y); st.global.u64 [%x], %y; ret; }\n.visible .entry k(.param .u64 p) { .reg .b64 %d; ld.param.u64 %d, [p]; call f, (%d); st.global.u64 [%d], %d; ret; }\n";
  ptx_machine machine(module);
  EXPECT_FALSE(machine.program("k").code.empty());
}

TEST(ptx_forms, types_without_a_size_reach_no_memory_instruction) {
  for (const char* code : {"ld.const.pred %p0, [cv];", "ld.param.pred %p0, [p];", "st.global.pred [%d0], %p0;",
                           "ld.global.f16 %h0, [%d0];", "ld.global.v4.f32x2 {%d1, %d2, %d3, %d4}, [%d0];"})
    EXPECT_NE(refusal(code).find("is no type of it"), std::string::npos) << code;
}

/// Modifiers in another order are the same form; a repeated modifier is an error.
TEST(ptx_forms, modifiers_may_appear_in_any_order_once) {
  EXPECT_EQ(
      refusal(
          "add.sat.ftz.rn.f32 %f0, %f1, %f2; ld.nc.global.u32 %r0, [%d0]; vote.ballot.sync.b32 %r1, %p0, -1; cvt.pack.s16.sat.s32 %r1, %r2, %r3;"),
      "");
  EXPECT_NE(refusal("add.ftz.ftz.f32 %f0, %f1, %f2;").find("'.ftz' does not go with .f32"), std::string::npos);
  EXPECT_NE(refusal("mul.lo.hi.u32 %r0, %r1, %r2;").find("'.hi' does not go with .u32"), std::string::npos);
  EXPECT_NE(refusal("set.lt.u16.u32 %h0, %r1, %r2;").find(".u16.u32 are no types of it"), std::string::npos);
}

TEST(ptx_forms, every_operation_of_the_table_is_known) {
  for (const ptx::form_row& row : ptx::form_table()) {
    std::string name;
    for (const char* c = row.operations;; ++c) {
      if (*c != '|' && *c != 0) {
        name += *c;
        continue;
      }
      EXPECT_NE(ptx::find_op(name), ptx::unknown_op) << name;
      name.clear();
      if (*c == 0) break;
    }
  }
}

TEST(ptx_forms, division_by_zero_gives_all_bits_and_the_dividend) {
  for (const std::string by : {"%r2", "0"}) {
    const std::vector<std::uint32_t> v = result(
        "ld.global.u32 %r2, [%d0]; mov.u32 %r1, 1234; cvt.u64.u32 %d1, %r1; cvt.u64.u32 %d2, %r2;\n"
        "div.u32 %r3, %r1, " +
        by + "; rem.u32 %r4, %r1, " + by +
        "; st.global.v2.u32 [%d0], {%r3, %r4};\n"
        "neg.s32 %r5, %r1; div.s32 %r3, %r5, " +
        by + "; rem.s32 %r4, %r5, " + by +
        "; st.global.v2.u32 [%d0+8], {%r3, %r4};\n"
        "div.u64 %d3, %d1, %d2; rem.s64 %d4, %d1, %d2; st.global.v2.u64 [%d0+16], {%d3, %d4};");
    const std::uint32_t minus = static_cast<std::uint32_t>(-1234);
    EXPECT_EQ(std::vector<std::uint32_t>(v.begin(), v.begin() + 8),
              (std::vector<std::uint32_t>{~0u, 1234, ~0u, minus, ~0u, ~0u, 1234, 0}))
        << by;
  }
}

TEST(ptx_forms, special_registers_move_in_their_own_width) {
  EXPECT_EQ(
      result(
          "mov.u64 %d1, %gridid; mov.u32 %r1, %gridid; cvt.u64.u32 %d2, %r1; sub.u64 %d1, %d1, %d2; add.u64 %d1, %d1, 5; st.global.u64 [%d0], %d1;")
          [0],
      5u);
  EXPECT_EQ(
      refusal(
          "mov.u16 %h0, %ntid.y; mov.b64 %d1, %globaltimer; mov.s32 %r1, %laneid; mov.pred %p0, %is_explicit_cluster;"),
      "");
  for (const char* code : {"mov.u32 %r1, %clock64;", "mov.u64 %d1, %clock;", "mov.pred %p0, %laneid;",
                           "mov.f32 %f1, %clock;", "mov.u16 %h0, %laneid;", "mov.u32 %r1, %is_explicit_cluster;"})
    EXPECT_NE(refusal(code).find("does not move"), std::string::npos) << code;
}

TEST(ptx_forms, generic_addresses_of_32_bits_reach_the_windows) {
  const std::vector<std::uint32_t> v = result(
      ".shared .align 16 .b8 s[64]; mov.u32 %r1, s; cvta.shared.u32 %r2, %r1; cvt.u64.u32 %d1, %r2; st.u32 [%d1+4], 77;\n"
      "ld.shared.u32 %r3, [%r1+4]; cvta.to.shared.u32 %r4, %r2; sub.u32 %r4, %r4, %r1; st.global.v2.u32 [%d0], {%r3, %r4};");
  EXPECT_EQ(v[0], 77u);
  EXPECT_EQ(v[1], 0u);
}

TEST(listing, names_the_predicates_that_are_read_and_no_others) {
  gpu_config config;
  config.gpu.compute_capability = choice::named<choice::compute_capability>("7.0");
  const auto program = ptx::lower(
      ptx::place(
          ptx::parse(
              module_of(
                  "ld.global.u64 %d1, [%d0]; ld.global.u64 %d2, [%d0+8]; add.u64 %d3, %d1, %d2; cvt.u32.u64 %r0, %d1; setp.lt.u32 %p0, %r0, 9;\n"
                  "vote.sync.any.pred %p1, %p0, -1; selp.b32 %r1, %r0, 3, %p1; activemask.b32 %r2; st.global.u64 [%d0], %d3;\n"
                  "st.global.u32 [%d0+16], %r1; st.global.u32 [%d0+20], %r2;"),
              "forms.ptx"),
          isa::heap_base, 0x2000'0000),
      "k", config);
  std::string text = "\n";
  for (const isa::instruction& i : program->code) text += isa::to_string(i) + "\n";
  for (const char* line : {R"(\nIADD3 R\d+, P\d, R\d+, R\d+, RZ\n)", R"(\nIADD3.X R\d+, R\d+, R\d+, RZ, P\d\n)",
                           R"(\nISETP.LT.U32.AND P\d, PT, R\d+, 0x9, PT\n)", R"(\nVOTE.ANY P\d, 0xffffffff, P\d\n)",
                           R"(\nVOTE.ACTIVE R\d+, 0xffffffff\n)", R"(\nSEL R\d+, R\d+, 0x3, P\d\n)"})
    EXPECT_TRUE(std::regex_search(text, std::regex(line))) << line << text;
}

}  // namespace ptx_forms_test
}  // namespace heddle
