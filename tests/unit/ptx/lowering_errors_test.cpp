// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "heddle/config/config.h"
#include "heddle/config/error.h"
#include "heddle/frontend/ptx/lower.h"
#include "ptx_lower_text.h"

namespace heddle {
namespace lowering_errors_test {

using namespace ptx_lower_text;

std::string message_of(const std::string& body, double fp64 = 1) {
  try {
    lower(body, "imad", 0, fp64);
  } catch (const input_error& e) {
    return e.what();
  }
  return "no error";
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
  EXPECT_EQ(message_of(start + "cvt.pack.sat.u16.s32 %r0, %x, %r1;\nret; }"),
            "k.ptx:6:27: operand of 'cvt.pack.sat.u16.s32' is a .f64 register, expected one for .s32");
  EXPECT_EQ(message_of(start + "cvt.pack.sat.u16.s32 %r0, %r1, %x;\nret; }"),
            "k.ptx:6:32: operand of 'cvt.pack.sat.u16.s32' is a .f64 register, expected one for .s32");
  EXPECT_EQ(message_of(start + "bra NOWHERE;\nret; }"), "k.ptx:6:5: unknown label 'NOWHERE'");
  EXPECT_NE(message_of(start + "add.f64 %x, %x, %x; mov.b64 %d, %x; st.global.u64 [%d], %d;\nret; }", 0)
                .find("compute capability 6.1"),
            std::string::npos);
  EXPECT_NE(message_of(start + "call.uni nothing, ();\nret; }").find("'nothing'"), std::string::npos);
  EXPECT_NE(message_of(start + "add.u32 %r0, %p, %r1; st.global.u32 [%d], %r0;\nret; }").find("k.ptx:6:"),
            std::string::npos);
  EXPECT_NE(message_of(".entry other() { ret; }").find("no kernel 'k', expected one of: other"), std::string::npos);
}

/// The message for an instruction in a module of PTX 9.0 for the target; "" if it is accepted.
std::string message_on(const std::string& gpu, const std::string& target, const std::string& code) {
  const std::string text =
      ".version 9.0\n.target " + target +
      "\n.address_size 64\n.visible .entry k() {\n.reg .f32 %f<4>; .reg .b32 %r<7>; .reg .b64 %d<4>;\n" + code +
      "\nret; }\n";
  try {
    static_cast<void>(ptx::lower(ptx::place(ptx::parse(text, "k.ptx"), 0), "k", load_config(gpu)));
  } catch (const input_error& e) {
    return e.what();
  }
  return "";
}

TEST(lowering_errors, tensor_memory_is_refused_by_name) {
  for (const char* code : {"tcgen05.fence::before_thread_sync;", "tcgen05.wait::ld.sync.aligned;",
                           "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 32;",
                           "tcgen05.mma.cta_group::1.kind::f16 [%r1], %d1, %d2, %r2, 1;"}) {
    const std::string name(code, std::string(code).find_first_of("; "));
    for (const char* gpu : {"b200", "rtx5090"})
      EXPECT_EQ(message_on(gpu, "sm_100a", code), "k.ptx:6:1: instruction '" + name + "' is not supported");
  }
}

TEST(lowering_errors, products_of_a_warpgroup_are_of_hopper_alone) {
  for (const char* code :
       {"wgmma.fence.sync.aligned;", "wgmma.commit_group.sync.aligned;", "wgmma.wait_group.sync.aligned 0;",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d0, %d1, 1, 1, 1, 0, 0;"}) {
    const std::string name(code, std::string(code).find_first_of("; "));
    EXPECT_EQ(message_on("h100", "sm_90a", code), "");
    EXPECT_EQ(message_on("b200", "sm_90a", code),
              "k.ptx:6:1: instruction '" + name + "' exists on compute capability 9.0 only, the GPU (b200) has 10.0");
    EXPECT_EQ(
        message_on("rtx5090", "sm_90a", code),
        "k.ptx:6:1: instruction '" + name + "' exists on compute capability 9.0 only, the GPU (rtx5090) has 12.0");
  }
}

TEST(lowering_errors, targets_and_versions_of_blackwell_are_none) {
  for (const char* target :
       {"sm_100", "sm_100a", "sm_100f", "sm_103a", "sm_110f", "sm_120", "sm_120a", "sm_120f", "sm_121a"})
    for (const char* gpu : {"b200", "rtx5090"})
      EXPECT_EQ(
          message_on(gpu, target, "setmaxnreg.dec.sync.aligned.u32 40; barrier.cluster.arrive; barrier.cluster.wait;"),
          "")
          << target;
  for (const char* version : {"8.7", "8.8", "9.0", "9.1", "9.2"})
    EXPECT_EQ(
        ptx::parse(".version " + std::string(version) + "\n.target sm_100f\n.address_size 64\n", "k.ptx")->version,
        version);
}

// Of 64 bits: 4294967296 is not 0.
TEST(lowering_errors, a_selector_of_a_sparse_product_is_0_to_3) {
  gpu_config config;
  config.gpu.compute_capability = choice::named<choice::compute_capability>("9.0");
  const auto message = [&config](const std::string& selector) {
    const std::string text =
        ".version 8.3\n.target sm_90a\n.address_size 64\n.entry k(.param .u64 o) { .reg .f32 %f<4>; .reg .b32 %r<2>; "
        ".reg .b64 %d<2>;\nwgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d0, %d1, %r0, " +
        selector + ", 1, 1, 1, 0, 0; ret; }\n";
    try {
      (void)ptx::lower(ptx::place(ptx::parse(text, "k.ptx"), 0), "k", config);
    } catch (const input_error& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(message("1"), "no error");
  EXPECT_NE(message("4").find("'4', expected 0 to 3"), std::string::npos) << message("4");
  EXPECT_NE(message("4294967296").find("'4294967296', expected 0 to 3"), std::string::npos) << message("4294967296");
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
                                 "mul.lo.cc.u32 %r1, %r0, %r0;",
                                 "and.cc.b32 %r1, %r0, %r0;",
                                 "shl.cc.b32 %r1, %r0, %r0;",
                                 "min.cc.s32 %r1, %r0, %r0;",
                                 "setp.eq.nand.s32 %p1, %r0, %r0, %p0;",
                                 "set.eq.nand.u32.u32 %r1, %r0, %r0, %p0;",
                                 "lop3.nand.b32 %r1|%p1, %r0, %r0, %r0, 5, %p0;",
                                 "vadd.u32.u32.u32.wrap %r1, %r0, %r0;",
                                 "vshl.u32.u32.u32.fold %r1, %r0, %r0;",
                                 "vshl.u32.u32.u32.clamp.wrap %r1, %r0, %r0;",
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

}  // namespace lowering_errors_test
}  // namespace heddle
