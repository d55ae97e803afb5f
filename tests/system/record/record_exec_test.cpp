// SPDX-License-Identifier: MIT
// CUDA programs that --record records, and the replay of their launches.
#include <algorithm>
#include <utility>

#include "tests/system/record/record_fixture.h"

namespace record_exec_test {

using record_fixture::content;
namespace fs = record_fixture::fs;
using record_fixture::json;
using record_fixture::outcome;
using record_fixture::words;

class record_exec : public record_fixture::record {
 protected:
  outcome exec(const std::string& program, const words& options) const {
    words all{"exec", "--quiet", "--gpu", "v100", "--record", "d", "--metrics", "run.json"};
    all.insert(all.end(), options.begin(), options.end());
    all.insert(all.end(), {"--", HEDDLE_CUDA_PROGRAMS, HEDDLE_SOURCE "/tests/system/cuda/kernels.fatbin", program});
    return heddle(all);
  }
  outcome replay() const {
    return heddle({"replay", "d/kernelslist.g", "--quiet", "--gpu", "v100", "--metrics", "again.json"});
  }
  /// The kernels, without the host's time behind the last one.
  json by_start(const std::string& name) const {
    json all = metrics(name).at("kernels");
    std::sort(all.begin(), all.end(), [](const json& a, const json& b) {
      return std::pair(a.at("start_cycle"), a.at("stream")) < std::pair(b.at("start_cycle"), b.at("stream"));
    });
    return all;
  }
};

TEST_F(record_exec, launches_take_the_same_cycles) {
  for (const std::string program : {"vectors", "streams"}) {
    SCOPED_TRACE(program);
    fs::remove_all(place_ / "d");
    const outcome ran = exec(program, {}), again = replay();
    ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
    ASSERT_EQ(again.code, 0) << again.err;
    const json a = by_start("run.json"), b = by_start("again.json");
    EXPECT_GE(a.size(), 1u);
    EXPECT_TRUE(a == b) << json::diff(a, b).dump(1).substr(0, 2000);
  }
}

TEST_F(record_exec, only_launches_that_are_simulated_are_recorded) {
  const outcome ran = exec("threads", {"--launches", "1,3-4"}), again = replay();
  ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(by_start("again.json").size(), 3u);
  EXPECT_EQ(by_start("run.json"), by_start("again.json"));
}

TEST_F(record_exec, a_class_that_a_trace_does_not_hold_is_named_once) {
  const outcome r = exec("prints", {});
  EXPECT_EQ(r.code, 1) << r.err;
  const std::string what = "--record: no trace is written: kernel '";
  const std::size_t at = r.err.find(what);
  ASSERT_NE(at, std::string::npos) << r.err;
  EXPECT_NE(r.err.find("has calls of the device runtime", at), std::string::npos) << r.err;
  EXPECT_EQ(r.err.find(what, at + 1), std::string::npos) << r.err;
  EXPECT_FALSE(fs::exists(place_ / "d"));
}

TEST_F(record_exec, a_folder_that_cannot_be_made_is_refused_before_the_program_starts) {
  const outcome r = heddle({"exec", "--quiet", "--record", "/proc/x", "--", HEDDLE_CUDA_PROGRAMS,
                            HEDDLE_SOURCE "/tests/system/cuda/kernels.fatbin", "vectors"});
  EXPECT_EQ(r.code, 2);
  EXPECT_EQ(r.err.find("heddle: error: --record: a file in the folder '/proc' cannot be made: "), 0u) << r.err;
  EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
}

}  // namespace record_exec_test
