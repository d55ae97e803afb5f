// SPDX-License-Identifier: MIT
// Shared parts of the memory microbenchmarks: create a job, run it with the program, and compare its results.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/system/common/json_text.h"
#include "tests/system/common/text_file.h"

namespace heddle::test {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

inline json argument(const char* buffer) { return {{"buffer", buffer}}; }
inline json number(std::uint64_t value) { return {{"u32", value}}; }
inline json launch(const char* kernel, std::uint64_t blocks, unsigned threads, json arguments) {
  return {{"kernel", kernel},
          {"grid", {blocks, 1, 1}},
          {"block", {threads, 1, 1}},
          {"carveout", 0},
          {"args", std::move(arguments)}};
}

class memory_figures : public ::testing::Test {
 protected:
  /// Runs launches of `module`; stores the words of buffer `cycles` in cycles_, the first one in clocks_, and the
  /// metrics in metrics_.
  void run(const std::string& gpu, json buffers, json launches, bool flush = false, const char* module = "memory.ptx") {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    std::string name = std::string(test->test_suite_name()) + "_" + test->name();
    for (char& c : name)
      if (c == '/') c = '_';
    const fs::path place = fs::path(HEDDLE_SCRATCH "/memory_figures") / name;
    fs::create_directories(place);
    const fs::path result = place / "cycles.bin";
    const fs::path metrics = place / "metrics.json";
    fs::remove(result);
    buffers["cycles"] = {{"bytes", cycle_bytes_}};
    const json job = {{"module", (fs::path(HEDDLE_MICROBENCH) / module).string()},
                      {"buffers", std::move(buffers)},
                      {"launches", std::move(launches)},
                      {"outputs", {{{"buffer", "cycles"}, {"file", result.string()}}}}};
    std::ofstream(place / "job.json") << job.dump(1);
    const std::string command = "'" HEDDLE_PROGRAM "' run '" + (place / "job.json").string() + "' --quiet --gpu " +
                                gpu + " --metrics '" + metrics.string() + "'" +
                                (flush ? " --set l2.flush_at_completion=true" : "") + options_ + " >'" +
                                (place / "log.txt").string() + "' 2>&1";
    const int status = std::system(command.c_str());
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << command << "\n" << content(place / "log.txt");
    const std::string bytes = content(result);
    ASSERT_EQ(bytes.size(), cycle_bytes_);
    cycles_.resize(cycle_bytes_ / sizeof clocks_);
    bytes.copy(reinterpret_cast<char*>(cycles_.data()), cycle_bytes_);
    clocks_ = cycles_.front();
    metrics_ = json::parse(content(metrics));
  }

  /// Prints model, published figure and difference; fails if the difference exceeds `tolerance` (a ratio).
  void compare(const std::string& gpu, const std::string& what, double model, double published, double tolerance,
               const std::string& source) {
    std::printf("%-8s %-34s model %8.1f  published %8.1f  %+6.1f %%  %s\n", gpu.c_str(), what.c_str(), model, published,
                100 * (model / published - 1), source.c_str());
    EXPECT_NEAR(model, published, tolerance * published) << gpu << " " << what;
  }

  std::string options_;  // further options of the command, each preceded by a blank
  std::size_t cycle_bytes_ = 8;
  std::vector<std::uint32_t> cycles_;
  std::uint32_t clocks_ = 0;
  json metrics_;
};

}  // namespace heddle::test
