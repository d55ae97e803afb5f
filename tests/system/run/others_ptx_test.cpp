// SPDX-License-Identifier: MIT
// PTX as third-party tools write it, through the built program: 32-bit addresses, vectors, several modules, texture
// references.

#include "tests/system/common/json_text.h"
#include "tests/system/common/ptx_run.h"

namespace others_ptx_test {

using namespace ptx_runs;

// Features of third-party PTX: 32-bit addresses, vectors, static variables of functions, names in generic accesses.
TEST(programs_of_others, read_a_32_bit_parameter_as_the_address_it_is) {
  for (const char* size : {"32", "64"}) {
    const std::string text =
        std::string(".version 6.5\n.target sm_52\n.address_size ") + size + "\n.visible .entry k(.param .u" + size +
        " out, .param .u32 a, .param .u32 b) {\n.reg .u32 %r<4>; .reg .u" + size + " %o;\nld.param.u" + size +
        " %o, [out]; ld.param.u32 %r0, [a]; ld.param.u32 %r1, [b];\n"
        "ld.global.u32 %r2, [%r0+8]; add.u32 %r2, %r2, %r1; st.global.u32 [%o], %r2; ret;\n}\n";
    // The first buffer of a job is at the driver's first address.
    const outcome o = run(text, "gtx1080", 1, 1, "--arg u32:268439552 --arg u32:7");
    ASSERT_EQ(o.code, 1)
        << o.err;  // an unmapped address: the message shows a 32-bit address without the next parameter
    EXPECT_NE(o.err.find("illegal address 0x10001008 (4-byte load)"), std::string::npos) << o.err;
  }
}

TEST(programs_of_others, follow_pointers_of_their_own_width) {
  for (const unsigned bits : {32u, 64u}) {
    const std::string w = std::to_string(bits), step = std::to_string(bits / 8);
    const std::string text =
        ".version 6.5\n.target sm_52\n.address_size " + w + "\n.visible .entry k(.param .u" + w + " list, .param .u" +
        w + " o) {\n.reg .u" + w + " %a<4>; .reg .u32 %r;\nld.param.u" + w + " %a0, [list]; ld.param.u" + w +
        " %a3, [o]; ld.global.u" + w + " %a1, [%a0]; ld.global.u" + w + " %a2, [%a0+" + step +
        "];\nld.global.u32 %r, [%a1]; st.global.u32 [%a3], %r; ld.global.u32 %r, [%a2]; st.global.u32 [%a3+4], %r; ret;\n}\n";
    const auto job = [&](unsigned bytes) {
      return R"({"module": "k.ptx", "buffers": {"x": {"bytes": 64, "fill": "iota32"}, "list": {"bytes": )" +
             std::to_string(bytes) + R"(, "pointers": [{"at": 0, "to": "x", "offset": 8}, {"at": )" + step +
             R"(, "to": "x", "offset": 12}]}, "o": {"bytes": 8}},
        "launches": [{"kernel": "k", "grid": [1], "block": [1], "args": [{"buffer": "list"}, {"buffer": "o"}]}], "outputs": [{"buffer": "o", "file": "o.bin"}]})";
    };
    const outcome o = run_job({{"k.ptx", text}, {"job.json", job(bits / 4)}});
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(o.words, (std::vector<std::uint32_t>{2, 3})) << bits;
    const outcome short_one = run_job({{"k.ptx", text}, {"job.json", job(bits / 4 - 1)}});
    EXPECT_EQ(short_one.code, 2) << short_one.err;
    EXPECT_NE(short_one.err.find("are outside of buffer 'list'"), std::string::npos) << short_one.err;
  }
}

TEST(programs_of_others, ask_the_device_runtime_with_32_bit_pointers) {
  const std::string text =
      ".version 6.5\n.target sm_52\n.address_size 32\n.extern .func (.param .b32 v) malloc(.param .b32 n);\n"
      ".extern .func (.param .b32 v) vprintf(.param .b32 f, .param .b32 a);\n.extern .func free(.param .b32 p);\n.global .align 1 .b8 format[4] = {37, 117, 33, 0};\n"
      ".visible .entry k(.param .u32 out) {\n.reg .b32 %r<8>; .local .align 8 .b8 a[8]; ld.param.u32 %r0, [out];\n"
      "{ .param .b32 n; .param .b32 v; st.param.b32 [n], 16; call (v), malloc, (n); ld.param.b32 %r1, [v]; }\n"
      "st.u32 [%r1+12], 77; ld.u32 %r2, [%r1+12]; st.global.u32 [%r0], %r2; st.local.u32 [a], %r2; mov.u32 %r3, a; cvta.local.u32 %r3, %r3; mov.u32 %r4, format;\n"
      "{ .param .b32 f; .param .b32 l; .param .b32 v; st.param.b32 [f], %r4; st.param.b32 [l], %r3; call (v), vprintf, (f, l); }\n"
      "{ .param .b32 p; st.param.b32 [p], %r1; call free, (p); }\nret;\n}\n";
  const outcome o = run(text, "gtx1080", 1, 1);
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.words[0], 77u);
  EXPECT_EQ(o.out, "77!");
}

