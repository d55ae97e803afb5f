// SPDX-License-Identifier: MIT
// Runs that --record records, and their replay, which has the same metrics. HEDDLE_RECORD_ALL=1: all workloads on four
// GPUs.
#include <cstdlib>
#include <set>
#include <utility>

#include "tests/system/record/record_fixture.h"

namespace record_test {

using record_fixture::content;
namespace fs = record_fixture::fs;
using record_fixture::json;
using record_fixture::outcome;
using record_fixture::record;
using record_fixture::words;

using run_of_workload = std::pair<std::string, std::string>;  // with the GPU

TEST_F(record, replays_have_the_metrics_of_the_run) {
  for (const auto& [workload, gpu] : std::vector<run_of_workload>{{"saxpy", "gtx480"},
                                                                  {"divergent", "gtx1080"},
                                                                  {"reduction", "v100"},
                                                                  {"histogram", "a100"},
                                                                  {"spin_lock", "h100"}}) {
    SCOPED_TRACE(workload + " on " + gpu);
    run_and_replay({job_of(workload)}, {"--gpu", gpu});
  }
}

TEST_F(record, the_number_of_threads_changes_nothing) {
  run_and_replay({job_of("hotspot"), "--threads", "3"}, {"--gpu", "a100"});
  run_and_replay({job_of("transpose")}, {"--gpu", "v100", "--threads", "3"});
}

TEST_F(record, every_workload_has_the_metrics_of_the_run) {
  if (std::getenv("HEDDLE_RECORD_ALL") == nullptr) GTEST_SKIP() << "set HEDDLE_RECORD_ALL to replay all workloads";
  const std::set<run_of_workload> others{{"intra_warp_lock", "gtx1080"}, {"wmma_gemm", "gtx1080"}};  // run on none
  for (const auto& entry : fs::directory_iterator(HEDDLE_WORKLOADS)) {
    const std::string workload = entry.path().filename().string();
    if (!fs::exists(entry.path() / "job.json") || workload == "texture_filter") continue;
    for (const std::string gpu : {"gtx1080", "v100", "a100", "h100"}) {
      SCOPED_TRACE(workload + " on " + gpu);
      if (others.count({workload, gpu}) == 0) run_and_replay({job_of(workload)}, {"--gpu", gpu});
    }
  }
}

const std::string lingering = R"(.version 6.0
.target sm_50
.address_size 64
.visible .entry linger(.param .u64 p, .param .u32 rounds)
{
  .reg .pred %q;
  .reg .b32 %r<6>;
  .reg .b64 %a, %b;
  .local .b32 kept[40];
  ld.param.u64 %a, [p];
  ld.param.u32 %r1, [rounds];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %b, %r2, 4;
  add.s64 %a, %a, %b;
  mov.u32 %r3, 0;
AGAIN:
  and.b32 %r4, %r3, 31;
  st.local.b32 [kept], %r3;
  ld.global.u32 %r5, [%a];
  add.u32 %r5, %r5, 1;
  st.global.u32 [%a], %r5;
  bar.sync %r4, 64;
  add.u32 %r3, %r3, 7;
  setp.lt.u32 %q, %r3, %r1;
  @%q bra AGAIN;
  ret;
}
)";

// Two kernels overlap; the barrier's number is computed.
const std::string streams = R"({"module": "k.ptx", "buffers": {"x": {"bytes": 4096}, "y": {"bytes": 4096}},
  "launches": [
    {"stream": 5, "kernel": "linger", "grid": [20, 1, 1], "block": [64, 1, 1], "args": [{"buffer": "x"}, {"u32": 16}]},
    {"stream": 2, "kernel": "linger", "grid": [3, 1, 1], "block": [64, 1, 1], "args": [{"buffer": "y"}, {"u32": 9}]},
    {"stream": 2, "kernel": "linger", "grid": [3, 1, 1], "block": [64, 1, 1], "priority": 3, "at_cycle": 40000,
     "args": [{"buffer": "y"}, {"u32": 9}]}]})";

class record_of_streams : public record {
 protected:
  record_of_streams() {
    write("k.ptx", lingering);
    write("job.json", streams);
  }
  [[nodiscard]] std::uint64_t last_start(const std::string& name) const {
    return metrics(name).at("kernels").back().at("start_cycle").get<std::uint64_t>();
  }
};

TEST_F(record_of_streams, kernels_overlap_as_in_the_run) {
  for (const std::string gpu : {"gtx1080", "v100"}) run_and_replay({"job.json"}, {"--gpu", gpu});
  const std::string list = content(place_ / "d/kernelslist.g");
  EXPECT_EQ(list.substr(0, 11), "MemcpyHtoD,");
  EXPECT_NE(list.find("kernel-1.traceg.zst\nkernel-2.traceg.zst\nMemcpyHtoD,0x0,0\nkernel-3.traceg.zst\n"),
            std::string::npos)
      << list;
}

TEST_F(record_of_streams, on_another_machine_launches_follow_each_other) {
  run_and_replay({"job.json"}, {"--gpu", "v100"});
  EXPECT_GE(last_start("again.json"), 40000u);
  for (const words& other :
       std::vector<words>{{"--gpu", "gtx1080"}, {"--gpu", "v100", "--set", "l2.latency_cycles=90"}}) {
    words replay{"replay", "d/kernelslist.g", "--quiet", "--metrics", "other.json"};
    replay.insert(replay.end(), other.begin(), other.end());
    const outcome r = heddle(replay);
    ASSERT_EQ(r.code, 0) << r.err;
    EXPECT_LT(last_start("other.json"), 40000u) << other.back();
  }
}

TEST_F(record_of_streams, blocks_that_do_not_fit_in_memory_are_replayed_the_same) {
  run_and_replay({"job.json"}, {"--gpu", "v100"});
  const json whole = metrics("again.json");
  const outcome r = heddle(
      {"replay", "d/kernelslist.g", "--quiet", "--metrics", "again.json", "--gpu", "v100", "--trace-memory", "0"});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_TRUE(whole == metrics("again.json"));
}

// Copies from global to shared memory have two ends, and some lanes read nothing.
TEST_F(record, asynchronous_copies_take_the_same_cycles) {
  write("job.json", R"({"module": ")" HEDDLE_SOURCE R"(/tests/system/memory/asynchronous_copy.ptx",
    "buffers": {"in": {"bytes": 400000, "fill": "iota32"}, "out": {"bytes": 65536}}, "launches": [
    {"kernel": "tiles", "grid": [12], "block": [128], "args": [{"buffer": "in"}, {"buffer": "out"}, {"u32": 23}]},
    {"kernel": "parts", "grid": [1], "block": [128], "args": [{"buffer": "in"}, {"buffer": "out"}]}]})");
  for (const std::string gpu : {"a100", "h100"}) run_and_replay({"job.json"}, {"--gpu", gpu});
}

TEST_F(record, a_trace_serves_other_commands) {
  run_and_replay({job_of("saxpy")}, {"--report", "report.html"});
  EXPECT_NE(content(place_ / "report.html").find("saxpy"), std::string::npos);
  expect_refused(heddle({"view", "d/kernelslist.g", "--pc", "0x10"}), "is the trace of a run of Heddle");
}

}  // namespace record_test
