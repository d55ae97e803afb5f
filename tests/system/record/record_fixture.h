// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/system/common/json_text.h"
#include "tests/system/common/program_run.h"
#include "tests/system/common/text_file.h"

namespace record_fixture {

namespace fs = std::filesystem;
using heddle::test::content;
using heddle::test::outcome;
using json = nlohmann::json;
using words = std::vector<std::string>;

/// Runs, their traces, and replays, in a folder of the test's own.
class record : public ::testing::Test {
 protected:
  record() {
    const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
    place_ = fs::path(HEDDLE_SCRATCH "/record") / test->test_suite_name() / test->name();
    fs::remove_all(place_);
    fs::create_directories(place_);
  }
  ~record() override {
    std::error_code ignored;
    if (!HasFailure()) fs::remove_all(place_, ignored);
  }
  outcome heddle(words arguments) const {
    arguments.insert(arguments.begin(), HEDDLE_PROGRAM);
    return heddle::test::run_program(arguments, {place_, "stdout", "stderr", 600});
  }
  /// What replay and run have in common: all but the texts of the sources, the host, and the numbers of
  /// launches, which are those of the job or of the program's calls.
  [[nodiscard]] json metrics(const std::string& name) const {
    json m = json::parse(content(place_ / name));
    for (const char* const key : {"host", "sources"}) m.erase(key);
    for (json& kernel : m.at("kernels")) {
      kernel.erase("launch");
      for (json& line : kernel.at("lines")) line.erase("text");
    }
    return m;
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(place_ / name, std::ios::binary) << text;
  }
  void expect_same(const outcome& ran, const outcome& again) const {
    ASSERT_EQ(ran.code, 0) << ran.err;
    ASSERT_EQ(again.code, 0) << again.err;
    EXPECT_EQ(again.err, "");
    const json a = metrics("run.json"), b = metrics("again.json");
    EXPECT_TRUE(a == b) << json::diff(a, b).dump(1).substr(0, 2000);
  }
  void run_and_replay(const words& run, const words& options) const {
    fs::remove_all(place_ / "d");
    words recorded{"run", "--quiet", "--record", "d", "--metrics", "run.json"};
    recorded.insert(recorded.end(), run.begin(), run.end());
    words replayed{"replay", "d/kernelslist.g", "--quiet", "--metrics", "again.json"};
    for (words* const w : {&recorded, &replayed}) w->insert(w->end(), options.begin(), options.end());
    const outcome ran = heddle(recorded);
    expect_same(ran, heddle(replayed));
  }
  static std::string job_of(const std::string& workload) { return HEDDLE_WORKLOADS "/" + workload + "/job.json"; }
  static void expect_refused(const outcome& r, const std::string& what) {
    EXPECT_EQ(r.code, 2) << what;
    EXPECT_NE(r.first_line().find(what), std::string::npos) << what << "\n" << r.err;
    EXPECT_EQ(r.err, r.first_line() + "\n");
  }
  fs::path place_;
};

}  // namespace record_fixture
