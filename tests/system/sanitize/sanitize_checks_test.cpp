// SPDX-License-Identifier: MIT
// heddle run --sanitize: memory, init, sync and leaks, by the kernels of checks.cu; what its options change; that
// nothing is found in the workloads; that timing stays as it is.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/system/common/json_text.h"
#include "tests/system/sanitize/sanitize_fixture.h"

namespace sanitize_checks_test {

using json = nlohmann::ordered_json;
using ptx_runs::content;
using sanitize_runs::launch;
using sanitize_runs::outcome;
using sanitize_runs::run;

struct pair_of_kernels {
  const char* name;
  unsigned threads;
  bool counts;                    // has a second argument, 60
  std::vector<const char*> said;  // of the bad one
};

const pair_of_kernels pairs[] = {
    {"misaligned",
     60,
     false,
     {"checks.cu:15", "misaligned write of 4 bytes of global memory at 0x", "and 59 cases more"}},
    {"out_of_bounds",
     128,
     true,
     {"checks.cu:23", "out of bounds: write of 4 bytes of global memory",
      "0 bytes behind buffer 'argument 1' (240 bytes at 0x", "block (0,0,0), thread (60,0,0)", "and 67 cases more"}},
    {"wild", 60, false, {"checks.cu:30", "of global memory at 0x87654320", "bytes behind buffer 'argument 1'"}},
    {"behind_shared", 60, false, {"checks.cu:37", "of shared memory at 0xf0", "the block has 240 bytes"}},
    {"freed_memory", 60, false, {"checks.cu:49", "in memory that was freed (64 bytes at 0x"}},
    {"behind_malloc", 60, false, {"checks.cu:56", "0 bytes behind memory of malloc (40 bytes at 0x"}},
    {"next_malloc", 60, false, {"checks.cu:186", "12 bytes behind memory of malloc (64 bytes at 0x", "and 59 cases"}},
    {"freed_twice",
     60,
     false,
     {"checks.cu:198", "which is no block of malloc in use", "in memory that was freed (64 bytes at 0x"}},
    {"whole_heap", 60, false, {"checks.cu:213", "0 bytes behind memory of malloc (1048576 bytes at 0x"}},
    {"unwritten_shared",
     64,
     false,
     {"checks.cu:67", "uninitialised: read of 4 bytes of shared memory at 0xfc that was never written"}},
    {"unwritten_malloc", 60, false, {"checks.cu:75", "12 bytes into memory of malloc (64 bytes at 0x"}},
    {"unwritten_local", 60, true, {"checks.cu:84", "uninitialised: read of 4 bytes of local memory"}},
    {"divergent_barrier", 64, true, {"checks.cu:101", "barrier in divergent code"}},
    {"two_barriers", 64, false, {"barrier in divergent code", "and 15 more of its warp wait at it"}},
    {"leaving_threads", 64, true, {"checks.cu:128", "barrier in divergent code"}},
    {"member_mask", 60, false, {"that its member mask 0xfffffff leaves out", "thread (28,0,0)"}},
    {"half_written",
     64,
     false,
     {"checks.cu:156", "uninitialised: read of 8 bytes of shared memory at 0x",
      "of which 4 bytes at 0xfc were never written"}},
    {"half_of_the_lanes",
     64,
     false,
     {"checks.cu:165", "synchronisation of lanes that its member mask names and that do not execute it",
      "thread (0,0,0) and 15 more of its warp wait for the lanes 0xffffffff",
      "thread (16,0,0) and 15 more of its warp have gone past it, and exit"}},
    {"half_before_a_barrier",
     64,
     false,
     {"called at checks.cu:174", "synchronisation of lanes that its member mask names and that do not execute it",
      "thread (0,0,0) and 15 more of its warp wait for the lanes 0xffffffff",
      "thread (16,0,0) and 15 more of its warp wait at a barrier behind it, at ", "checks.cu:175"}},
    {"half_vote",
     64,
     false,
     {"called at checks.cu:228", "synchronisation of lanes that its member mask names and that do not execute it",
      "thread (0,0,0) and 15 more of its warp wait for the lanes 0xffffffff",
      "thread (16,0,0) and 15 more of its warp execute another one, at ", "checks.cu:229"}},
    {"exited_lanes",
     64,
     false,
     {"called at checks.cu:244", "shuffle that takes the value of a lane that has exited",
      "thread (12,0,0): takes the value of lane 16", "used at checks.cu:244"}},
    {"sum_of_the_left",
     64,
     true,
     {"called at checks.cu:255", "shuffle that takes the value of a lane that has exited", "used at checks.cu:258"}},
    {"three_bytes",
     64,
     false,
     {"checks.cu:269", "uninitialised: read of 4 bytes, of which the one at 0x",
      "was never written, and is computed with", "used at checks.cu:269"}},
    {"gap_of_a_structure", 64, false, {"checks.cu:280", "and is computed with", "used at checks.cu:283"}},
    {"decides_by_a_byte", 64, false, {"checks.cu:296", "and is computed with"}},
    {"shifted_byte", 64, false, {"checks.cu:307", "and is computed with", "used at checks.cu:310"}},
    {"masked_byte", 64, false, {"checks.cu:321", "and is computed with", "used at checks.cu:321"}},
    {"shifted_bits", 64, true, {"checks.cu:332", "and is computed with", "used at checks.cu:332"}},
    {"inverted_bits", 64, true, {"checks.cu:342", "and is computed with", "used at checks.cu:343"}},
    {"field_of_a_word", 64, false, {"checks.cu:354", "and is computed with", "used at checks.cu:358"}},
    {"bit_by_bit", 64, false, {"checks.cu:372", "of which the one at 0x3 was never written", "used at checks.cu:372"}},
    {"lane_left_out",
     64,
     false,
     {"called at checks.cu:379", "shuffle that takes the value of a lane that its member mask leaves out",
      "thread (0,0,0): takes the value of lane 16", "used at checks.cu:379"}},
    {"behind_constants",
     64,
     true,
     {"heddle: error: checks.cu:387 in void behind_constants<false>", "illegal constant address 0x3a980 (4-byte load",
      "found 1 place (memory 1)"}},
    {"lonely_barrier",
     64,
     false,
     {"heddle: error: checks.cu:394 in ", "deadlock: a block waits at barriers", "found 1 place (sync 1)"}},
    {"leak", 60, false, {"checks.cu:142", "leak: 48 bytes of malloc at 0x", "and 29 cases more"}},
};

launch launch_of(const std::string& kernel, const pair_of_kernels& p) {
  launch l;
  l.file = "checks.ptx";
  l.kernel = kernel;
  l.blocks = 1;
  l.threads = p.threads;
  l.arguments.emplace_back("out:" + std::to_string(p.threads == 64 ? 256 : 240) + ":o.bin");
  if (p.counts) l.arguments.emplace_back(std::string(p.name) == "unwritten_local" ? "u32:9" : "u32:60");
  l.shared_bytes = std::string(p.name) == "behind_shared" ? 240 : 0;
  return l;
}

TEST(sanitize_checks, tell_wrong_kernels_from_correct_ones) {
  for (const char* gpu : {"v100", "gtx1080"})
    for (const pair_of_kernels& p : pairs) {
      const bool of_masks = std::string(p.name) == "member_mask" || std::string(p.name).rfind("half_", 0) == 0 ||
                            std::string(p.name) == "exited_lanes" || std::string(p.name) == "sum_of_the_left" ||
                            std::string(p.name) == "lane_left_out";
      if (of_masks && std::string(p.name) != "half_written" && std::string(gpu) == "gtx1080")
        continue;  // there masks mean nothing
      SCOPED_TRACE(std::string(p.name) + " " + gpu);
      const outcome bad = run(launch_of("bad_" + std::string(p.name), p), gpu);
      EXPECT_EQ(bad.code, 1) << bad.err;
      for (const char* text : p.said) EXPECT_NE(bad.err.find(text), std::string::npos) << text << "\n" << bad.err;
      const outcome good = run(launch_of("good_" + std::string(p.name), p), gpu);
      EXPECT_EQ(good.code, 0) << good.err;
      EXPECT_EQ(good.err, "");
    }
}

TEST(sanitize_options, choose_what_is_looked_for) {
  const launch race = {"races.ptx", "race_missing_barrier", 2, 64, {"out:1024:o.bin"}};
  EXPECT_EQ(run(race, "a100", "--sanitize=memory,sync,leaks").code, 0);
  EXPECT_EQ(run(race, "a100", "--sanitize=races").code, 1);
  EXPECT_EQ(run(race, "a100", "").code, 0);
  const outcome wrong = run(race, "a100", "--sanitize=race");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_EQ(wrong.err,
            "heddle: error: --sanitize: got 'race', expected a list of races, memory, init, sync, leaks, did you mean "
            "'races'?\n");
  EXPECT_EQ(run(race, "a100", "--sanitize-json f.json").code, 2);
  ASSERT_EQ(run(race, "a100", "--sanitize=sync,races --sanitize-json f.json").code, 1);
  const json found = json::parse(content(ptx_runs::place_of_test() / "f.json"));
  EXPECT_EQ(found["schema"], "heddle.sanitize/1");
  EXPECT_EQ(found["kinds"], json({"races", "sync"}));
  ASSERT_FALSE(found["findings"].empty());
  EXPECT_EQ(found["findings"][0]["kind"], "races");
  EXPECT_EQ(found["findings"][0]["kernel"], "race_missing_barrier");
  EXPECT_GT(found["findings"][0]["cases"].get<int>(), 1);
  EXPECT_EQ(found["findings"][0]["details"].size(), 2u);
}

TEST(sanitize_options, are_refused_for_traces) {
  const auto place = ptx_runs::place_of_test();
  std::filesystem::create_directories(place);
  const outcome o = ptx_runs::outcome_in(
      place,
      std::system(
          ("cd '" + place.string() + "' && '" HEDDLE_PROGRAM "' replay list.g --sanitize >stdout 2>stderr").c_str()));
  EXPECT_EQ(o.code, 2);
  EXPECT_EQ(o.err.find("heddle: error: --sanitize: a trace has no data that"), 0u) << o.err;
}

std::string without_host(const std::string& metrics) {
  json m = json::parse(metrics);
  m.erase("host");
  return m.dump();
}

/// Runs a workload; returns its outcome.
outcome workload(const std::string& name, const std::string& options) {
  const auto place = ptx_runs::place_of_test();
  std::filesystem::create_directories(place);
  return ptx_runs::outcome_in(
      place, std::system(("cd '" + place.string() + "' && '" HEDDLE_PROGRAM "' run '" HEDDLE_WORKLOADS "/" + name +
                          "/job.json' --quiet " + options + " >stdout 2>stderr")
                             .c_str()));
}

// Lanes that meet in pairs: each reads what its partner wrote, or what a lane of another pair did.
TEST(sanitize_tiles, of_a_warp_are_not_one_meeting) {
  const auto code_of = [](const char* partner) {
    return std::string(R"(.version 7.8
.target sm_80
.address_size 64
.visible .entry tiles(.param .u64 out) {
  .reg .b32 %r<12>;
  .reg .b64 %rd<6>;
  .shared .align 4 .b8 cells[128];
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 2;
  mov.u32 %r3, cells;
  add.u32 %r4, %r3, %r2;
  st.shared.u32 [%r4], %r1;
  and.b32 %r5, %r1, 30;
  mov.u32 %r6, 3;
  shl.b32 %r7, %r6, %r5;
  bar.warp.sync %r7;
  xor.b32 %r8, %r2, )") +
           partner + R"(;
  add.u32 %r9, %r3, %r8;
  ld.shared.u32 %r10, [%r9];
  cvt.u64.u32 %rd2, %r2;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r10;
  ret;
}
)";
  };
  const auto checked = [&](const char* partner) {
    return ptx_runs::run_job({{"k.ptx", code_of(partner)},
                              {"job.json", R"({"module": "k.ptx", "buffers": {"o": {"bytes": 128}}, "launches": [
      {"kernel": "tiles", "grid": [1], "block": [32], "args": [{"buffer": "o"}]}]})"}},
                             "--gpu a100 --sanitize");
  };
  const outcome good = checked("4"), bad = checked("8");
  EXPECT_EQ(good.code, 0) << good.err;
  EXPECT_EQ(bad.code, 1);
  EXPECT_NE(bad.err.find("race: read of shared memory"), std::string::npos) << bad.err;
}

