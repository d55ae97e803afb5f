// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

// Kernels that use more than arithmetic, through the built program on GPUs with both kinds of divergence handling: the
// device runtime.
#include "ptx_program_texts.h"
#include "tests/system/common/ptx_run.h"

namespace ptx_program_test {

using namespace ptx_program_texts;

const char* const print_thread =
    ".local .align 8 .b8 buffer[24]; mov.u64 %d0, buffer; cvta.local.u64 %d1, %d0; setp.lt.u32 %p0, %r0, 3;\n"
    "st.local.u32 [buffer], %r2; mov.u64 %d2, word; cvta.global.u64 %d2, %d2; st.local.u64 [buffer+8], %d2;\n"
    "cvt.rn.f32.u32 %f0, %r0; mul.f32 %f0, %f0, 0f3FC00000; cvt.f64.f32 %d3, %f0; st.local.f64 [buffer+16], %d3;\n"
    "mov.u64 %d2, format; cvta.global.u64 %d2, %d2; mov.u32 %r5, 77;\n"
    "{ .param .b64 f; .param .b64 a; .param .b32 v; st.param.b64 [f], %d2; st.param.b64 [a], %d1; @%p0 call (v), vprintf, (f, a);\n"
    "@%p0 ld.param.b32 %r5, [v]; } st.global.u32 [%o], %r5;";

TEST(device_printf, prints_in_the_order_of_execution) {
  const std::string text =
      module_of(runtime + bytes_of("format", "%3d:%s:%.2f|") + bytes_of("word", "weft"), print_thread);
  std::string printed;
  for (const char* gpu : both) {
    const outcome o = run(text, gpu, 1, 64);
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(o.out, "  0:weft:0.00|  1:weft:1.50|  2:weft:3.00|");
    EXPECT_EQ(o.words[2], 3u);
    EXPECT_EQ(o.words[3], 77u);
  }
}

TEST(device_printf, gives_up_its_text_when_the_program_fails) {
  const std::string text =
      module_of(runtime + bytes_of("format", "%d\n") + bytes_of("word", ""), std::string(print_thread) + "trap;");
  const outcome o = run(text, "gtx1080");
  EXPECT_EQ(o.code, 1);
  EXPECT_EQ(o.out, "0\n1\n2\n");
  EXPECT_NE(o.err.find("trap in kernel 'k', block (0,0,0), thread (0,0,0)"), std::string::npos) << o.err;
}

TEST(device_printf, of_a_wild_pointer_is_a_failure_of_the_program) {
  const outcome o = run(
      module_of(
          runtime,
          "{ .param .b64 f; .param .b64 a; .param .b32 v; st.param.b64 [f], 64; st.param.b64 [a], 0; call (v), vprintf, (f, a); }"),
      "v100");
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.err.find("illegal address 0x40"), std::string::npos) << o.err;
}

TEST(module_variables, are_mapped_to_the_end_of_their_page) {
  const std::string variable = ".global .align 4 .b8 table[256];\n";
  expect_words(
      module_of(variable, "ld.global.u32 %r3, [table+256]; st.global.u32 [%o], %r3;"), [](unsigned) { return 0u; }, 1,
      1);
  const outcome o = run(module_of(variable, "ld.global.u32 %r3, [table+4096]; st.global.u32 [%o], %r3;"), "v100");
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.err.find("illegal address"), std::string::npos) << o.err;
}

TEST(device_heap, gives_every_thread_memory_of_its_own) {
  const std::string allocate =
      "{ .param .b64 n; .param .b64 v; st.param.b64 [n], 40; call (v), malloc, (n); ld.param.b64 %d1, [v]; }";
  const std::string release = "{ .param .b64 q; st.param.b64 [q], %d1; call free, (q); }";
  expect_words(
      module_of(runtime, allocate + "st.u32 [%d1+36], %r2; bar.sync 0; ld.u32 %r3, [%d1+36]; st.global.u32 [%o], %r3;" +
                             release),
      [](unsigned k) { return k; }, 3, 96);
  // The heap has 8 MiB: the ninth megabyte cannot be allocated.
  expect_words(
      module_of(
          runtime,
          "mov.u32 %r5, 0; L: { .param .b64 n; .param .b64 v; st.param.b64 [n], 1048576; call (v), malloc, (n); ld.param.b64 %d1, [v]; }"
          "setp.eq.u64 %p0, %d1, 0; @%p0 bra E; add.u32 %r5, %r5, 1; bra L; E: st.global.u32 [%o], %r5;"),
      [](unsigned) { return 8u; }, 1, 1);
}

