// SPDX-License-Identifier: MIT
// Every workload through the command line, on two GPUs, under two schedulers, with two issue widths: the outputs are
// as expected, and their bytes do not depend on the timing; the timing and all other metrics are those recorded in
// tests/system/golden_metrics/workloads (./dev golden renew writes them). The suite runs each workload in every second
// way, and each way with every second workload; long_all runs all. A workload's needs.txt names the least compute
// capability that it needs: then two GPUs are used that have it, and gtx1080 must reject the job. long_every runs each
// workload under every policy on every GPU; each run checks its invariants (warp-cycle states sum to active
// warp-cycles, no scheduler selects more than one warp a cycle, ...).
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/system/common/golden_metrics.h"
#include "tests/system/common/text_file.h"

namespace workloads_test {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;
using heddle::test::content;

std::vector<std::string> workloads() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(HEDDLE_WORKLOADS)) {
    if (fs::exists(entry.path() / "job.json")) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

void make_absolute(json& owner, const char* key, const fs::path& directory) {
  if (owner.contains(key)) owner[key] = (directory / owner[key].get<std::string>()).string();
}

class workload : public ::testing::TestWithParam<std::string> {
 protected:
  workload()
      : place_(fs::path(HEDDLE_SCRATCH "/workloads") /
               ::testing::UnitTest::GetInstance()->current_test_info()->test_suite_name() / GetParam()) {
    fs::create_directories(place_);
  }

  // Writes a copy of the workload's job with its input paths and with outputs in the test's folder.
  void write_job() {
    const fs::path directory = fs::path(HEDDLE_WORKLOADS) / GetParam();
    json job = json::parse(content(directory / "job.json"));
    make_absolute(job, "module", directory);
    for (auto& [name, buffer] : job["buffers"].items()) make_absolute(buffer, "file", directory);
    if (job.contains("symbols")) {
      for (json& symbol : job["symbols"]) make_absolute(symbol, "file", directory);
    }
    for (json& output : job["outputs"]) {
      checked_ += output.contains("expect");
      make_absolute(output, "expect", directory);
      const fs::path file = place_ / (std::to_string(files_.size()) + ".out.bin");
      output["file"] = file.string();
      files_.push_back(file);
    }
    std::ofstream(place_ / "job.json") << job.dump(2);
  }

  // Runs the job and returns the concatenated outputs.
  std::string run(const std::string& options) {
    for (const fs::path& file : files_) fs::remove(file);
    const fs::path log = place_ / "log.txt";
    const std::string command = "'" HEDDLE_PROGRAM "' run '" + (place_ / "job.json").string() +
                                "' --quiet --metrics '" + metrics() + "' " + options + " >'" + log.string() + "' 2>&1";
    const int status = std::system(command.c_str());
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << command << "\n" << content(log);
    std::string bytes;
    for (const fs::path& file : files_) {
      EXPECT_TRUE(fs::exists(file)) << file;
      bytes += content(file);
    }
    return bytes;
  }

  // The message of a run that must end with exit code 2.
  std::string refusal(const std::string& options) {
    const fs::path log = place_ / "refusal.txt";
    const std::string command = "'" HEDDLE_PROGRAM "' run '" + (place_ / "job.json").string() + "' --quiet " + options +
                                " >'" + log.string() + "' 2>&1";
    const int status = std::system(command.c_str());
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 2) << command;
    return content(log);
  }

  void compare_in(bool all_ways);

  std::string metrics() const { return (place_ / "metrics.json").string(); }

  const fs::path place_;
  std::vector<fs::path> files_;
  int checked_ = 0;
};

// gtx1080 and v100 with lrr and gto and both issue widths, each other policy once, on three GPUs, and with the options
// that some policies need. A release build runs all of them; slow builds (debug, sanitizers) run the first and the
// last.
std::vector<std::string> ways(bool needs_more) {
  const std::string cached = " --set l1.cache_global_loads=true --set sub_partition.scheduler=";
  std::vector<std::string> all = {
      "--gpu gtx1080 --set sub_partition.issue_width=1 --set sub_partition.scheduler=lrr",
      "--gpu gtx1080 --set sub_partition.dependence=scoreboard --set sub_partition.scheduler=gto",
      "--gpu gtx1080 --set sub_partition.scheduler=oldest",
      "--gpu gtx1080 --set sub_partition.fetch_group_warps=4 --set sub_partition.scheduler=two_level",
      "--gpu gtxtitan --set l1.prefetch_lines=3" + cached + "prefetch_aware",
      "--gpu gtxtitan --set ldst.reexecution_entries=32 --set l1.mshr_entries=16" + cached + "memory_aware",
      "--gpu gtx1080 --set tlm.check=true --set sub_partition.scheduler=lrr",
      "--gpu gtx1080 --set sub_partition.issue_width=1 --set sub_partition.scheduler=gto",
      "--gpu v100 --set sub_partition.scheduler=lrr",
      "--gpu v100 --set sub_partition.issue_width=2 --set sub_partition.dual_issue=any --set sub_partition.scheduler=lrr",
      "--gpu v100 --set tlm.check=true --set sub_partition.scheduler=gto",
      "--gpu v100 --set sub_partition.issue_width=2 --set sub_partition.dual_issue=any --set sub_partition.scheduler=gto",
      "--gpu v100 --set sub_partition.scheduler=cggty",
      "--gpu v100 --set l1.size_bytes=8192 --set sub_partition.scheduler=ccws",
  };
  if (needs_more) {
    for (std::string& way : all) {
      for (const auto& [old, newer] :
           {std::pair<std::string, std::string>{"gtx1080", "a100"}, {"gtxtitan", "rtx2080ti"}}) {
        if (const auto at = way.find(old); at != std::string::npos) way.replace(at, old.size(), newer);
      }
    }
  }
#ifdef NDEBUG
  return all;
#else
  return {all.front(), all.back()};
#endif
}

