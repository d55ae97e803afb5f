// SPDX-License-Identifier: MIT
// --threads: the same metrics, outputs and texts for any number of host threads, and what is said where SMs stay on
// one. ahead_test.cpp compares more kinds of runs.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/bench/bench_traces.h"
#include "tests/system/common/json_text.h"
#include "tests/system/common/text_file.h"

namespace threads_test {

namespace fs = std::filesystem;
using heddle::test::content;
using json = nlohmann::json;

class threads : public ::testing::Test {
 protected:
  threads() : place_(fs::path(HEDDLE_SCRATCH "/threads") / std::to_string(::getpid())) {
    fs::create_directories(place_);
  }
  ~threads() override {
    std::error_code ignored;
    if (!HasFailure()) fs::remove_all(place_, ignored);
  }

  /// Runs the program; returns its exit code.
  [[nodiscard]] int run(const std::string& arguments) const {
    const int status = std::system(("'" HEDDLE_PROGRAM "' " + arguments + " >'" + (place_ / "out.txt").string() +
                                    "' 2>'" + (place_ / "err.txt").string() + "'")
                                       .c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  /// The bytes of the metrics up to those of the host, which differ from run to run.
  [[nodiscard]] std::string metrics(const std::string& arguments, unsigned threads) const {
    const fs::path file = place_ / "m.json";
    EXPECT_EQ(0, run(arguments + " --threads " + std::to_string(threads) + " --metrics '" + file.string() + "'"))
        << content(place_ / "err.txt");
    json m = json::parse(content(file));
    m.erase("host");
    return m.dump();
  }

  void same_for_all(const std::string& arguments) const {
    SCOPED_TRACE(arguments);
    const std::string one = metrics(arguments, 1);
    for (const unsigned n : {2u, 3u, 5u, 8u}) EXPECT_TRUE(one == metrics(arguments, n)) << n << " threads";
  }

  const fs::path place_;
};

TEST_F(threads, workloads) {
  for (const char* gpu : {"gtx1080", "v100"})
    for (const char* w : {"saxpy", "reduction", "bfs", "transpose"})
      same_for_all("run '" HEDDLE_WORKLOADS "/" + std::string(w) + "/job.json' --quiet --gpu " + gpu);
}

TEST_F(threads, traces) {
  const std::string list = bench::write_trace(bench::trace_kind::tiled_product, place_.string(), 60);
  same_for_all("replay --quiet --log-level error --gpu v100 '" + list + "'");
}

TEST_F(threads, where_sms_stay_on_one_is_said_once) {
  const std::string saxpy = "run '" HEDDLE_WORKLOADS "/saxpy/job.json' --quiet --threads 2 ";
  for (const std::string& option :
       {std::string("--set tlm.check=true"), "--timeline '" + (place_ / "t.json").string() + "'",
        std::string("--set interconnect.latency_cycles=1")}) {
    ASSERT_EQ(0, run(saxpy + option)) << content(place_ / "err.txt");
    const std::string said = content(place_ / "err.txt");
    const std::size_t at = said.find("--threads: ");
    EXPECT_NE(at, std::string::npos) << option << ": " << said;
    EXPECT_EQ(said.find("--threads: ", at + 1), std::string::npos) << said;
  }
  ASSERT_EQ(0, run(saxpy));
  EXPECT_EQ(content(place_ / "err.txt"), "");
}

TEST_F(threads, the_environment_names_the_usual_number) {
  const std::string saxpy = "run '" HEDDLE_WORKLOADS "/saxpy/job.json' --quiet --set tlm.check=true";
  ASSERT_EQ(0, ::setenv("HEDDLE_THREADS", "3", 1));
  EXPECT_EQ(0, run(saxpy));
  EXPECT_EQ(content(place_ / "err.txt"), "");  // threads were not asked for
  for (const char* n : {"0", "257", "two", ""}) {
    ::setenv("HEDDLE_THREADS", n, 1);
    EXPECT_EQ(2, run(saxpy)) << n;
    EXPECT_NE(content(place_ / "err.txt").find("HEDDLE_THREADS"), std::string::npos) << content(place_ / "err.txt");
  }
  EXPECT_EQ(0, run(saxpy + " --threads 1"));
  ::unsetenv("HEDDLE_THREADS");
  EXPECT_EQ(0, run(saxpy));
}

TEST_F(threads, a_number_that_makes_no_sense_is_refused) {
  for (const char* n : {"0", "-1", "257", "two"}) {
    EXPECT_EQ(2, run("run '" HEDDLE_WORKLOADS "/saxpy/job.json' --threads " + std::string(n))) << n;
    EXPECT_NE(content(place_ / "err.txt").find("--threads"), std::string::npos) << content(place_ / "err.txt");
  }
}

}  // namespace threads_test