TEST(device_heap, frees_only_what_was_allocated) {
  const outcome o = run(module_of(runtime, "{ .param .b64 q; st.param.b64 [q], %o; call free, (q); }"), "gtx1080");
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.err.find("which malloc did not give in kernel 'k'"), std::string::npos) << o.err;
}

const std::string recursive =
    ".func (.param .b32 v) fib(.param .b32 n) {\n.reg .b32 %n, %a, %b; .reg .pred %q; ld.param.b32 %n, [n]; setp.lt.u32 %q, %n, 2; @%q bra E;\n"
    "sub.u32 %a, %n, 1; call (%a), fib, (%a); sub.u32 %b, %n, 2; call (%b), fib, (%b); add.u32 %n, %a, %b; E: st.param.b32 [v], %n; ret; }\n"
    ".func (.param .b32 v) deep(.param .b32 n) { .reg .b32 %n; ld.param.b32 %n, [n]; call (%n), deep, (%n); add.u32 %n, %n, 1; st.param.b32 [v], %n; ret; }\n";

TEST(calls, recurse_in_both_modes_of_divergence) {
  std::vector<std::uint32_t> fib{0, 1};
  while (fib.size() < 9) fib.push_back(fib[fib.size() - 1] + fib[fib.size() - 2]);
  expect_words(
      module_of(recursive, "rem.u32 %r3, %r2, 9; call (%r4), fib, (%r3); st.global.u32 [%o], %r4;"),
      [&](unsigned k) { return fib[k % 9]; }, 2, 70);
}

TEST(calls, without_end_fill_the_stack) {
  for (const char* gpu : both) {
    const outcome o = run(module_of(recursive, "call (%r4), deep, (%r3); st.global.u32 [%o], %r4;"), gpu);
    EXPECT_EQ(o.code, 1);
    EXPECT_NE(o.err.find("k.ptx:"), std::string::npos) << o.err;
    EXPECT_NE(o.err.find("call stack overflow in kernel 'k', block (0,0,0), thread (0,0,0)"), std::string::npos)
        << o.err;
  }
}

TEST(calls, of_no_function_are_failures_of_the_program) {
  const outcome o =
      run(module_of(recursive,
                    "mov.u64 %d1, 77; P: .callprototype (.param .b32 _) _ (.param .b32 _); call (%r4), %d1, (%r3), P;"),
          "v100");
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.err.find("call of an address that is no function's of this prototype in kernel 'k'"), std::string::npos)
      << o.err;
}

// With all registers that its values could use, a block of 1024 threads fits no SM; .maxntid announces such blocks.
TEST(launch_bounds, let_the_largest_block_run) {
  std::string code = ".reg .b32 %v<100>;\n";
  for (unsigned k = 0; k < 90; ++k)
    code += "ld.volatile.global.u32 %v" + std::to_string(k) + ", [%o];\nadd.u32 %v" + std::to_string(k) + ", %v" +
            std::to_string(k) + ", " + std::to_string(k) + ";\n";
  code += "bar.sync 0;\nmov.u32 %r4, 0;\n";
  for (unsigned k = 90; k-- > 0;) code += "mad.lo.u32 %r4, %r4, 3, %v" + std::to_string(k) + ";\n";
  std::string text = module_of("", code + "st.global.u32 [%o], %r4;\n");
  const std::string head = ".entry k(.param .u64 out)";
  std::uint32_t expected = 0;
  for (unsigned k = 90; k-- > 0;) expected = 3 * expected + k;
  for (const char* gpu : {"gtx1080", "rtx3080"}) {
    EXPECT_EQ(run(text, gpu, 1, 1024).code, 2) << gpu;
    std::string bounded = text;
    bounded.replace(bounded.find(head), head.size(), head + " .maxntid 1024, 1, 1");
    const outcome o = run(bounded, gpu, 1, 1024);
    ASSERT_EQ(o.code, 0) << gpu << o.err;
    ASSERT_EQ(o.words.size(), 1024u);
    for (const std::uint32_t w : o.words) ASSERT_EQ(w, expected) << gpu;
  }
}

