// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/system/common/json_text.h"
#include "tests/system/common/text_file.h"
#include "tests/unit/common/random_numbers.h"

namespace preemption_fixture {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;
using heddle::test::content;
using heddle::test::random_numbers;

inline void make_absolute(json& owner, const char* key, const fs::path& directory) {
  if (owner.contains(key)) owner[key] = (directory / owner[key].get<std::string>()).string();
}

struct result {
  int code = -1;
  std::string bytes;  // concatenated outputs
  json metrics;
  std::string log;
};

/// Runs the jobs of workloads with additions.
class preemption : public ::testing::Test {
 protected:
  preemption() : place_(place()) { fs::create_directories(place_); }
  ~preemption() override {
    std::error_code ignored;
    if (!HasFailure()) fs::remove_all(place_, ignored);
  }

  // A separate folder for each test and process: they run in parallel, also twice in one build tree.
  static fs::path place() {
    const auto& test = *::testing::UnitTest::GetInstance()->current_test_info();
    std::string name = std::string(test.test_suite_name()) + "." + test.name();
    std::replace(name.begin(), name.end(), '/', '_');
    return fs::path(HEDDLE_SCRATCH "/preemption") / (name + "." + std::to_string(::getpid()));
  }

  json job_of(const std::string& workload) {
    const fs::path directory = fs::path(HEDDLE_WORKLOADS) / workload;
    json job = json::parse(content(directory / "job.json"));
    make_absolute(job, "module", directory);
    for (auto& [name, buffer] : job["buffers"].items()) make_absolute(buffer, "file", directory);
    if (job.contains("symbols")) {
      for (json& symbol : job["symbols"]) make_absolute(symbol, "file", directory);
    }
    unsigned n = 0;
    for (json& output : job["outputs"]) {
      make_absolute(output, "expect", directory);
      output["file"] = (place_ / (std::to_string(n++) + ".out.bin")).string();
    }
    return job;
  }

  result run(const json& job, const std::string& options) {
    result r;
    std::ofstream(place_ / "job.json") << job.dump(2);
    for (const json& output : job["outputs"]) fs::remove(output["file"].get<std::string>());
    const fs::path log = place_ / "log.txt", metrics = place_ / "metrics.json";
    const std::string command = "'" HEDDLE_PROGRAM "' run '" + (place_ / "job.json").string() +
                                "' --quiet --metrics '" + metrics.string() + "' " + options + " >'" + log.string() +
                                "' 2>&1";
    const int status = std::system(command.c_str());
    r.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    r.log = command + "\n" + content(log);
    if (r.code != 0) return r;
    r.metrics = heddle::test::whole_run_metrics(content(metrics));
    for (const json& output : job["outputs"]) r.bytes += content(output["file"].get<std::string>());
    return r;
  }

  /// Checks the invariants of each switch.
  void check_switches(const result& r) {
    for (const json& s : r.metrics["context_switches"]) {
      const auto at = [&](const char* key) { return s[key].get<std::uint64_t>(); };
      ASSERT_LE(at("request_cycle"), at("quiesced_cycle"));
      ASSERT_LE(at("quiesced_cycle"), at("saved_cycle"));
      ASSERT_LE(at("saved_cycle"), at("restore_cycle"));
      ASSERT_LE(at("restore_cycle"), at("resumed_cycle"));
      ASSERT_FALSE(s["blocks"].empty());
      ++modes_seen_[s["mode"]];
      ASSERT_EQ(s["sm"], s["restored_sm"]);
      if (s["mode"] == "flush") {  // all warps of the blocks restart
        ASSERT_LE(s["warp_ids"].size(), s["restored_warp_ids"].size());
        ASSERT_EQ(0u, at("bytes_saved"));
        ASSERT_EQ(at("restore_cycle"), at("resumed_cycle"));
      }
      if (s["mode"] != "switch") continue;
      ASSERT_EQ(s["warp_ids"], s["restored_warp_ids"]);
      ASSERT_GE(at("bytes_saved"), 128 * s["warp_ids"].size());
      ASSERT_EQ(at("bytes_saved"), at("bytes_restored"));
    }
  }

