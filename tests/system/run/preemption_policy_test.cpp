// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "preemption_fixture.h"

namespace preemption_policy_test {

using namespace preemption_fixture;

TEST_F(preemption, only_kernels_shown_idempotent_are_dropped) {
  for (const auto& entry : fs::directory_iterator(HEDDLE_WORKLOADS)) {
    if (!fs::exists(entry.path() / "job.json")) continue;
    const std::string name = entry.path().filename().string();
    json job = job_of(name);
    // After the end of the short ones: the test is whether the mode is accepted.
    job["preempt"] = {{{"at_cycle", 1500}, {"mode", "flush"}, {"resume_after", 50}}};
    const result r = run(job, "--gpu v100 --set gpu.sm_count=4 --max-cycles 2500");
    if (can_be_dropped(name)) {
      EXPECT_NE(2, r.code) << r.log;
    } else {
      EXPECT_EQ(2, r.code) << r.log;
      EXPECT_NE(std::string::npos, r.log.find("is not shown idempotent")) << r.log;
    }
  }
}

TEST_F(preemption, dropped_blocks_restart_and_nothing_is_saved) {
  json job = job_of("fft");
  const std::string options = "--gpu v100 --set gpu.sm_count=2";
  const result base = run(job, options);
  ASSERT_EQ(0, base.code) << base.log;
  job["preempt"] = {{{"at_cycle", 1500}, {"mode", "flush"}, {"resume_after", 1000}}};
  const result r = run(job, options);
  ASSERT_EQ(0, r.code) << r.log;
  EXPECT_TRUE(r.bytes == base.bytes);
  check_switches(r);
  EXPECT_EQ(2u, modes_seen_["flush"]);
  const auto executed = [](const result& x) {
    return x.metrics["kernels"][0]["metrics"]["inst_executed"].get<std::uint64_t>();
  };
  EXPECT_GT(executed(r), executed(base)) << "the dropped work was not done again";
}

TEST_F(preemption, auto_decides_by_block) {
  json job = {{"module", HEDDLE_SOURCE "/testbench/occupancy/turning.ptx"},
              {"buffers", json::object()},
              {"outputs", json::array()}};
  // Blocks of one to eight units of work: at any time some have just begun, some end soon, and the remaining time of
  // others is unknown.
  job["launches"] = {{{"kernel", "turning"},
                      {"grid", {24, 1, 1}},
                      {"block", {256, 1, 1}},
                      {"args", {{{"u32", 100}}, {{"u32", 0}}, {{"u32", 60}}}}}};
  std::set<std::string> seen;
  for (const unsigned at : {8200, 13800, 26400}) {
    job["preempt"] = {{{"at_cycle", at}, {"mode", "auto"}, {"resume_after", 500}}};
    const result r = run(job, "--gpu v100 --set gpu.sm_count=1 --set sm.max_blocks=6");
    ASSERT_EQ(0, r.code) << r.log;
    check_switches(r);
    ASSERT_EQ(1u, r.metrics["context_switches"].size()) << "one entry per request, SM and kernel";
    const json& s = r.metrics["context_switches"][0];
    EXPECT_EQ(6u, s["blocks"].size());
    EXPECT_EQ(6u, s["block_modes"].size());
    EXPECT_EQ("auto", s["mode"]) << s;
    for (const json& mode : s["block_modes"]) seen.insert(mode.get<std::string>());
    EXPECT_GE(s["restore_cycle"].get<std::uint64_t>(), s["saved_cycle"].get<std::uint64_t>() + 500)
        << "counted from the last block's leaving";
  }
  EXPECT_EQ((std::set<std::string>{"drain", "flush", "switch"}), seen);
}

// The holder of a lock is not switched out while the blocks that spin on it drain.
TEST_F(preemption, auto_lets_no_block_wait_for_one_that_is_swapped_out) {
  json job = job_of("spin_lock");
  job["preempt"] = {{{"at_cycle", 28804}, {"mode", "auto"}, {"sm", 0}, {"resume_after", 700}},
                    {{"at_cycle", 28847}, {"mode", "switch"}, {"resume_after", 0}},
                    {{"at_cycle", 39553}, {"mode", "auto"}, {"resume_after", 700}}};
  const result r = run(job, "--gpu gtx1080 --set gpu.sm_count=1 --max-cycles 2000000");
  ASSERT_EQ(0, r.code) << r.log;
  for (const json& s : r.metrics["context_switches"]) EXPECT_NE("auto", s["mode"]) << "in different modes: " << s;
}

// A request that arrives while its SM is being freed waits, is not merged with the previous one, and may find the SM
// empty.
TEST_F(preemption, requests_that_overlap_are_counted) {
  json job = job_of("saxpy");
  const std::string options = "--gpu gtx1080 --set gpu.sm_count=1";
  const result base = run(job, options);
  const auto start = base.metrics["kernels"][0]["start_cycle"].get<std::uint64_t>();
  EXPECT_EQ(0u, base.metrics["preempt_requests"]["asked"].get<unsigned>());
  const auto requests = [&](std::uint64_t at, std::uint64_t away, std::uint64_t next) {
    job["preempt"] = {{{"at_cycle", at}, {"resume_after", away}}, {{"at_cycle", next}, {"resume_after", 0}}};
    const result r = run(job, options);
    EXPECT_EQ(0, r.code) << r.log;
    EXPECT_EQ(2u, r.metrics["preempt_requests"]["asked"].get<unsigned>());
    EXPECT_EQ(
        2u, r.metrics["preempt_requests"]["found_no_blocks"].get<std::size_t>() + r.metrics["context_switches"].size());
    return r.metrics["context_switches"].size();
  };
  EXPECT_EQ(1u, requests(start + 300, 9000, start + 301)) << "nothing is left when the first one has ended";
  EXPECT_EQ(2u, requests(start + 300, 0, start + 300 + 5000)) << "the blocks are back";
  EXPECT_EQ(0u, requests(1, 0, 2)) << "none has come";
}

TEST_F(preemption, auto_takes_what_its_estimate_says_is_cheapest) {
  const std::string options = "--gpu v100 --set gpu.sm_count=2";
  const auto mode_at = [&](json job, std::uint64_t cycle) {
    job["preempt"] = {{{"at_cycle", cycle}, {"mode", "auto"}, {"resume_after", 10}}};
    const result r = run(job, options);
    EXPECT_EQ(0, r.code) << r.log;
    check_switches(r);
    return r.metrics["context_switches"].empty() ? std::string("none")
                                                 : r.metrics["context_switches"][0]["mode"].get<std::string>();
  };
  const result base = run(job_of("pointer_chase"), options);
  const auto start = base.metrics["kernels"][0]["start_cycle"].get<std::uint64_t>();
  EXPECT_EQ("flush", mode_at(job_of("pointer_chase"), start + 30)) << "little has been run that would be lost";
  EXPECT_EQ("switch", mode_at(job_of("pointer_chase"), start + 1000))
      << "much has been run, and nothing is known of how long blocks take";
  // Kernels with spin locks must not be flushed; before any block has ended its duration is unknown.
  EXPECT_EQ("switch", mode_at(job_of("spin_lock"), 1500));
}

}  // namespace preemption_policy_test
