// SPDX-License-Identifier: MIT
// Checks docs/isa/ptx.md, ptx_parallel.md and ptx_limits.md: each line of their `ptx` blocks is lowered and run, each
// of their `refused` blocks is rejected with the given message.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "ptx_machine.h"

namespace heddle {
namespace ptx_page_test {

struct example {
  std::string code, message, capability;
  std::string place;  // docs/PAGE:LINE
};

std::vector<example> examples(const std::string& wanted) {
  std::vector<example> found;
  for (const std::string name : {"ptx.md", "ptx_parallel.md", "ptx_limits.md"}) {
    std::ifstream page(HEDDLE_DOCS "/isa/" + name);
    EXPECT_TRUE(page) << name;
    std::string text, block, capability;
    for (unsigned number = 1; std::getline(page, text); ++number) {
      if (text.rfind("```", 0) == 0) {
        std::istringstream words(text.substr(3));
        block = capability = "";
        words >> block >> capability;
        continue;
      }
      if (block != wanted) continue;
      const std::size_t comment = text.find(" // ");
      found.push_back({text.substr(0, comment), comment == std::string::npos ? "" : text.substr(comment + 4),
                       capability, "docs/isa/" + name + ":" + std::to_string(number)});
    }
  }
  return found;
}

// Stores everything that an example may have written, because unused results would be removed.
std::string keep() {
  std::string text;
  const auto store = [&](const std::string& type, const std::string& reg, unsigned at) {
    text += "st.global." + type + " [%dp+" + std::to_string(at) + "], " + reg + ";\n";
  };
  for (unsigned k = 0; k < 6; ++k) store("b32", "%r" + std::to_string(k), 4 * k);
  for (unsigned k = 0; k < 4; ++k) {
    store("b16", "%h" + std::to_string(k), 32 + 2 * k);
    store("f32", "%f" + std::to_string(k), 48 + 4 * k);
    store("b64", "%d" + std::to_string(k + 1), 64 + 8 * k);
  }
  store("f64", "%e0", 96);
  return text + "selp.u32 %r0, 1, 0, %p0; selp.u32 %r1, 1, 0, %p1; st.global.v2.u32 [%dp+104], {%r0, %r1};\n";
}

std::string module_of(const std::string& code) {
  return ".version 8.6\n.target sm_90\n.address_size 64\n.global .align 16 .b32 gv[64];\n.const .align 16 .b32 cv[4] = {1, 2, 3, 4};\n"
         ".func (.param .b32 v) plus_one(.param .b32 a) { .reg .b32 %x; ld.param.b32 %x, [a]; add.s32 %x, %x, 1; st.param.b32 [v], %x; ret; }\n"
         ".func (.param .b32 v) twice(.param .b32 a) { .reg .b32 %x; .reg .pred %q; ld.param.b32 %x, [a]; setp.le.s32 %q, %x, 0; @%q bra E;\n"
         "sub.s32 %x, %x, 1; call (%x), twice, (%x); add.s32 %x, %x, 2; E: st.param.b32 [v], %x; ret; }\n"
         ".func (.param .b32 v) indexed(.param .align 4 .b8 s[16], .param .b32 n) { .reg .b64 %a, %n; .reg .b32 %x; mov.b64 %a, s; ld.param.b32 %x, [n];\n"
         "mul.wide.u32 %n, %x, 4; add.u64 %a, %a, %n; ld.param.b32 %x, [%a]; st.param.b32 [v], %x; ret; }\n"
         ".func (.param .align 4 .b8 v[8]) both(.param .b32 a, .param .b32 b) { .reg .b32 %a, %b; ld.param.b32 %a, [a]; ld.param.b32 %b, [b];\n"
         "st.param.v2.b32 [v], {%a, %b}; ret; }\n"
         ".extern .func (.param .b32 v) vprintf(.param .b64 f, .param .b64 a);\n.extern .func (.param .b64 v) malloc(.param .b64 n);\n"
         ".extern .func free(.param .b64 q);\n"
         ".func (.reg .v2 .b32 r) swap(.reg .v2 .b32 a) { mov.b32 r.x, a.y; mov.b32 r.y, a.x; ret; }\n"
         ".extern .func (.param .b32 v) cudaLaunchDeviceV2(.param .b64 a, .param .b64 s);\n"
         ".extern .func (.param .b32 v) elsewhere(.param .b32 a);\n"
         ".visible .entry k(.param .u64 p) {\n"
         ".reg .b16 %h<8>; .reg .b32 %r<8>; .reg .b64 %d<8>, %dp; .reg .f32 %f<8>; .reg .f64 %e<8>; .reg .pred %p<4>; .reg .b128 %q<2>;\n"
         ".shared .align 16 .b8 sv[1024]; .local .align 16 .b8 lv[64];\n"
         "ld.param.u64 %d0, [p]; add.u64 %dp, %d0, 512; mov.u32 %r7, sv; cvt.u64.u32 %d7, %r7; cvta.shared.u64 %d7, %d7;\n"
         "mov.u32 %r1, %laneid; mov.u32 %r2, 3; mov.u32 %r3, 5; mov.u32 %r4, 0x3210; mov.u64 %d1, 7; mov.u64 %d2, 9; mov.u64 %d3, 11;\n"
         "mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f40400000; setp.eq.u32 %p0, %r1, 3; setp.ne.u32 %p1, %r1, 4; setp.lt.u32 %p2, %r1, 9;\n" +
         code + "\n" + keep() + "ret;\n}\n";
}

TEST(ptx_page, its_examples_run) {
  const std::vector<example> all = examples("ptx");
  ASSERT_GT(all.size(), 150u);
  for (const example& e : all) {
    try {
      ptx_machine machine(module_of(e.code));
      const std::uint64_t memory = machine.buffer(std::vector<std::uint32_t>(256, 1));
      machine.run("k", {1, 1, 1}, {32, 1, 1}, {memory});
    } catch (const std::exception& x) {
      ADD_FAILURE() << e.place << ": " << e.code << "\n" << x.what();
    }
  }
}

TEST(ptx_page, its_refusals_are_refused) {
  const std::vector<example> all = examples("refused");
  ASSERT_GT(all.size(), 8u);
  for (const example& e : all) {
    SCOPED_TRACE(e.place + ": " + e.code);
    gpu_config config;
    config.gpu.name = "test";
    config.gpu.compute_capability =
        choice::named<choice::compute_capability>(e.capability.empty() ? "9.0" : e.capability);
    config.fp64.lanes = e.capability == "1.0" ? 0 : 32;
    config.half.lanes = 32;
    try {
      static_cast<void>(
          ptx::lower(ptx::place(ptx::parse(module_of(e.code), "page.ptx"), isa::heap_base, 0x2000'0000), "k", config));
      ADD_FAILURE() << "lowered";
    } catch (const input_error& x) {
      EXPECT_NE(std::string(x.what()).find(e.message), std::string::npos) << x.what();
      EXPECT_FALSE(e.message.empty());
    }
  }
}

}  // namespace ptx_page_test
}  // namespace heddle
