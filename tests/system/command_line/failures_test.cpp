// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "command_line_fixture.h"
#include "tests/system/common/json_text.h"

namespace failures_test {

using namespace command_line_fixture;
using json = nlohmann::json;

// ---- the simulated program fails: code 1, metrics written ----

TEST_F(command_line, an_illegal_address_names_the_thread) {
  const outcome o = run({"run", "--kernel", "k.ptx:wild", "--grid", "3", "--block", "64", "--metrics", "m.json"});
  expect_error(o, 1, "k.ptx:32:");
  for (const char* part : {"illegal address", "0x700000000", "'wild'", "block (0,0,0)", "thread (0,0,0)"}) {
    EXPECT_NE(o.err.find(part), std::string::npos) << part << " in\n" << o.err;
  }
  EXPECT_EQ(json::parse(read("m.json"))["schema"], "heddle.metrics/1");
}

TEST_F(command_line, a_fault_found_at_issue_names_the_thread_too) {
  const std::vector<std::pair<std::string, std::string>> faults = {
      {"trap;", "trap"},
      {"setp.gt.u32 %p, %r, 4; @%p trap;", "thread (5,0,0)"},
      {"setp.eq.u32 %p, %r, 6; @%p brkpt;", "breakpoint in kernel 'k', block (0,0,0), thread (6,0,0)"},
      {"sub.u32 %r, 9, %r; setp.eq.u32 %p, %r, 0; @%p trap; div.u32 %r, 100, %r;",
       "trap in kernel 'k', block (0,0,0), thread (9,0,0)"},  // compilers check divisors this way
      {"mov.u32 %r, 1000000; ld.shared.u32 %r, [%r];", "outside the block's"},
      {"mul.lo.u32 %r, %r, 4; st.shared.u32 [%r], %r;", "thread (4,0,0)"},
      {"mad.lo.u32 %r, %r, 4, 1; ld.shared.u32 %r, [%r];", "misaligned"},
      {"mul.lo.u32 %r, %r, 4096; ld.local.u32 %r, [%r];", "beyond the thread's local memory"},
      {"mul.lo.u32 %r, %r, 4; ld.const.u32 %r, [%r];",
       "illegal constant address 0x8 (4-byte load, the bank has 8 bytes) in kernel 'k', block (0,0,0), thread (2,0,0)"},
      {"ld.const.u32 %r, [two+70000];", "illegal constant address"}};
  for (const auto& [code, part] : faults) {
    write(
        "f.ptx",
        ".version 7.0\n.target sm_60\n.address_size 64\n.const .align 4 .u32 two[2] = {1, 2};\n.visible .entry k()\n{\n"
        ".shared .align 4 .u32 s[4]; .local .align 4 .u32 l[4]; .reg .pred %p; .reg .b32 %r;\nmov.u32 %r, %tid.x;\n" +
            code + "\nst.shared.u32 [s], %r; ret;\n}\n");
    for (const char* gpu : {"gtx1080", "v100"}) {
      for (const char* threads : {"32", "96"}) {
        const outcome o =
            run({"run", "--kernel", "f.ptx:k", "--grid", "2", "--block", threads, "--gpu", gpu, "--metrics", "m.json"});
        expect_error(o, 1, part);
        EXPECT_NE(o.err.find("f.ptx:9:"), std::string::npos) << o.err;
        EXPECT_TRUE(exists("m.json"));
        fs::remove(place_ / "m.json");
      }
    }
  }
}

TEST_F(command_line, max_cycles_stops_an_endless_kernel) {
  const outcome o = run(
      {"run", "--kernel", "k.ptx:spin", "--grid", "1", "--block", "32", "--metrics", "m.json", "--max-cycles", "5000"});
  expect_error(o, 1, "--max-cycles");
  const json m = json::parse(read("m.json"));
  EXPECT_LE(m["cycles"], 5000);
  EXPECT_GT(m["kernels"].at(0)["metrics"]["inst_executed"], 0);
}

TEST_F(command_line, a_deadlock_at_a_barrier_is_seen) {
  const outcome o = run({"run", "--kernel", "k.ptx:dead", "--grid", "1", "--block", "64", "--metrics", "m.json"});
  expect_error(o, 1, "deadlock");
  EXPECT_NE(o.err.find("'dead'"), std::string::npos);
  const std::string failure = json::parse(read("m.json"))["kernels"][0].value("failed", "");
  EXPECT_NE(failure.find("deadlock at a barrier in kernel 'dead'"), std::string::npos) << failure;
  // No advice on how to make it faster.
  EXPECT_NE(o.out.find("verdict         The program failed"), std::string::npos) << o.out;
  EXPECT_EQ(o.out.find("\n  try "), std::string::npos) << o.out;
  EXPECT_EQ(o.out.find("in the kernel"), std::string::npos) << o.out;
}

TEST_F(command_line, a_signal_leaves_no_partial_file) {
  for (int signal_number : {SIGINT, SIGTERM, SIGHUP}) {
    const pid_t child = start({"run", "--kernel", "k.ptx:spin", "--grid", "1", "--block", "32", "--vcd", "out.vcd",
                               "--metrics", "out.json", "--set", "gpu.watchdog_cycles=0"});
    for (int k = 0; k < 4000 && !has_temporary_file(); ++k) usleep(5000);
    EXPECT_TRUE(has_temporary_file());
    kill(child, signal_number);
    EXPECT_EQ(finish(child).code, 128 + signal_number);
    EXPECT_FALSE(has_temporary_file());
    // Both files or none: SIGINT and SIGTERM end the run in order once there are results to keep (cut_run_test.cpp).
    EXPECT_EQ(exists("out.vcd"), exists("out.json"));
    EXPECT_FALSE(signal_number == SIGHUP && exists("out.json"));
    fs::remove(place_ / "out.vcd");
    fs::remove(place_ / "out.json");
  }
}

TEST_F(command_line, a_mismatch_lists_the_first_five) {
  write("y.ref", words({0, 1, 9, 9, 9, 9, 9, 9}));
  const outcome o = run_job(R"({"module": "k.ptx", "buffers": {"y": {"bytes": 32}},
    "launches": [{"kernel": "store", "grid": [1], "block": [32], "args": [{"buffer": "y"}, {"u32": 8}]}],
    "outputs": [{"buffer": "y", "file": "y.out"}, {"buffer": "y", "expect": "y.ref", "type": "u32"}]})",
                            {"--metrics", "m.json"});
  expect_error(o, 1, "6 of 8 elements of 'y' differ");
  EXPECT_NE(o.err.find("[2] 2, expected 9"), std::string::npos);
  EXPECT_NE(o.err.find("[6] 6, expected 9"), std::string::npos);
  EXPECT_EQ(o.err.find("[7]"), std::string::npos);
  EXPECT_TRUE(read("y.out") == words({0, 1, 2, 3, 4, 5, 6, 7})) << "outputs are written all the same";
  EXPECT_TRUE(exists("m.json"));
}

}  // namespace failures_test
