// SPDX-License-Identifier: MIT
// Each cause of lost occupancy, produced by a small kernel, is the one that metrics and summary name; the parts sum to
// the loss.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/system/common/json_text.h"
#include "tests/system/common/text_file.h"

namespace lost_occupancy_test {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;
using heddle::test::content;

/// Fifteen SMs with four blocks of 512 threads each, whose warps issue round robin. Code takes the same time to all
/// SMs, as from a kernel's second launch on: an SM that has its code first ends its blocks first and takes all the next
/// ones.
const char* const gpu =
    " --gpu gtx1080 --set sub_partition.scheduler=lrr --set gpu.sm_count=15 --set sm.max_blocks=4"
    " --set instruction_cache.second_level_misses=fixed";

class lost_occupancy : public ::testing::Test {
 protected:
  lost_occupancy()
      : place_(fs::path(HEDDLE_SCRATCH "/lost_occupancy") /
               ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::create_directories(place_);
  }
  void run(const std::string& what, const std::string& machine = gpu) {
    const fs::path metrics = place_ / "metrics.json", log = place_ / "log.txt";
    const std::string command = "'" HEDDLE_PROGRAM "' run " + what + machine + " --metrics '" + metrics.string() +
                                "' >'" + log.string() + "' 2>&1";
    const int status = std::system(command.c_str());
    summary_ = content(log);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << command << "\n" << summary_;
    metrics_ = json::parse(content(metrics));
    for (const json& k : metrics_["kernels"]) {
      double sum = 0;
      for (const auto& [name, share] : k["lost_occupancy"].items()) {
        EXPECT_GE(share.get<double>(), -1e-12) << name;
        sum += share.get<double>();
      }
      EXPECT_NEAR(lost(k), sum, 1e-9) << k["lost_occupancy"];
    }
  }
  void run(unsigned blocks, unsigned turns, unsigned by_warp, unsigned by_block, const std::string& options = "") {
    run("--kernel '" HEDDLE_SOURCE "/testbench/occupancy/turning.ptx' --grid " + std::to_string(blocks) +
        " --block 512 --arg u32:" + std::to_string(turns) + " --arg u32:" + std::to_string(by_warp) +
        " --arg u32:" + std::to_string(by_block) + options);
  }
  static double lost(const json& k) {
    return k["theoretical_occupancy"].get<double>() - k["metrics"]["achieved_occupancy"].get<double>();
  }
  /// Expects a loss of `share` of the warp slots, at least 85 % of it for this cause.
  void expect_cause(const char* name, const char* text, double share) {
    const json& k = metrics_["kernels"][0];
    EXPECT_NEAR(share, lost(k), 0.06);
    EXPECT_GE(k["lost_occupancy"][name].get<double>(), 0.85 * lost(k)) << k["lost_occupancy"];
    const std::size_t at = summary_.find("lost to");
    ASSERT_NE(std::string::npos, at) << summary_;
    EXPECT_NE(std::string::npos, summary_.find(text, at)) << summary_;
  }