  /// Runs `runs` cases of the sample that starts with `seed`. `switched` counts the SMs with a switch.
  void sample(std::uint64_t seed, unsigned runs, const std::vector<std::string>& workloads) {
    static const std::vector<std::string> gpus = {"p100", "gtx1080", "v100",    "rtx2060",
                                                  "a100", "rtx3070", "rtx4090", "h100"};
    random_numbers random(seed);
    // Without preemption neither the protocol monitor nor the choice of saved registers has an effect on cycles or
    // outputs; the parts of a sample in one process share these runs.
    struct undisturbed_run {
      std::uint64_t cycles = 0;
      std::string bytes;
    };
    static std::map<std::string, undisturbed_run> undisturbed;
    unsigned switched = 0, between = 0, twice = 0;
    for (unsigned k = 0; k < runs; ++k) {
      const std::string workload = random.one_of(workloads);
      std::string gpu = random.one_of(gpus);
      // These chips have no tensor units.
      if (workload == "wmma_gemm" && (gpu == "p100" || gpu == "gtx1080")) gpu = "v100";
      // Few SMs: more blocks on each, and less to simulate.
      std::string options = "--gpu " + gpu + " --set gpu.sm_count=" + std::to_string(1 + random.below(4)), more;
      if (random.below(4) == 0) more += " --set tlm.check=true";
      if (random.below(2) == 0) more += " --set context.saved_registers=live";
      if (workload == "intra_warp_lock") options += " --set sub_partition.divergence=independent";
      json job = job_of(workload);
      const auto [known, is_new] = undisturbed.try_emplace(workload + options);
      undisturbed_run& base = known->second;
      if (is_new) {
        const result r = run(job, options);
        ASSERT_EQ(0, r.code) << r.log;
        base = {r.metrics["cycles"].get<std::uint64_t>(), r.bytes};
      }
      options += more;
      const std::uint64_t cycles = base.cycles;
      json list = json::array();
      std::uint64_t at = random.below(cycles);
      const bool with_another = random.below(3) == 0;
      if (with_another)
        add_another_kernel(job, at + random.below(300), static_cast<int>(random.below(2)),
                           static_cast<unsigned>(20 + random.below(300)));
      for (std::uint64_t n = 1 + random.below(4); n != 0; --n) {
        static const std::vector<std::string> modes = {"switch", "switch", "switch", "switch",
                                                       "drain",  "auto",   "flush"};
        json p = {{"at_cycle", at}, {"mode", random.one_of(modes)}};
        if (p["mode"] == "flush" && !can_be_dropped(workload)) p["mode"] = "auto";
        if (random.below(3) == 0) p["sm"] = 0;
        // Enough time for another kernel, if there is one, to run in between.
        p["resume_after"] =
            std::vector<int>{0, 1, 700, 20000}[with_another && list.empty() ? 2 + random.below(2) : random.below(4)];
        list.push_back(p);
        switch (random.below(5)) {
          case 0: at += 1 + random.below(50); break;
          case 1: at += random.below(20000); break;
          default:
            at += p["resume_after"].get<std::uint64_t>() + 1000 +
                  random.below(5000);  // about when the blocks are restored
        }
      }
      job["preempt"] = list;
      const result r = run(job, options);
      ASSERT_EQ(0, r.code) << "run " << k << ": " << list << "\n" << r.log;
      ASSERT_TRUE(r.bytes == base.bytes) << "other bytes in run " << k << ": " << list << "\n" << r.log;
      check_switches(r);
      if (HasFailure()) FAIL() << "run " << k << ": " << list << "\n" << r.log;
      switched += static_cast<unsigned>(r.metrics["context_switches"].size());
      between += with_another && another_ran_between(r);
      twice += switched_twice(r);
    }
    EXPECT_GT(switched, runs / 2) << "most runs have nothing to preempt";
    EXPECT_GE(between, runs / 50) << "hardly any other kernel ran while blocks were away";
    EXPECT_GE(twice, runs / 15) << "hardly any SM was preempted twice";
  }

  /// A launch in a separate stream, small enough for any free slot; it writes no memory.
  static void add_another_kernel(json& job, std::uint64_t at, int priority, unsigned turns) {
    job["modules"] = {job["module"], HEDDLE_SOURCE "/testbench/occupancy/turning.ptx"};
    job.erase("module");
    job["launches"].push_back({{"kernel", "turning"},
                               {"grid", {24, 1, 1}},
                               {"block", {128, 1, 1}},
                               {"stream", 99},
                               {"priority", priority},
                               {"at_cycle", at},
                               {"args", {{{"u32", turns}}, {{"u32", 7}}, {{"u32", 11}}}}});
  }

  /// True if the launch of stream 99 began on an SM after blocks were saved and before they were restored.
  static bool another_ran_between(const result& r) {
    for (const json& k : r.metrics["kernels"])
      for (const json& s : r.metrics["context_switches"])
        if (k["stream"] == 99 && s["mode"] == "switch" &&
            r.metrics["kernels"][s["kernel"].get<std::size_t>()]["stream"] != 99 &&
            k["start_cycle"] >= s["saved_cycle"] && k["start_cycle"] < s["restore_cycle"])
          return true;
    return false;
  }

  /// True if blocks of a kernel were saved, restored and saved again on an SM.
  static bool switched_twice(const result& r) {
    std::map<std::pair<unsigned, unsigned>, std::uint64_t> back;
    for (const json& s : r.metrics["context_switches"]) {
      const std::pair<unsigned, unsigned> where{s["sm"], s["kernel"]};
      const auto before = back.find(where);
      if (before != back.end() && s["request_cycle"].get<std::uint64_t>() >= before->second) return true;
      back[where] = s["resumed_cycle"];
    }
    return false;
  }

  /// True if mode flush is allowed for the workload's kernels (docs/model/preemption.md).
  static bool can_be_dropped(const std::string& workload) {
    static const std::set<std::string> names = {
        "black_scholes", "convolution", "divergent",     "fft",       "hotspot",
        "kmeans",        "mandelbrot",  "pointer_chase", "sgemm",     "sgemm_register_tiled",
        "spmv",          "stencil_f64", "transpose",     "vector_add"};
    return names.count(workload) != 0;
  }

  const fs::path place_;
  std::map<std::string, unsigned> modes_seen_;
};

}  // namespace preemption_fixture
