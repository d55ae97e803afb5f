// SPDX-License-Identifier: MIT
// Clusters that are preempted: their blocks leave together and return together. That kernels of clusters give the same
// when they are preempted anywhere is tested where they are (expect_same_when_preempted).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "tests/system/common/json_text.h"
#include "tests/system/common/ptx_run.h"

namespace cluster_preemption_test {

using json = nlohmann::ordered_json;
using ptx_runs::outcome;

/// Three streams of clusters: rings of 4 and 8 blocks through global memory, and of 2 through shared memory.
json job_of(unsigned launches, unsigned blocks, unsigned rounds) {
  json job = {{"module", HEDDLE_SOURCE "/tests/system/run/clusters.ptx"}};
  const struct {
    const char* kernel;
    unsigned threads, ranks;
  } kinds[] = {{"ring", 256, 8}, {"ring", 256, 4}, {"shared_ring", 128, 2}};
  for (unsigned n = 0; n < launches; ++n) {
    const std::string name(1, static_cast<char>('a' + n));
    job["buffers"][name] = {{"bytes", 4 * 2 * blocks * 256}, {"fill", "random:" + std::to_string(n)}};
    job["outputs"].push_back({{"buffer", name}, {"file", name + ".bin"}});
    job["launches"].push_back({{"kernel", kinds[n].kernel},
                               {"grid", {blocks}},
                               {"block", {kinds[n].threads}},
                               {"cluster", {kinds[n].ranks}},
                               {"shared_bytes", 4096},
                               {"stream", n},
                               {"priority", n},
                               {"at_cycle", 3000 * n},
                               {"args", {{{"buffer", name}}, {{"u32", rounds}}}}});
  }
  return job;
}

json preemption_of(const json& sm, const std::string& mode) {
  return json::array({{{"at_cycle", 4000}, {"sm", sm}, {"mode", mode}, {"resume_after", 3000}}});
}

/// Its outputs, one after the other.
std::string run(const json& job, const std::string& options) {
  const outcome o = ptx_runs::run_job({{"job.json", job.dump()}}, "--gpu h100 --metrics m.json " + options);
  EXPECT_EQ(o.code, 0) << o.err;
  std::string outputs;
  for (const json& file : job["outputs"])
    outputs += ptx_runs::content(ptx_runs::place_of_test() / file["file"].get<std::string>());
  return outputs;
}

json metrics_of_test() { return json::parse(ptx_runs::content(ptx_runs::place_of_test() / "m.json")); }

TEST(preempted_clusters, leave_when_all_sms_are_asked) {
  json job = job_of(1, 16, 40);
  const std::string expected = run(job, "");
  for (const std::string mode : {"switch", "auto", "drain"}) {
    job["preempt"] = preemption_of("all", mode);
    EXPECT_TRUE(run(job, "") == expected) << mode;
    const json switches = metrics_of_test()["context_switches"];
    EXPECT_EQ(switches.size(), 16u) << mode;
    for (const json& s : switches) EXPECT_EQ(s["mode"], mode == "auto" ? "switch" : mode);
  }
}

TEST(preempted_clusters, leave_the_sms_that_are_not_asked_too) {
  json job = job_of(1, 8, 40);
  const std::string expected = run(job, "");
  job["preempt"] = preemption_of(0, "switch");
  EXPECT_TRUE(run(job, "") == expected);
  const json m = metrics_of_test();
  EXPECT_EQ(m["preempt_requests"]["asked"], 1);
  ASSERT_EQ(m["context_switches"].size(), 8u);
  std::uint64_t quiesced = 0, first_saved = ~0ull, saved = 0, restored = ~0ull, resumed = 0;
  for (const json& s : m["context_switches"]) {
    quiesced = std::max<std::uint64_t>(quiesced, s["quiesced_cycle"]);
    first_saved = std::min<std::uint64_t>(first_saved, s["saved_cycle"]);
    saved = std::max<std::uint64_t>(saved, s["saved_cycle"]);
    restored = std::min<std::uint64_t>(restored, s["restore_cycle"]);
    resumed = resumed == 0 ? s["resumed_cycle"].get<std::uint64_t>() : resumed;
    EXPECT_EQ(s["resumed_cycle"], resumed) << "all run again in one cycle";
    EXPECT_EQ(s["blocks"].size(), 1u);
    EXPECT_GT(s["bytes_saved"], 8u * 32 * 4 * 8) << "eight registers of eight warps";
  }
  EXPECT_LT(quiesced, first_saved) << "none is saved before all are quiet";
  EXPECT_GE(restored, saved + 3000);
}

// More urgent ones, and time slices, on SMs that one stream fills.
TEST(preempted_clusters, make_room_for_each_other) {
  const json job = job_of(3, 48, 9);
  const std::string small = "--set gpu.sm_count=8 --set gpu.gpc_count=1 --set memory.channels=4 ";
  std::string expected;
  for (const std::string how : {"", "--set context.priority_preemption=switch",
                                "--set context.priority_preemption=auto", "--set context.time_slice_cycles=3000"})
    for (const char* threads : {" --threads 1", " --threads 2"}) {
      const std::string outputs = run(job, small + how + threads);
      if (expected.empty()) expected = outputs;
      EXPECT_TRUE(outputs == expected) << how << threads;
      const json switches = metrics_of_test().value("context_switches", json::array());
      EXPECT_EQ(switches.empty(), how.empty()) << how;
      for (const json& s : switches) EXPECT_EQ(s["mode"], "switch") << how;
    }
}

}  // namespace cluster_preemption_test