  const fs::path place_;
  std::string summary_;
  json metrics_;
};

// Sixteen warps that end one after the other: on average they are present for half of the block's time.
TEST_F(lost_occupancy, to_imbalance_within_blocks) {
  run(60, 1, 100, 0);
  expect_cause("imbalance_within_blocks", "imbalance within blocks", 0.48);
}

// Each SM has blocks of one to eight units of work; the last ones run faster, because they have the SM to themselves.
TEST_F(lost_occupancy, to_imbalance_between_blocks) {
  run(60, 100, 0, 600);
  expect_cause("imbalance_between_blocks", "imbalance between blocks", 0.31);
}

TEST_F(lost_occupancy, to_too_few_blocks) {
  run(45, 1000, 0, 0);
  expect_cause("too_few_blocks", "too few blocks", 0.25);
}

// A full wave, and one with a quarter of the blocks, which runs faster, because it has the SMs to itself.
TEST_F(lost_occupancy, to_a_partial_last_wave) {
  run(75, 1000, 0, 0);
  EXPECT_EQ(1.25, metrics_["kernels"][0]["waves"].get<double>());
  expect_cause("partial_last_wave", "partial last wave", 0.24);
}

// The CWD sends a block to each SM every 15 x 60 cycles, and the block needs half of that time.
TEST_F(lost_occupancy, to_launch_latency) {
  run(300, 20, 0, 0, " --set cwd.dispatch_interval_cycles=60");
  expect_cause("launch_latency", "launch latency", 0.75);
}

TEST_F(lost_occupancy, to_blocks_of_other_kernels) {
  json job = {{"module", HEDDLE_SOURCE "/testbench/occupancy/turning.ptx"},
              {"buffers", json::object()},
              {"outputs", json::array()}};
  for (unsigned stream = 0; stream < 2; ++stream)
    job["launches"].push_back({{"kernel", "turning"},
                               {"grid", {30, 1, 1}},
                               {"block", {512, 1, 1}},
                               {"stream", stream},
                               {"args", {{{"u32", 1000}}, {{"u32", 0}}, {{"u32", 0}}}}});
  std::ofstream(place_ / "job.json") << job;
  run("'" + (place_ / "job.json").string() + "'");
  ASSERT_EQ(2u, metrics_["kernels"].size());
  expect_cause("other_kernels", "other kernels", 0.5);
}

// A kernel that needs little shared memory runs on SMs whose carve-out was chosen for one that needs all of it.
TEST_F(lost_occupancy, achieved_is_never_above_theory_beside_another_carveout) {
  json job = {{"module", HEDDLE_SOURCE "/testbench/occupancy/turning.ptx"},
              {"buffers", json::object()},
              {"outputs", json::array()}};
  for (unsigned stream = 0; stream < 2; ++stream)
    job["launches"].push_back({{"kernel", "turning"},
                               {"grid", {stream == 0 ? 1 : 30, 1, 1}},
                               {"block", {64, 1, 1}},
                               {"stream", stream},
                               {"shared_bytes", 4000},
                               {"carveout", stream == 0 ? 100 : 8},
                               {"at_cycle", 1000 * stream},
                               {"args", {{{"u32", 2000}}, {{"u32", 0}}, {{"u32", 0}}}}});
  std::ofstream(place_ / "job.json") << job;
  run("'" + (place_ / "job.json").string() + "' --gpu v100 --set gpu.sm_count=1", "");
  const json& k = metrics_["kernels"][1];
  ASSERT_EQ(1, k["launch"].get<int>());
  EXPECT_EQ(2, k["blocks_per_sm"].get<int>());
  EXPECT_EQ(4.0 / 64, k["theoretical_occupancy"].get<double>());
  EXPECT_NEAR(4.0 / 64, k["metrics"]["achieved_occupancy"].get<double>(), 0.002);
}

// The samples over time agree with the kernel's metric.
TEST_F(lost_occupancy, is_shown_over_time_for_each_kernel) {
  run(75, 1000, 0, 0);
  const json& k = metrics_["kernels"][0];
  const json& series = k["occupancy_over_time"];
  const std::uint64_t step = series["step_cycles"], from = series["from_cycle"], start = k["start_cycle"];
  const std::size_t steps = series["achieved_occupancy"].size();
  EXPECT_LE(from, start);
  EXPECT_GT(from + step, start);
  EXPECT_LE(steps, 128u);
  EXPECT_GE(steps, 60u);
  ASSERT_EQ(steps, series["active_sms"].size());
  double warp_cycles = 0, active = 0;
  for (std::size_t n = 0; n < steps; ++n) {
    const double occupancy = series["achieved_occupancy"][n], sms = series["active_sms"][n];
    EXPECT_LE(occupancy, k["theoretical_occupancy"].get<double>());
    EXPECT_LE(sms, 15.0);
    warp_cycles += occupancy * sms * static_cast<double>(step) * 64;
    active += sms * static_cast<double>(step);
  }
  EXPECT_NEAR(1, warp_cycles / k["warp_cycles"]["active"].get<double>(), 1e-9);
  EXPECT_NEAR(k["metrics"]["achieved_occupancy"].get<double>(), warp_cycles / active / 64, 1e-9);
  EXPECT_NEAR(1.0, series["achieved_occupancy"][steps / 3].get<double>(), 0.01);
  EXPECT_NEAR(0.25, series["achieved_occupancy"][steps - 4].get<double>(), 0.01);
}

TEST_F(lost_occupancy, is_shown_over_time_for_each_sm) {
  run(75, 1000, 0, 0);
  const json& k = metrics_["kernels"][0];
  const unsigned latency = metrics_["gpu"]["config"]["cwd.launch_latency_cycles"];
  EXPECT_GE(k["launch_cycles"].get<unsigned>(), latency);
  EXPECT_LE(k["launch_cycles"].get<unsigned>(), latency + 10) << "the way to the SM";
  double active = 0, series = 0;
  for (const json& sm : metrics_["sms"]) {
    active += sm["active_warps"].get<double>();
    const double step = sm["occupancy_step_cycles"];
    for (const json& share : sm["occupancy_over_time"]) series += share.get<double>() * step * 64;
    EXPECT_LE(sm["occupancy_over_time"].size(), 256u);
    EXPECT_GT(sm["occupancy_over_time"].size(), 100u);
    // All slots at first, a quarter of them at the end.
    EXPECT_NEAR(1.0, sm["occupancy_over_time"][20].get<double>(), 0.01);
    EXPECT_NEAR(0.25, sm["occupancy_over_time"][sm["occupancy_over_time"].size() - 5].get<double>(), 0.01);
  }
  EXPECT_NEAR(active, series, active * 1e-9);
}

}  // namespace lost_occupancy_test
