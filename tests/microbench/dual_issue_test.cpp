// SPDX-License-Identifier: MIT
// The pairs of instructions that can issue together on each GPU, in both orders: the table of docs/model/scheduling.md.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/system/common/json_text.h"

namespace dual_issue_test {

namespace fs = std::filesystem;

// Range of the share of issued instructions that issue in pairs.
struct share {
  double least;
  double most;
};

struct rule {
  const char* gpu;
  share fp32_fp32;
  share fp32_int;
  share fp32_shared;
  share fp32_sfu;
};

constexpr share none{0, 0};
// A few pairs may occur at the start and end of the kernels.
constexpr share measurement_noise{0, 0.006};
constexpr rule rules[] = {
    {"g80", none, none, none, none},
    {"gtx480", none, none, none, none},
    {"gtxtitan", {0.8, 1}, {0.8, 1}, {0.5, 1}, {0.25, 1}},
    {"gtx980", measurement_noise, measurement_noise, {0.04, 0.3}, {0.08, 0.3}},
    {"p100", measurement_noise, measurement_noise, {0.04, 0.3}, {0.08, 0.3}},
    {"gtx1080", measurement_noise, measurement_noise, {0.04, 0.3}, {0.08, 0.3}},
    {"v100", none, none, none, none},
    {"h100", none, none, none, none},
};

double paired(const std::string& gpu, const std::string& kernel, const std::string& options = "") {
  const fs::path place = fs::path(HEDDLE_SCRATCH "/dual_issue") / ("dual_" + gpu + "_" + kernel);
  fs::create_directories(place);
  const std::string metrics = (place / "metrics.json").string();
  const std::string command = "'" HEDDLE_PROGRAM "' run --kernel '" HEDDLE_MICROBENCH "/dual_issue.ptx:" + kernel +
                              "' --grid 1 --block 32 --arg buf:65536 --quiet --gpu " + gpu + " --metrics '" + metrics +
                              "' " + options;
  const int status = std::system(command.c_str());
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << command;
  if (::testing::Test::HasFailure()) return -1;
  std::ifstream in(metrics);
  const auto m = nlohmann::json::parse(in)["kernels"][0]["metrics"];
  EXPECT_EQ(m["inst_issued"].get<double>(), m["inst_issued1"].get<double>() + 2 * m["inst_issued2"].get<double>());
  EXPECT_EQ(m["inst_issued"], m["inst_executed"]);
  return 2 * m["inst_issued2"].get<double>() / m["inst_issued"].get<double>();
}

class dual_issue : public ::testing::TestWithParam<rule> {
 protected:
  void expect(const char* kernel, const share& s) {
    const double p = paired(GetParam().gpu, kernel);
    std::printf("%-10s %-12s %5.1f %% in pairs\n", GetParam().gpu, kernel, 100 * p);
    EXPECT_GE(p, s.least) << kernel;
    EXPECT_LE(p, s.most) << kernel;
  }
};

TEST_P(dual_issue, pairs_what_the_rule_allows_and_nothing_else) {
  expect("fp32_fp32", GetParam().fp32_fp32);
  expect("fp32_int", GetParam().fp32_int);
  expect("fp32_shared", GetParam().fp32_shared);
  expect("fp32_sfu", GetParam().fp32_sfu);
  // Only the loop counter and the kernel's start and end can pair here.
  expect("dependent", GetParam().fp32_int.least > 0 ? share{0, 0.05} : measurement_noise);
}

INSTANTIATE_TEST_SUITE_P(all, dual_issue, ::testing::ValuesIn(rules),
                         [](const auto& info) { return std::string(info.param.gpu); });

TEST(dual_issue_options, width_and_rule_are_configuration) {
  EXPECT_EQ(paired("gtxtitan", "fp32_int", "--set sub_partition.issue_width=1"), 0);
  EXPECT_EQ(paired("gtxtitan", "fp32_int", "--set sub_partition.dual_issue=none"), 0);
  EXPECT_GT(paired("gtx1080", "fp32_int",
                   "--set sub_partition.dual_issue=any --set sub_partition.operand_read=collector "
                   "--set sub_partition.dependence=scoreboard"),
            0.8);
  EXPECT_LT(paired("gtxtitan", "fp32_fp32", "--set fp32.shared_lanes=0 --set int.shared_lanes=0"), 0.1);
}

}  // namespace dual_issue_test