TEST(programs_of_others, pass_vectors_and_declare_static_variables) {
  expect_words(
      module_of(
          ".visible .func (.reg .v2 .u32 r) f(.reg .v2 .u32 a) { .global .u32 g[2] = {4, 5}; .reg .u32 t; ld.global.u32 t, [g+4];\n"
          "mov.u32 r.x, a.y; add.u32 r.y, a.x, t; ret; }\n",
          ".reg .v2 .u32 %v<2>; .local .align 8 .b8 l[8]; mov.v2.u32 %v1, {%r0, 9}; call (%v0), f, (%v1);\n"
          "st.u64 [l], %o; ld.u64 %d1, [l]; st.global.u32 [%d1], %v0.y;"),
      [](unsigned k) { return k + 5; });
}

// One line with the position and what was expected; nothing is run or written.
TEST(programs_of_others, are_refused_for_slips_that_ptxas_refuses) {
  const struct {
    const char *declarations, *code, *said;
  } slips[] = {
      {"", "mov.u32 %tid.x, 77;",
       "8:9: special register '%tid.x' in 'mov.u32', expected a register that can be written"},
      {"", "add.u32 %r1, %r1, 1.0;", "8:19: literal '1.0' in 'add.u32', expected a register or an integer"},
      {"", ".reg .b32 %r3;", "8:11: '%r3' is declared by '%r<20>', too, expected another name"},
      {"", ".extern .shared .b32 s[];", "8:1: '.extern' in a function, expected it before declarations of the module"},
      {".func f(.param .b32 a);\n.func f(.param .b64 a) { ret; }\n", "",
       "5:21: 'a' is not what the declaration of 'f' before has"},
      {".func f(.param .b32 a) { ret; }\n", "{ .param .b64 b; st.param.b64 [b], 1; call f, (b); }",
       "9:48: 'b' has 8 bytes, expected 4 as parameter 'a' of the call"},
      {"", "T: .branchtargets NOWHERE;", "8:1: 'NOWHERE' in .branchtargets, expected a label of this function"},
      {".shared .b64 bar;\n", "mbarrier.init.shared.b64 [bar], 1.0;",
       "9:33: literal '1.0' in 'mbarrier.init.shared.b64', expected a register or an integer"},
      {".shared .b32 s[4];\n", "cp.async.shared.global [s], [%o], 16;",
       "9:1: 'cp.async.shared.global' without a word that it needs, expected '.ca', '.cg'"},
      {"", "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%f4,%f5}, {%r6}, {%f0,%f1,%f2,%f3};",
       "8:70: operand of 'mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32' is a .f32 register, expected one for .u32"}};
  for (const auto& [declarations, code, said] : slips) {
    const outcome o = run(module_of(declarations, code), "h100", 1, 32, "--metrics m.json");
    EXPECT_EQ(o.code, 2) << code;
    EXPECT_EQ(o.err, std::string("heddle: error: k.ptx:") + said + "\n");
    EXPECT_TRUE(o.words.empty()) << code;
    EXPECT_FALSE(fs::exists(place_of_test() / "m.json"));
  }
}