std::vector<std::string> every_second(const std::vector<std::string>& all, const std::string& workload) {
  const std::vector<std::string> names = workloads();
  const auto place = std::find(names.begin(), names.end(), workload) - names.begin();
  std::vector<std::string> some;
  for (std::size_t i = place % 2; i < all.size(); i += 2) some.push_back(all[i]);
  return some;
}

void workload::compare_in(bool all_ways) {
  write_job();
  ASSERT_GT(checked_, 0) << "the job expects nothing";
  std::string first;
  // Lanes that wait for each other deadlock on a reconvergence stack.
  const std::string needed = GetParam() == "intra_warp_lock" ? " --set sub_partition.divergence=independent" : "";
  const std::string needs = content(fs::path(HEDDLE_WORKLOADS) / GetParam() / "needs.txt");
  if (!needs.empty()) {
    EXPECT_NE(refusal("--gpu gtx1080").find("needs compute capability " + needs.substr(0, needs.find('\n'))),
              std::string::npos);
  }
  heddle::test::golden_file recorded(HEDDLE_SOURCE "/tests/system/golden_metrics/workloads/" + GetParam() + ".txt",
                                     " : ");
  std::vector<std::string> chosen = ways(!needs.empty());
  if (!all_ways && !recorded.renews() && chosen.size() > 2) chosen = every_second(chosen, GetParam());
  for (const std::string& way : chosen) {
    const std::string options = way + needed;
    const std::string bytes = run(options);
    if (HasFailure()) return;
    recorded.compare(options, heddle::test::metrics_summary(metrics()));
    ASSERT_FALSE(bytes.empty());
    if (first.empty()) first = bytes;
    ASSERT_TRUE(bytes == first) << "other output bytes with " << options;
  }
}

TEST_P(workload, gives_the_same_right_outputs_whatever_the_timing) { compare_in(false); }

class workload_in_all_ways : public workload {};

TEST_P(workload_in_all_ways, gives_the_same_right_outputs) { compare_in(true); }

// A GPU that cannot run a workload rejects it with exit code 2.
class every_gpu_and_policy : public workload {};

TEST_P(every_gpu_and_policy, gives_the_same_outputs) {
  write_job();
  std::string first;
  unsigned ran = 0;
  for (const char* gpu : {"g80", "gtx480", "gtxtitan", "gtx750ti", "gtx980", "p100", "gtx1080", "titanxp", "v100",
                          "rtx2060", "rtx2080ti", "a100", "rtx3070", "rtx3080", "rtx4090", "h100", "b200", "rtx5090"}) {
    for (const char* policy :
         {"lrr", "gto", "oldest", "two_level", "prefetch_aware", "memory_aware", "ccws", "cggty"}) {
      // Once with all checks, including control codes against the scoreboard.
      const std::string checked = std::string(policy) == "gto" ? " --set tlm.check=true" : "";
      const std::string options =
          std::string("--gpu ") + gpu + " --set gpu.sm_count=4 --set sub_partition.scheduler=" + policy + checked +
          (GetParam() == "intra_warp_lock" ? " --set sub_partition.divergence=independent" : "");
      const fs::path log = place_ / "every.txt";
      for (const fs::path& file : files_) fs::remove(file);
      const int status = std::system(("'" HEDDLE_PROGRAM "' run '" + (place_ / "job.json").string() + "' --quiet " +
                                      options + " >'" + log.string() + "' 2>&1")
                                         .c_str());
      ASSERT_TRUE(WIFEXITED(status));
      // This GPU cannot run it; wrong options would fail everywhere, so no run would count.
      if (WEXITSTATUS(status) == 2) break;
      ASSERT_EQ(WEXITSTATUS(status), 0) << options << "\n" << content(log);
      std::string bytes;
      for (const fs::path& file : files_) bytes += content(file);
      if (first.empty()) first = bytes;
      ASSERT_TRUE(bytes == first) << "other output bytes with " << options;
      ++ran;
    }
  }
  std::printf("%s: %u of 144\n", GetParam().c_str(), ran);
  EXPECT_GE(ran, 8u);
}

INSTANTIATE_TEST_SUITE_P(long_every, every_gpu_and_policy, ::testing::ValuesIn(workloads()),
                         [](const auto& info) { return info.param; });

INSTANTIATE_TEST_SUITE_P(all, workload, ::testing::ValuesIn(workloads()), [](const auto& info) { return info.param; });
INSTANTIATE_TEST_SUITE_P(long_all, workload_in_all_ways, ::testing::ValuesIn(workloads()),
                         [](const auto& info) { return info.param; });

}  // namespace workloads_test
