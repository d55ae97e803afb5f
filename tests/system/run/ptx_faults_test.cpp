// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "ptx_program_texts.h"
#include "tests/system/common/ptx_run.h"

namespace ptx_faults_test {

using namespace ptx_program_texts;

TEST(device_assertion, says_what_failed_and_where) {
  const std::string text = module_of(
      runtime + bytes_of("what", "x < 5") + bytes_of("file", "loom.cu") + bytes_of("name", "void k(int*)"),
      "setp.ne.u32 %p0, %r2, 37; @%p0 bra O; mov.u64 %d1, what; cvta.global.u64 %d1, %d1; mov.u64 %d2, file; cvta.global.u64 %d2, %d2;"
      "mov.u64 %d3, name; cvta.global.u64 %d3, %d3; { .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 s; st.param.b64 [m], %d1;"
      "st.param.b64 [f], %d2; st.param.b32 [l], 12; st.param.b64 [n], %d3; st.param.b64 [s], 1; call __assertfail, (m, f, l, n, s); } O:");
  for (const char* gpu : both) {
    const outcome o = run(text, gpu, 1, 64);
    EXPECT_EQ(o.code, 1);
    EXPECT_NE(
        o.err.find("assertion failed: x < 5 (loom.cu:12, void k(int*)) in kernel 'k', block (0,0,0), thread (37,0,0)"),
        std::string::npos)
        << o.err;
  }
}

struct fault_case {
  const char* code;
  const char* message;
  const char* thread;
  unsigned block = 0;
};

// The code begins on line 8 of k.ptx.
const fault_case fault_cases[] = {
    {"st.global.u32 [%o+0x40000000], %r0;", "k.ptx:8:1: illegal address 0x", "(0,0,0)"},
    {"setp.eq.u32 %p0, %r0, 9; @%p0 mov.u64 %o, 16;\nst.global.u32 [%o], %r0;",
     "k.ptx:9:1: illegal address 0x00000010 ", "(9,0,0)"},
    {"mov.u64 %d0, 0; ld.u32 %r3, [%d0]; st.global.u32 [%o], %r3;", "k.ptx:8:17: illegal address 0x00000000 ",
     "(0,0,0)"},
    {"mov.u64 %d0, 12345; red.global.add.u32 [%d0+3], %r0;", "k.ptx:8:21: illegal address 0x0000303c ", "(0,0,0)"},
    {"setp.eq.u32 %p0, %r0, 5; @%p0 add.u64 %o, %o, 2;\nld.global.u32 %r3, [%o]; st.global.u32 [%o], %r3;",
     "k.ptx:9:1: misaligned address 0x", "(5,0,0)"},
    {"ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%o]; st.global.u32 [%o], %r6;", "k.ptx:8:1: misaligned address 0x",
     "(1,0,0)"},
    {"setp.gt.u32 %p0, %r0, 2; @%p0 atom.global.add.u64 %d1, [%o], %d0; st.global.u32 [%o], %r0;",
     "k.ptx:8:31: misaligned address 0x", "(3,0,0)"},
    {"setp.eq.u32 %p0, %r2, 64; sub.u32 %r3, 64, %r2; @%p0 trap; div.u32 %r3, 1000, %r3; st.global.u32 [%o], %r3;",
     "k.ptx:8:54: trap", "(0,0,0)", 2},
    {"setp.eq.u32 %p0, %r2, 47; @%p0 brkpt;", "k.ptx:8:32: breakpoint", "(15,0,0)", 1},
    {".local .align 4 .b8 a[16]; mul.lo.u32 %r3, %r0, 4; ld.local.u32 %r4, [%r3]; st.global.u32 [%o], %r4;",
     "k.ptx:8:52: local address 0x10 ", "(4,0,0)"}};

TEST(faults, name_line_kernel_block_and_thread) {
  for (const char* gpu : both)
    for (const fault_case& f : fault_cases) {
      SCOPED_TRACE(std::string(gpu) + ": " + f.code);
      const outcome o = run(module_of("", f.code), gpu, 3, 32);
      EXPECT_EQ(o.code, 1);
      EXPECT_NE(o.err.find(f.message), std::string::npos) << o.err;
      const std::string thread_text = "in kernel 'k', block (" + std::to_string(f.block) + ",0,0), thread " + f.thread;
      EXPECT_NE(o.err.find(thread_text), std::string::npos) << o.err;
    }
}

TEST(faults, a_deadlock_names_every_warp_that_waits_and_where) {
  const std::string code =
      "setp.lt.u32 %p0, %r0, 32; setp.lt.u32 %p1, %r0, 64; setp.lt.u32 %p2, %r0, 100;\n@%p0 bra A; @%p1 bra B; @%p2 ret;\n"
      "bar.sync 3, 256; ret;\nA: bar.sync 1; ret;\nB: bar.arrive 2, 128;\nbarrier.sync 2, 128;";
  for (const char* gpu : both) {
    const outcome o = run(module_of("", code), gpu, 1, 128);
    EXPECT_EQ(o.code, 1);
    EXPECT_NE(o.err.find("deadlock at a barrier in kernel 'k', block (0,0,0)"), std::string::npos) << o.err;
    for (const char* warp : {"warp 0 waits at barrier 1, k.ptx:11:4\n", "warp 1 waits at barrier 2, k.ptx:13:1\n",
                             "warp 3 waits at barrier 3, k.ptx:10:1\n"})
      EXPECT_NE(o.err.find(warp), std::string::npos) << warp << " in\n" << o.err;
    EXPECT_EQ(o.err.find("warp 2"), std::string::npos) << o.err;  // its threads have exited
  }
}

// In the order of blocks, whatever their SMs and the order of arrival at the barrier; the result is the same with a
// timeline, which keeps the SMs in step.
TEST(faults, a_deadlock_names_the_warps_of_all_blocks) {
  const std::string late =
      "mov.u32 %r5, %ctaid.x; sub.u32 %r5, 8, %r5; mul.lo.u32 %r5, %r5, 20; L: sub.u32 %r5, %r5, 1; setp.ne.u32 %p1, %r5, 0; @%p1 bra L;\n";
  const std::string code =
      late +
      "setp.eq.u32 %p0, %r1, 2; @%p0 ret; setp.lt.u32 %p0, %r0, 32; @%p0 bra A;\nbar.sync 1; ret;\nA: bar.sync 2;";
  for (const char* gpu : {"gtx1080 --set gpu.sm_count=3", "v100", "v100 --set gpu.sm_count=1"}) {
    SCOPED_TRACE(gpu);
    const outcome o = run(module_of("", code), gpu, 5, 64);
    EXPECT_EQ(o.code, 1);
    std::string expected =
        "deadlock at a barrier in kernel 'k', block (0,0,0): every warp that has not exited waits, and no barrier can complete";
    expected +=
        "\n  warp 0 waits at barrier 2, k.ptx:11:4\n  warp 1 waits at barrier 1, k.ptx:10:1\n  and so in blocks (1,0,0), (3,0,0) to (4,0,0)";
    EXPECT_NE(o.err.find(expected + "\n"), std::string::npos) << o.err;
    EXPECT_EQ(run(module_of("", code), gpu, 5, 64, "--timeline t.json").err, o.err);
  }
  // A run that is cut short before the deadlock is reported still names it.
  for (const char* timeline : {"", "--timeline t.json"}) {
    const outcome cut = run(module_of("", "setp.lt.u32 %p0, %r0, 32; @%p0 bra A;\nbar.sync 1; ret;\nA: bar.sync 2;"),
                            "v100", 2, 64, std::string("--max-cycles 5000 ") + timeline);
    EXPECT_EQ(cut.code, 1);
    EXPECT_NE(
        cut.err.find(
            "\n  warp 0 waits at barrier 2, k.ptx:10:4\n  warp 1 waits at barrier 1, k.ptx:9:1\n  and so in block (1,0,0)\n"),
        std::string::npos)
        << cut.err;
  }
}

// One block of three keeps spinning.
TEST(faults, a_deadlock_names_those_that_wait_for_warps_that_run) {
  const std::string code =
      "setp.eq.u32 %p0, %r1, 0; setp.lt.u32 %p1, %r0, 32; and.pred %p0, %p0, %p1;\nL: @%p0 bra L;\nsetp.ge.u32 %p2, %r0, 32; @%p2 bra B;\nbar.sync 1; ret;\nB: bar.sync 2;";
  for (const char* gpu : both) {
    const outcome o = run(module_of("", code), gpu, 3, 1024);
    EXPECT_EQ(o.code, 1);
    const std::string all =
        "block (1,0,0): every warp that has not exited waits, and no barrier can complete\n  warp 0 waits at barrier 1, k.ptx:11:1\n"
        "  warps 1 to 31 wait at barrier 2, k.ptx:12:4\n  and so in block (2,0,0)\n"
        "  likewise in kernel 'k', block (0,0,0), where other warps had not come to a barrier yet:\n  warps 1 to 31 wait at barrier 2, k.ptx:12:4\n";
    EXPECT_NE(o.err.find(all), std::string::npos) << o.err;
    const outcome some = run(module_of("", code), gpu, 2, 96);
    EXPECT_NE(
        some.err.find("\n  likewise in kernel 'k', block (0,0,0), where other warps had not come to a barrier yet:\n"),
        std::string::npos)
        << some.err;
  }
}

TEST(faults, a_deadlock_names_each_group_of_lanes_that_waits) {
  const std::string parts = "setp.lt.u32 %p0, %r0, 7; @%p0 bra A;\nbar.sync 1; ret;\n";
  const outcome barriers = run(module_of("", parts + "A: bar.sync 2;"), "v100", 1, 64);
  EXPECT_EQ(barriers.code, 1);
  for (const char* group :
       {"warp 0 lanes 0xffffff80, waits at barrier 1, k.ptx:9:1\n",
        "warp 0 lanes 0x0000007f, waits at barrier 2, k.ptx:10:4\n", "warp 1 waits at barrier 1, k.ptx:9:1\n"})
    EXPECT_NE(barriers.err.find(group), std::string::npos) << group << " in\n" << barriers.err;
  const outcome shuffle =
      run(module_of("", parts + "A: shfl.sync.bfly.b32 %r3, %r0, 1, 31, -1; st.global.u32 [%o], %r3;"), "v100", 1, 64);
  EXPECT_EQ(shuffle.code, 1);
  for (const char* group :
       {"sm 0 warp 0, block (0,0,0) of kernel 'k', lanes 0xffffff80, waits at barrier 1, k.ptx:9:1\n",
        "sm 0 warp 0, block (0,0,0) of kernel 'k', lanes 0x0000007f, waits for lanes 0xffffff80, k.ptx:10:4\n",
        "sm 0 warp 1, block (0,0,0) of kernel 'k', waits at barrier 1, k.ptx:9:1\n"})
    EXPECT_NE(shuffle.err.find(group), std::string::npos) << group << " in\n" << shuffle.err;
}

}  // namespace ptx_faults_test
