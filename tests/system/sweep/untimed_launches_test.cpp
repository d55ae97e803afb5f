// SPDX-License-Identifier: MIT
// Launches of a list that only fill the L2 (Untimed,FILE), and local memory of blocks that are not simulated.
#include <algorithm>
#include <string>
#include <vector>

#include "tests/system/record/record_fixture.h"

namespace untimed_launches_test {

using record_fixture::content;
using record_fixture::json;
using record_fixture::outcome;
using record_fixture::words;

class untimed_launches : public record_fixture::record {
 protected:
  /// Records `count` vector additions of buffers of 480 KiB, c = a + b, b + c, c + a ...: all fit the L2.
  void record_launches(unsigned count) {
    const char* const names = "abcbcacab";
    std::string launches;
    for (unsigned k = 0; k < count; ++k) {
      launches += std::string(launches.empty() ? "" : ", ") +
                  R"({"kernel": "vector_add", "grid": [480, 1, 1], "block": [256, 1, 1], "args": [)";
      for (unsigned n = 0; n < 3; ++n) launches += std::string(R"({"buffer": ")") + names[3 * (k % 3) + n] + R"("}, )";
      launches += R"({"s32": 122880}]})";
    }
    std::string buffers;
    for (const char* name : {"a", "b", "c"})
      buffers += std::string(buffers.empty() ? "\"" : ", \"") + name + R"(": {"bytes": 491520, "fill": "iotaf"})";
    write("job.json", R"({"module": ")" HEDDLE_WORKLOADS R"(/vector_add/vector_add.ptx", "buffers": {)" + buffers +
                          R"(}, "launches": [)" + launches + "]}");
    const outcome o = heddle({"run", "job.json", "--quiet", "--record", "d", "--metrics", "whole.json"});
    ASSERT_EQ(0, o.code) << o.err;
    for (const auto& f : record_fixture::fs::directory_iterator(place_ / "d"))
      if (f.path().filename().string().rfind("kernel-", 0) == 0) traces_.push_back("d/" + f.path().filename().string());
    std::sort(traces_.begin(), traces_.end());
    ASSERT_EQ(count, traces_.size());
  }
  [[nodiscard]] json replayed(const std::string& list, const words& more = {}) const {
    write("list.g", list);
    words all = {"replay", "list.g", "--quiet", "--metrics", "m.json"};
    all.insert(all.end(), more.begin(), more.end());
    const outcome o = heddle(all);
    EXPECT_EQ(0, o.code) << o.err;
    return metrics("m.json");
  }
  static double cycles_of(const json& metrics, std::size_t kernel = 0) {
    return metrics.at("kernels").at(kernel).at("cycles");
  }
  std::vector<std::string> traces_;
};

TEST_F(untimed_launches, leave_the_l2_as_simulated_ones_do) {
  record_launches(3);
  const double whole = cycles_of(metrics("whole.json"), 2), cold = cycles_of(replayed(traces_[2] + "\n"));
  const std::string list = "Untimed," + traces_[0] + "\nUntimed, " + traces_[1] + "\n" + traces_[2] + "\n";
  const json warm = replayed(list, {"--threads", "1"});
  ASSERT_EQ(1u, warm.at("kernels").size());
  EXPECT_GT(cold, 1.3 * whole);
  EXPECT_GE(cycles_of(warm), whole);
  EXPECT_LE(cycles_of(warm), whole + 400);  // the instruction caches of the SMs are empty
  EXPECT_EQ(0, warm.at("kernels").at(0).at("metrics").at("dram_read_transactions"));
  EXPECT_EQ(warm, replayed(list, {"--threads", "3"}));
}

// What was touched before as many lines as the L2 holds does not matter.
TEST_F(untimed_launches, are_read_as_far_back_as_the_l2_reaches) {
  record_launches(3);
  const words small = {"--set", "l2.size_bytes=65536", "--threads", "1"};
  const std::string last = "Untimed," + traces_[1] + "\n" + traces_[2] + "\n";
  EXPECT_EQ(replayed(last, small), replayed("Untimed," + traces_[0] + "\n" + last, small));
}

TEST_F(untimed_launches, are_refused_in_one_line) {
  record_launches(2);
  const auto refused = [&](const std::string& list, const words& more, const std::string& what) {
    write("list.g", list);
    words all = {"replay", "list.g", "--metrics", "none.json"};
    all.insert(all.end(), more.begin(), more.end());
    expect_refused(heddle(all), what);
    EXPECT_FALSE(record_fixture::fs::exists(place_ / "none.json"));
  };
  refused(traces_[0] + "\nUntimed," + traces_[1] + "\n", {}, "list.g:2:1: launches without time");
  refused("Untimed,nothing.traceg\n" + traces_[0] + "\n", {}, "list.g:1:1: expected Untimed,FILE");
  refused("Untimed,kernel-9.traceg\n" + traces_[0] + "\n", {}, "list.g:1:1: the trace 'kernel-9.traceg'");
  refused("Untimed," + traces_[1] + "\n", {}, "the list names no kernel");
  refused("Untimed," + traces_[1] + "\n" + traces_[0] + "\n", {"--cold"}, "--cold");
  write("d/kernel-8.traceg", content(place_ / traces_[0]).substr(0, 700));
  refused("Untimed,d/kernel-8.traceg\n" + traces_[0] + "\n", {}, "d/kernel-8.traceg:");
}

}  // namespace untimed_launches_test