TEST(asynchronous_copies, bring_global_memory_to_shared_memory) {
  const std::string text = module_of(
      ".global .align 16 .u32 source[64] = {5, 6, 7, 8, 9, 10, 11, 12};\n",
      ".shared .align 16 .b8 tile[32]; setp.lt.u32 %p0, %r0, 2; shl.b32 %r3, %r0, 4; mov.u32 %r4, tile; add.u32 %r4, %r4, %r3;\n"
      "mov.u64 %d1, source; mul.wide.u32 %d2, %r3, 1; add.u64 %d1, %d1, %d2; @%p0 cp.async.cg.shared.global [%r4], [%d1], 16;\n"
      "cp.async.commit_group; cp.async.wait_group 0; bar.sync 0; and.b32 %r5, %r0, 7; shl.b32 %r5, %r5, 2; mov.u32 %r6, tile;\n"
      "add.u32 %r5, %r5, %r6; ld.shared.u32 %r7, [%r5]; st.global.u32 [%o], %r7;");
  const outcome o = run(text, "a100", 1, 64);
  ASSERT_EQ(o.code, 0) << o.err;
  for (unsigned k = 0; k < 64; ++k) EXPECT_EQ(o.words[k], 5 + (k & 7));
  const outcome older = run(text, "v100", 1, 64);
  EXPECT_EQ(older.code, 2);
  EXPECT_NE(older.err.find("needs compute capability 8.0"), std::string::npos) << older.err;
}

// Lanes whose guard is false continue after the jump table; some other lanes reach that point from a target.
TEST(indexed_branches, are_taken_by_the_lanes_of_their_guard) {
  expect_words(
      module_of(
          "",
          "and.b32 %r3, %r0, 3; setp.lt.u32 %p0, %r0, 20; mov.u32 %r4, 0; T: .branchtargets A, B, C, D;\n"
          "@%p0 brx.idx %r3, T;\nadd.u32 %r4, %r4, 1000; bra D;\nA: add.u32 %r4, %r4, 1; B: add.u32 %r4, %r4, 10; bra D;\n"
          "C: add.u32 %r4, %r4, 100; D: add.u32 %r4, %r4, 7; st.global.u32 [%o], %r4;"),
      [](unsigned k) {
        return 7 + (k >= 20 ? 1000u : k % 4 == 0 ? 11u : k % 4 == 1 ? 10u : k % 4 == 2 ? 100u : 0u);
      });
  expect_words(
      module_of(
          "",
          "setp.ge.u32 %p0, %r0, 5; mov.u32 %r4, 3; mov.u32 %r3, 0; T: .branchtargets A;\n@!%p0 brx.idx %r3, T;\nmov.u32 %r4, 9;\nA: st.global.u32 [%o], %r4;"),
      [](unsigned k) { return k < 5 ? 3u : 9u; });
}

TEST(vectors, move_as_a_whole_and_have_colours_for_components) {
  const std::string declared = ".reg .v4 .b32 %v, %w; .reg .v2 .f32 %x; .reg .v2 .b64 %y;\n";
  expect_words(
      module_of(
          "",
          declared +
              "mov.v4.b32 %v, {%r0, 2, 3, 4}; mov.v4.b32 %w, %v; add.u32 %r4, %w.r, %w.g; mad.lo.u32 %r4, %w.b, 10, %r4; mad.lo.u32 %r4, %w.a, 100, %r4; st.global.u32 [%o], %r4;"),
      [](unsigned k) { return k + 2 + 30 + 400; });
  // All elements are read before the first is written; the guard applies to each element.
  expect_words(
      module_of(
          "",
          "mov.u32 %r3, 5; mov.u32 %r4, 7; setp.lt.u32 %p0, %r0, 9; @%p0 mov.v2.u32 {%r3, %r4}, {%r4, %r3}; mad.lo.u32 %r5, %r3, 10, %r4; st.global.u32 [%o], %r5;"),
      [](unsigned k) { return k < 9 ? 75u : 57u; });
  expect_words(
      module_of(
          "",
          declared +
              "mov.v4.u32 %v, %tid; mov.v4.u32 %w, %ntid; mad.lo.u32 %r4, %w.y, 100, %v.x; add.u32 %r4, %r4, %v.w; st.global.u32 [%o], %r4;"),
      [](unsigned k) { return 100 + k; });
  expect_words(
      module_of(
          "",
          declared +
              "mov.v2.f32 %x, {0f40000000, 0f3f000000}; mov.v2.b64 %y, {%o, 41}; mul.f32 %f0, %x.x, %x.y; cvt.rzi.u32.f32 %r4, %f0; cvt.u32.u64 %r5, %y.y; add.u32 %r4, %r4, %r5; mov.b64 %d5, %y.x; st.global.u32 [%d5], %r4;"),
      [](unsigned) { return 42u; });
  const outcome o = run(module_of("", "mov.v2.u32 {%r3, %r4}, {%r0, %r1, %r2, %r3};"), "v100");
  EXPECT_EQ(o.code, 2);
  EXPECT_NE(o.err.find("k.ptx:8:1: 'mov.v2.u32' needs 2 elements on both sides"), std::string::npos) << o.err;
}