// Programs that would take more than 1 GB of memory or minutes are rejected; below the limit both grow with the
// program.
TEST(programs_of_others, are_refused_above_a_size) {
  const auto refused = [](const std::string& text, const std::string& message) {
    const outcome o = run(text, "gtx1080");
    EXPECT_EQ(o.code, 2);
    EXPECT_EQ(o.err.substr(0, o.err.find('\n')), "heddle: error: k.ptx:" + message);
    EXPECT_TRUE(o.words.empty());
  };
  const auto times = [](unsigned count, const std::string& line) {
    std::string text;
    for (unsigned k = 0; k < count; ++k) text += line;
    return text;
  };
  refused(module_of("", times(400'000, "add.u32 %r1,%r1,1;\n")),
          "400002:1: the module is too large, expected at most 400000 instructions and labels");
  refused(module_of("", times(50'000, "div.u32 %r1,%r1,%r2;\n") + "st.global.u32 [%o],%r1;"),
          "23537:1: the kernel is too large, expected at most 800000 machine instructions");
  std::string chain = ".func f0() { ret; }\n";
  for (unsigned k = 1; k < 8200; ++k)
    chain += ".func f" + std::to_string(k) + "() { call f" + std::to_string(k - 1) + "; ret; }\n";
  refused(module_of(chain, "call f8199;"), "204:16: kernel 'k' calls too many functions, expected at most 8000");
}

// If only the order of instructions differs, twice the program takes twice the memory, and at most 4.5 KB per
// instruction.
TEST(programs_of_others, take_memory_by_their_size) {
  const auto peak = [](unsigned instructions) {
    std::string code;
    for (unsigned k = 0; k < instructions; ++k) code += "st.global.u32 [%o],%r" + std::to_string(k % 3) + ";\n";
    EXPECT_EQ(run(module_of("", code), "gtx1080", 1, 32, "--metrics m.json").code, 0);
    const std::string metrics = content(place_of_test() / "m.json");
    const std::size_t at = metrics.find("\"peak_rss_bytes\":");
    EXPECT_NE(at, std::string::npos);
    return std::strtod(metrics.c_str() + at + 17, nullptr);
  };
  const double none = peak(1), some = peak(5'000) - none, twice = peak(10'000) - none;
  EXPECT_LT(twice, 3 * some);
#ifndef __SANITIZE_ADDRESS__
  // The first ones may find memory that building the chip has left.
  EXPECT_LT(peak(20'000) - none - twice, 10'000 * 4500.0);
#endif
}

TEST(programs_of_others, get_the_message_that_kernels_launch_no_kernels) {
  const outcome o =
      run(module_of(".extern .func (.param .b32 v) cudaLaunchDeviceV2(.param .b64 a, .param .b64 b);\n",
                    "{ .param .b64 a; .param .b64 b; .param .b32 v; call.uni (v), cudaLaunchDeviceV2, (a, b); }"),
          "v100");
  EXPECT_EQ(o.code, 2);
  EXPECT_NE(
      o.err.find(
          "heddle: error: k.ptx:9:62: call of 'cudaLaunchDeviceV2': kernels that launch kernels (CUDA dynamic parallelism) are not modelled"),
      std::string::npos)
      << o.err;
}

const std::string linked_job =
    "{\"modules\": [\"main.ptx\", \"library.ptx\"], \"buffers\": {\"y\": {\"bytes\": 128}}, \"launches\": [{\"kernel\": \"k\", \"grid\": [1], "
    "\"block\": [32], \"args\": [{\"buffer\": \"y\"}]}], \"outputs\": [{\"buffer\": \"y\", \"file\": \"o.bin\"}]}";
const std::string library_head = ".version 8.0\n.target sm_80\n.address_size 64\n";

TEST(linked_programs, use_functions_and_variables_of_another_module) {
  const std::string main = module_of(
      ".extern .func (.reg .u32 r) scaled(.reg .u32 a);\n.extern .global .u32 step;\n.global .u32 own = 3;\n",
      "call (%r3), scaled, (%r0); ld.global.u32 %r4, [step]; ld.global.u32 %r5, [own]; mad.lo.u32 %r3, %r4, %r5, %r3; st.global.u32 [%o], %r3;");
  const outcome o = run_job(
      {{"job.json", linked_job},
       {"main.ptx", main},
       {"library.ptx",
        library_head +
            ".visible .global .u32 step = 1000;\n.global .u32 own = 7;\n"
            ".visible .func (.reg .u32 r) scaled(.reg .u32 a) { ld.global.u32 r, [own]; mul.lo.u32 r, r, a; ret; }\n"}});
  ASSERT_EQ(o.code, 0) << o.err;
  ASSERT_EQ(o.words.size(), 32u);
  for (unsigned k = 0; k < 32; ++k) EXPECT_EQ(o.words[k], 7 * k + 3000);
}

TEST(linked_programs, fail_at_a_place_in_the_file_that_is_at_fault) {
  const std::string main = module_of(".extern .func f();\n", "call f, ();");
  const outcome fault = run_job(
      {{"job.json", linked_job},
       {"main.ptx", main},
       {"library.ptx",
        library_head + ".visible .func f() {\n.reg .u64 %z; mov.u64 %z, 64;\nst.global.u32 [%z], 1; ret; }\n"}});
  EXPECT_EQ(fault.code, 1);
  EXPECT_EQ(fault.err.rfind("heddle: error: library.ptx:6:1: illegal address 0x00000040", 0), 0u) << fault.err;
  const outcome refused =
      run_job({{"job.json", linked_job},
               {"main.ptx", main},
               {"library.ptx", library_head + ".visible .func f() {\nfrobnicate.u32 %z;\nret; }\n"}});
  EXPECT_EQ(refused.code, 2);
  EXPECT_EQ(refused.err.rfind("heddle: error: library.ptx:5:1: unknown instruction 'frobnicate.u32'", 0), 0u)
      << refused.err;
  const outcome missing =
      run_job({{"job.json", linked_job},
               {"main.ptx", module_of(".extern .global .u32 nowhere;\n", "ld.global.u32 %r3, [nowhere];")},
               {"library.ptx", library_head}});
  EXPECT_EQ(missing.code, 2);
  EXPECT_NE(missing.err.find("'nowhere' is declared .extern, and no module among those loaded defines it"),
            std::string::npos)
      << missing.err;
}

TEST(texture_references, are_bound_to_the_texture_of_their_name) {
  const std::string job =
      "{\"module\": \"main.ptx\", \"buffers\": {\"y\": {\"bytes\": 128}, \"x\": {\"bytes\": 128, \"fill\": \"iota32\"}}, \"textures\": {\"NAME\": {\"buffer\": \"x\", "
      "\"type\": \"u32\", \"width\": 32}}, \"launches\": [{\"kernel\": \"k\", \"grid\": [1], \"block\": [32], \"args\": [{\"buffer\": \"y\"}]}], "
      "\"outputs\": [{\"buffer\": \"y\", \"file\": \"o.bin\"}]}";
  const auto with_name = [&](const std::string& name) {
    std::string text = job;
    return text.replace(text.find("NAME"), 4, name);
  };
  const std::string main = module_of(
      ".global .texref image;\n",
      "sub.u32 %r3, 31, %r0; tex.1d.v4.u32.s32 {%r4, %r5, %r6, %r7}, [image, {%r3}]; st.global.u32 [%o], %r4;");
  const outcome o = run_job({{"job.json", with_name("image")}, {"main.ptx", main}});
  ASSERT_EQ(o.code, 0) << o.err;
  ASSERT_EQ(o.words.size(), 32u);
  for (unsigned k = 0; k < 32; ++k) EXPECT_EQ(o.words[k], 31 - k);
  const outcome unbound = run_job({{"job.json", with_name("photo")}, {"main.ptx", main}});
  EXPECT_EQ(unbound.code, 1);
  EXPECT_NE(unbound.err.find("main.ptx:"), std::string::npos) << unbound.err;
}

// The scoreboard marks results of a texture unit as long-latency until the cycle in which they arrive.
TEST(stall_reasons, of_a_fetch_is_the_long_scoreboard_to_the_end) {
  const std::string fetch =
      ".version 8.0\n.target sm_61\n.address_size 64\n.visible .entry k(.param .u64 t, .param .u64 o) {\n.reg .b64 %d<3>; .reg .f32 %f<6>;\n"
      "ld.param.u64 %d0, [t]; ld.param.u64 %d1, [o]; mov.f32 %f4, 0f3F000000;\n"
      "tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%d0, {%f4, %f4}]; st.global.f32 [%d1], %f0; ret; }\n";
  const std::string job =
      R"({"module": "k.ptx", "buffers": {"i": {"bytes": 1024}, "o": {"bytes": 64}}, "textures": {"x": {"buffer": "i", "type": "f32", "width": 8, "height": 8}},
          "launches": [{"kernel": "k", "grid": [1], "block": [32], "args": [{"texture": "x"}, {"buffer": "o"}]}], "outputs": []})";
  for (const std::string gpu : {"gtx1080", "v100"}) {
    const outcome o = run_job({{"job.json", job}, {"k.ptx", fetch}},
                              "--gpu " + gpu + " --set sub_partition.dependence=scoreboard --metrics m.json");
    ASSERT_EQ(o.code, 0) << o.err;
    const nlohmann::json states =
        nlohmann::json::parse(content(place_of_test() / "m.json"))["kernels"][0]["warp_states"];
    EXPECT_GT(states["long_scoreboard"], 100);
    EXPECT_EQ(states["short_scoreboard"], 0) << gpu;
  }
}

}  // namespace others_ptx_test
