// SPDX-License-Identifier: MIT
// `heddle sample` as users run it, in a folder of its own.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/system/common/json_text.h"
#include "tests/system/common/program_run.h"
#include "tests/system/common/text_file.h"

namespace sample_test {

namespace fs = std::filesystem;
using json = nlohmann::json;
using words = std::vector<std::string>;

class samples : public ::testing::Test {
 protected:
  samples() {
    place_ = fs::path(HEDDLE_SCRATCH "/samples") / ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(place_);
    fs::create_directories(place_);
  }
  [[nodiscard]] heddle::test::outcome run(words arguments) const {
    arguments.insert(arguments.begin(), {HEDDLE_PROGRAM, "sample"});
    return heddle::test::run_program(arguments, {place_});
  }
  /// In a process group of its own.
  [[nodiscard]] pid_t start(words arguments) const {
    arguments.insert(arguments.begin(), {HEDDLE_PROGRAM, "sample"});
    return heddle::test::start_program(arguments, {place_, "stdout", "stderr", 500, 0, true});
  }
  /// A program of tests/sampling.
  [[nodiscard]] heddle::test::outcome script(const std::string& name, words arguments) const {
    arguments.insert(arguments.begin(), {"python3", HEDDLE_SOURCE "/tests/sampling/" + name});
    return heddle::test::run_program(arguments, {place_});
  }
  void expect_refused(const words& arguments, const std::string& why) const {
    const auto o = run(arguments);
    EXPECT_EQ(2, o.code) << why;
    EXPECT_NE(std::string::npos, o.err.find(why)) << o.err << "wanted: " << why;
    EXPECT_EQ(1, std::count(o.err.begin(), o.err.end(), '\n')) << o.err;
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(place_ / name) << text; }
  [[nodiscard]] json read(const std::string& name) const { return json::parse(heddle::test::content(place_ / name)); }
  void write_traces(unsigned launches) const {
    const auto o = script("decoder_traces.py", {"traces", "--launches", std::to_string(launches)});
    ASSERT_EQ(0, o.code) << o.err;
  }
  fs::path place_;
};

}  // namespace sample_test
