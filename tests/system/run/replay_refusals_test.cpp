// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "replay_fixture.h"

namespace replay_refusals_test {

using namespace replay_fixture;

TEST_F(replay, blocks_that_the_file_leaves_out_are_not_run) {
  kernel k;
  k.blocks = 2000000000;
  k.threads = 32;
  k.block({warp_lines().exit()});
  const outcome o = run_kernel(k);
  ASSERT_EQ(o.code, 0);
  EXPECT_EQ(
      o.err,
      "heddle: warning: kernel-1.traceg: 1 of the 2,000,000,000 blocks of kernel '_Z4testPf' are in the trace: the others did "
      "nothing, or it was cut off\n");
  EXPECT_EQ(metrics()["kernels"][0]["blocks"], 1);
  k.body.clear();
  fs::remove(place_ / "m.json");
  expect_refused(run_kernel(k), "kernel-1.traceg: no thread block of kernel '_Z4testPf' is in the trace");
}

TEST_F(replay, unsupported_features_are_warned_of_once_or_refused) {
  kernel k;
  k.threads = 32;
  k.block({warp_lines()
               .alu("FROBNICATE.X", 2, {2})
               .alu("FROBNICATE.X", 2, {2})
               .alu("HMMA.884.F32.F32.STEP0", 2, {4, 6, 8})
               .exit()});
  outcome o = run_kernel(k, "gtx1080");  // gtx1080 has no tensor unit
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(
      o.err,
      "heddle: warning: traces of binary version 70 on gtx1080 (compute capability 6.1), which is of another generation: they "
      "are replayed with their own opcodes\nheddle: warning: opcodes that are not known, replayed as what their names resemble: "
      "FROBNICATE (2 times)\n");
  fs::remove(place_ / "m.json");
  expect_refused(run_kernel(k, "v100", {"--strict"}), "opcode 'FROBNICATE' of kernel '_Z4testPf' is not known");
  kernel fine;
  fine.threads = 32;
  fine.block({warp_lines().exit()});
  expect_refused(run_kernel(fine, "gtx1080", {"--strict"}), "binary version 70 on gtx1080");
  o = run_kernel(fine, "v100", {"--strict"});
  EXPECT_EQ(o.code, 0);
  EXPECT_EQ(o.err, "");
}

TEST_F(replay, what_no_real_trace_has_is_warned_of_once) {
  kernel k;
  k.block({warp_lines().alu("MOV", 1, {}).exit(0x1).alu("MOV", 2, {}, 0xfffffffe).exit(0xfffffffe),
           warp_lines().alu("MOV", 1, {}).exit()});
  EXPECT_EQ(run_kernel(k).err, "");
  kernel odd;
  odd.blocks = 2;
  odd.threads = 96;
  odd.block({warp_lines().alu("MOV", 1, {}).exit().alu("MOV", 2, {}).exit(), warp_lines().alu("MOV", 1, {})});
  odd.block({warp_lines().exit(), warp_lines().exit(), warp_lines().exit()});
  outcome o = run_kernel(odd);
  EXPECT_EQ(o.code, 0);
  EXPECT_EQ(
      o.err,
      "heddle: warning: kernel-1.traceg: kernel '_Z4testPf' has 1 warp without instructions, 1 warp without EXIT at the "
      "end, 1 warp with lanes that continue after EXIT: they are replayed as recorded, and each ends with its last "
      "instruction\n");
  write("kernel-1.traceg", "-foo bar = 5\n" + k.text());
  o = run({"kernelslist.g", "--gpu", "v100"});
  EXPECT_EQ(o.code, 0);
  EXPECT_EQ(o.err, "heddle: warning: kernel-1.traceg: keys of the head that are not known are ignored: -foo bar\n");
}

TEST_F(replay, a_list_hides_no_kernel) {
  kernel k;
  k.threads = 32;
  k.block({warp_lines().exit()});
  run_kernel(k);
  write("kernelslist.g", "\xEF\xBB\xBFkernel-1.traceg\nkernel-1.traceg\n");
  EXPECT_EQ(run({"kernelslist.g", "--gpu", "v100", "--metrics", "m.json"}).code, 0);
  EXPECT_EQ(metrics()["kernels"].size(), 2u);
  fs::remove(place_ / "m.json");
  write("kernelslist.g", "kernel-1.traceg\nKernel-1.traceg\n");
  expect_refused(run({"kernelslist.g", "--metrics", "m.json"}), "kernelslist.g:2:1: got 'Kernel-1.traceg'");
}

TEST_F(replay, broken_traces_are_refused_before_anything_runs) {
  kernel k;
  k.block({exchange(), exchange()});
  const std::string text = k.text();
  write("kernelslist.g", "kernel-1.traceg\n");
  // A truncated trace is rejected, unless it is cut between two blocks.
  for (std::size_t cut = 10; cut < text.size(); cut += 97) {
    SCOPED_TRACE(cut);
    write("kernel-1.traceg", text.substr(0, cut));
    const outcome o = run({"kernelslist.g", "--gpu", "v100", "--metrics", "m.json"});
    expect_refused(o, "kernel-1.traceg:");
    fs::remove(place_ / "m.json");
  }
  write("kernel-1.traceg", text.substr(0, text.size() / 2));
  expect_refused(run({"kernelslist.g", "--metrics", "m.json"}), "of kernel '_Z4testPf'");
  expect_refused(run({"none.g", "--metrics", "m.json"}), "none.g");
  write("kernelslist.g", "kernel-9.traceg\n");
  expect_refused(run({"kernelslist.g", "--metrics", "m.json"}),
                 "kernelslist.g:1:1: the trace 'kernel-9.traceg' cannot be read");
  write("kernelslist.g", "MemcpyHtoD,0x0,4\n");
  expect_refused(run({"kernelslist.g", "--metrics", "m.json"}), "names no kernel");
  expect_refused(run({"--metrics", "m.json"}), "expected a list of kernels");
}

TEST_F(replay, a_folder_that_takes_no_temporary_file_is_named) {
  kernel k;
  k.block({exchange(), exchange()});
  ASSERT_EQ(::setenv("TMPDIR", "/nowhere/at all", 1), 0);
  expect_refused(run_kernel(k, "v100", {"--trace-memory", "0"}), "a temporary file in '/nowhere/at all'");
  EXPECT_EQ(run_kernel(k).code, 0);  // no temporary file is needed
  ::unsetenv("TMPDIR");
  fs::remove(place_ / "m.json");
  expect_refused(run_kernel(k, "v100", {"--trace-memory", "-1"}), "trace-memory");
}

}  // namespace replay_refusals_test