TEST(aliases, are_their_targets_under_another_name) {
  const std::string functions =
      ".visible .func (.param .b32 z) f(.param .b32 a) { .reg .b32 %t; ld.param.b32 %t, [a]; mad.lo.u32 %t, %t, 3, 1; st.param.b32 [z], %t; ret; }\n"
      ".visible .func (.param .b32 z) g(.param .b32 a);\n.alias g, f;\n";
  expect_words(module_of(functions, "call (%r4), g, (%r0); st.global.u32 [%o], %r4;"),
               [](unsigned k) { return 3 * k + 1; });
  expect_words(
      module_of(
          functions,
          "mov.u64 %d1, g; P: .callprototype (.param .b32 _) _ (.param .b32 _); call (%r4), %d1, (%r0), P; st.global.u32 [%o], %r4;"),
      [](unsigned k) { return 3 * k + 1; });
  const outcome o = run(module_of(".func g();\n.alias g, h;\n", ""), "v100");
  EXPECT_EQ(o.code, 2);
  EXPECT_NE(o.err.find("k.ptx:5:8: alias 'g' of 'h', expected a function with a body in this module"),
            std::string::npos)
      << o.err;
}

// Diverged lanes must reconverge before a barrier, even if some exited the kernel or might have trapped on the way.
TEST(barriers, come_after_indirect_calls_and_returns_of_some_lanes) {
  const std::string functions =
      ".func (.param .b32 v) one(.param .b32 n) { .reg .b32 %n; ld.param.b32 %n, [n]; add.u32 %n, %n, 5; st.param.b32 [v], %n; ret; }\n"
      ".func (.param .b32 v) two(.param .b32 n) { .reg .b32 %n; ld.param.b32 %n, [n]; mul.lo.u32 %n, %n, 3; st.param.b32 [v], %n; ret; }\n";
  const std::string shared =
      ".shared .align 4 .b8 s[256]; shl.b32 %r5, %r0, 2; mov.u32 %r6, s; add.u32 %r5, %r5, %r6; xor.b32 %r7, %r0, 1; shl.b32 %r7, %r7, 2; add.u32 %r7, %r7, %r6;\n";
  expect_words(
      module_of(
          functions,
          shared +
              "and.b32 %r3, %r0, 1; setp.eq.u32 %p0, %r3, 0; mov.u64 %d1, one; mov.u64 %d2, two; selp.b64 %d3, %d1, %d2, %p0;\n"
              "P: .callprototype (.param .b32 _) _ (.param .b32 _); call (%r4), %d3, (%r0), P; st.shared.u32 [%r5], %r4; bar.sync 0; ld.shared.u32 %r8, [%r7]; st.global.u32 [%o], %r8;"),
      [](unsigned k) { return (k & 1) != 0 ? (k ^ 1) + 5 : (k ^ 1) * 3; }, 1, 64);
  const std::string leaves =
      "and.b32 %r3, %r0, 1; setp.eq.u32 %p0, %r3, 0; and.b32 %r4, %r0, 12; setp.eq.u32 %p1, %r4, 12; mov.u32 %r8, %r0; @%p0 bra Y; @!%p1 bra X;\n"
      "mov.u32 %r9, 999; st.global.u32 [%o], %r9; ";
  const std::string rest =
      "X: mul.lo.u32 %r8, %r0, 7; div.u32 %r8, %r8, 3; add.u32 %r8, %r8, 1; mul.hi.u32 %r9, %r8, %r8; add.u32 %r8, %r8, %r9;\n"
      "Y: st.shared.u32 [%r5], %r8; bar.sync 0; ld.shared.u32 %r8, [%r7]; st.global.u32 [%o], %r8;";
  for (const char* exit_instruction : {"ret; ", "bra FINISH; "})
    expect_words(
        module_of("", shared + "mov.u32 %r9, 0; st.shared.u32 [%r5], %r9; bar.sync 0;\n" + leaves + exit_instruction +
                          rest + " FINISH:"),
        [](unsigned k) {
          const auto leaves = [](unsigned t) { return (t & 1) != 0 && (t & 12) == 12; };
          const unsigned other = k ^ 1;
          if (leaves(k)) return 999u;
          return leaves(other) ? 0u : (other & 1) != 0 ? other * 7 / 3 + 1 : other;
        },
        1, 64);
}

}  // namespace ptx_program_test