TEST(sanitize_runs_of_workloads, find_nothing_and_keep_the_timing) {
  for (const auto& entry : std::filesystem::directory_iterator(HEDDLE_WORKLOADS)) {
    const std::string name = entry.path().filename();
    if (!entry.is_directory() || name == "sgemm") continue;  // sgemm_register_tiled is shorter
    SCOPED_TRACE(name);
    const outcome plain = workload(name, "--gpu v100 --metrics plain.json");
    const outcome checked = workload(name, "--gpu v100 --metrics checked.json --sanitize");
    EXPECT_EQ(plain.code, 0) << plain.err;
    EXPECT_EQ(checked.code, 0) << checked.err;
    // The marks of bfs race, and are meant.
    if (name == "bfs") EXPECT_EQ(checked.err.find("heddle: warning: "), 0u) << checked.err;
    else EXPECT_EQ(checked.err, "");
    EXPECT_EQ(checked.err.find("heddle: error: "), std::string::npos) << checked.err;
    const auto place = ptx_runs::place_of_test();
    EXPECT_EQ(without_host(content(place / "plain.json")), without_host(content(place / "checked.json")));
  }
}

TEST(sanitize_findings, do_not_depend_on_threads_and_timing) {
  const launch race = {"races.ptx", "race_tile_loop", 40, 64, {"out:16384:o.bin"}};
  const outcome one = run(race, "v100", "--sanitize --threads 1");
  EXPECT_EQ(one.code, 1);
  for (const char* options :
       {"--sanitize --threads 3", "--sanitize --set sub_partition.scheduler=lrr --set fp32.latency_cycles=9"})
    EXPECT_EQ(run(race, "v100", options).err, one.err) << options;
}

}  // namespace sanitize_checks_test
