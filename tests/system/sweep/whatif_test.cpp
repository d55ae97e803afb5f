// SPDX-License-Identifier: MIT
// heddle whatif: which changes of the machine are tried, what they save, and what it refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/system/common/json_text.h"
#include "tests/system/common/program_run.h"
#include "tests/system/common/text_file.h"

namespace whatif_test {

namespace fs = std::filesystem;
using row = std::map<std::string, std::string>;

constexpr const char* job = HEDDLE_WORKLOADS "/saxpy/job.json";
constexpr const char* kernel = "--run=--kernel " HEDDLE_WORKLOADS
                               "/saxpy/saxpy.ptx --grid 8 --block 128 --arg u32:1024 --arg f32:2 "
                               "--arg buf:4096:iotaf --arg buf:4096";

class whatif : public ::testing::Test {
 protected:
  whatif() {
    place_ = fs::path(HEDDLE_SCRATCH "/whatif") / ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(place_);
    fs::create_directories(place_);
  }
  heddle::test::outcome run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {HEDDLE_PROGRAM, "whatif"});
    return heddle::test::run_program(arguments, {place_});
  }
  /// The rows of the CSV; fields have no line ends.
  [[nodiscard]] std::vector<row> table() const {
    std::istringstream text(heddle::test::content(place_ / "w.csv"));
    std::vector<row> rows;
    std::vector<std::string> names;
    for (std::string line; std::getline(text, line);) {
      std::vector<std::string> fields(1);
      bool quoted = false;
      for (const char c : line) {
        if (c == '"') quoted = !quoted;
        else if (c == ',' && !quoted) fields.emplace_back();
        else fields.back() += c;
      }
      if (names.empty()) {
        names = fields;
        continue;
      }
      row r;
      for (std::size_t k = 0; k < names.size(); ++k) r[names[k]] = fields.at(k);
      rows.push_back(r);
    }
    return rows;
  }

  /// The best three are what runs with their options give.
  void verify_best(const std::string& workload, const std::vector<row>& rows) const {
    for (std::size_t k = 1; k <= 3; ++k) {
      std::vector<std::string> again{HEDDLE_PROGRAM, "run",     workload,    "--gpu",
                                     "gtx1080",      "--quiet", "--metrics", "m.json"};
      std::istringstream options(rows[k].at("options"));
      for (std::string word; options >> word;) again.push_back(word);
      ASSERT_EQ(heddle::test::run_program(again, {place_}).code, 0) << rows[k].at("options");
      const auto metrics = nlohmann::json::parse(heddle::test::content(place_ / "m.json"));
      EXPECT_EQ(std::to_string(metrics["cycles"].get<std::uint64_t>()), rows[k].at("cycles")) << rows[k].at("options");
      // The table has nine digits.
      const double joules = metrics["energy"]["total_joules"];
      EXPECT_NEAR(joules, std::atof(rows[k].at("joules").c_str()), std::max(1e-12, 5e-9 * joules));
    }
  }

  fs::path place_;
};

TEST_F(whatif, the_best_changes_save_what_it_says) {
  const auto o = run({job, "--gpu", "gtx1080", "--runs", "40", "--csv", "w.csv", "--chart", "w.svg"});
  ASSERT_EQ(o.code, 0) << o.err;
  const std::vector<row> rows = table();
  ASSERT_GT(rows.size(), 40u);
  EXPECT_EQ(rows[0].at("kind"), "base");
  EXPECT_EQ(rows[1].at("kind"), "pair") << "two of the best together save most here";
  verify_best(job, rows);
  // The table has them in the same order, and says how to make the best one.
  EXPECT_LT(o.out.find(rows[1].at("change")), o.out.find(rows[2].at("change"))) << o.out;
  EXPECT_NE(o.out.find("as options: " + rows[1].at("options")), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("not tried"), std::string::npos) << o.out;
  double before = 1;
  for (std::size_t k = 1; k < rows.size() && rows[k].at("status") == "done"; ++k) {
    const double saved = std::atof(rows[k].at("saved_time").c_str());
    EXPECT_LE(saved, before) << rows[k].at("change");
    before = saved;
  }
  const std::string picture = heddle::test::content(place_ / "w.svg");
  EXPECT_NE(picture.find("<rect"), std::string::npos);
  EXPECT_EQ(picture.substr(picture.size() - 7), "</svg>\n");
}

// Four more kernels, of which one is bound by memory, one by its accesses, one by barriers and one by branches.
TEST_F(whatif, the_best_changes_of_other_kernels_save_what_it_says) {
  for (const char* name : {"vector_add", "transpose", "scan", "divergent"}) {
    const std::string workload = HEDDLE_WORKLOADS "/" + std::string(name) + "/job.json";
    const auto o = run({workload, "--gpu", "gtx1080", "--runs", "10", "--csv", "w.csv", "--quiet"});
    ASSERT_EQ(o.code, 0) << o.err;
    const std::vector<row> rows = table();
    ASSERT_GT(rows.size(), 10u) << name;
    const double base = std::atof(rows[0].at("seconds").c_str());  // clocks change, too
    for (std::size_t k = 1; k <= 3; ++k) {
      ASSERT_EQ(rows[k].at("status"), "done") << name;
      EXPECT_LT(std::atof(rows[k].at("seconds").c_str()), base) << name << ": " << rows[k].at("change");
    }
    verify_best(workload, rows);
  }
}

// Little of what can be changed is tried: of a kernel whose warps wait for memory the clock of the DRAM, but no lanes.
TEST_F(whatif, what_warps_wait_for_comes_first) {
  const auto o =
      run({HEDDLE_WORKLOADS "/vector_add/job.json", "--gpu", "gtx1080", "--runs", "30", "--csv", "w.csv", "--quiet"});
  ASSERT_EQ(o.code, 0) << o.err;
  std::map<std::string, std::string> status;
  for (const row& r : table())
    if (r.at("kind") == "twice" || r.at("kind") == "advice")
      status[r.at("change").substr(0, r.at("change").find(':'))] = r.at("status");
  EXPECT_EQ(status["dram.clock_mhz"], "done");
  EXPECT_EQ(status["int.shift_lanes"], "not tried");
  EXPECT_EQ(status["sm.max_blocks"], "not tried") << "does not limit its warps";
}

TEST_F(whatif, a_change_that_costs_time_is_stopped_and_one_that_cannot_act_is_left_out) {
  const auto o = run({kernel, "--gpu", "gtx1080", "--set", "gpu.sm_count=2", "--csv", "w.csv", "--quiet"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out, "");
  std::map<std::string, unsigned> by_status;
  bool slow_clock = false;
  for (const row& r : table()) {
    ++by_status[r.at("status")];
    slow_clock =
        slow_clock || (r.at("change").find("gpu.core_clock_mhz: 1607 -> 803.5") == 0 && r.at("status") == "slower");
    for (const char* other : {"fp64.", "tensor.", "energy.", "tlm.", "texture.", "gpu.watchdog"})
      EXPECT_NE(r.at("change").find(other), 0u) << "the kernel does not use it: " << r.at("change");
  }
  EXPECT_TRUE(slow_clock);
  EXPECT_GT(by_status["done"], 100u);
  EXPECT_GT(by_status["slower"], 10u);
}

// It is started again for each change, with its arguments, and ended when it cannot win any more.
TEST_F(whatif, a_program_is_ended_when_it_cannot_win) {
  const auto o = run({"--gpu", "v100", "--runs", "10", "--csv", "w.csv", "--", HEDDLE_CUDA_PROGRAMS,
                      HEDDLE_SOURCE "/tests/system/cuda/kernels.fatbin", "streams"});
  ASSERT_EQ(o.code, 0) << o.err;
  unsigned done = 0, slower = 0;
  for (const row& r : table()) {
    done += r.at("status") == "done" && r.at("kind") != "base";
    slower += r.at("status") == "slower";
  }
  EXPECT_GT(done, 0u) << o.out;
  EXPECT_GT(slower, 0u) << o.out;
}

TEST_F(whatif, names_the_failure_of_a_program) {
  const auto o = run({"--gpu", "v100", "--", HEDDLE_CUDA_PROGRAMS, HEDDLE_SOURCE "/tests/system/cuda/kernels.fatbin",
                      "fails_assertion"});
  EXPECT_EQ(o.code, 2);
  EXPECT_NE(o.err.find("the workload does not run on v100: '" HEDDLE_CUDA_PROGRAMS "': "), std::string::npos) << o.err;
  const auto none = run({"--gpu", "v100", "--", "./no_such_program"});
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("'./no_such_program' cannot be started: "), std::string::npos) << none.err;
  EXPECT_NE(o.err.find("assertion failed: value == 1"), std::string::npos) << o.err;
}

TEST_F(whatif, by_energy_runs_to_the_end_and_results_are_kept) {
  const std::vector<std::string> command{kernel,   "--gpu", "v100",    "--set", "gpu.sm_count=2", "--by", "energy",
                                         "--runs", "12",    "--store", "kept",  "--csv",          "w.csv"};
  ASSERT_EQ(run(command).code, 0);
  const std::string first = heddle::test::content(place_ / "w.csv");
  EXPECT_EQ(first.find("slower"), std::string::npos);
  const auto files = [this] {
    std::map<std::string, fs::file_time_type> all;
    for (const auto& entry : fs::directory_iterator(place_ / "kept.points"))
      if (entry.is_regular_file()) all[entry.path().filename().string()] = entry.last_write_time();
    return all;
  };
  const auto before = files();
  ASSERT_EQ(run(command).code, 0);
  EXPECT_EQ(heddle::test::content(place_ / "w.csv"), first);
  EXPECT_EQ(files(), before) << "nothing was run again";
}

TEST_F(whatif, advice_that_was_tried_is_marked_so) {
  const auto o = run({job, "--gpu", "gtx1080", "--runs", "8", "--metrics", "m.json", "--report", "r.html"});
  ASSERT_EQ(o.code, 0) << o.err;
  const auto metrics = nlohmann::json::parse(heddle::test::content(place_ / "m.json"));
  ASSERT_GE(metrics["tried"].size(), 8u);
  // Of the page that it writes, and of the one that is made from its metrics.
  ASSERT_EQ(heddle::test::run_program({HEDDLE_PROGRAM, "report", "m.json", "-o", "again.html"}, {place_}).code, 0);
  for (const char* file : {"r.html", "again.html"}) {
    const std::string page = heddle::test::content(place_ / file);
    const std::size_t begin = page.find('>', page.find("id=\"heddle-data\"")) + 1;
    const auto data = nlohmann::json::parse(page.substr(begin, page.find("</script>", begin) - begin));
    const auto& changes = data["files"][0]["judged"][0]["changes"];
    ASSERT_GT(changes.size(), 0u);
    for (const auto& change : changes) {
      ASSERT_TRUE(change.contains("tried")) << change;
      const auto& t = change["tried"];
      EXPECT_EQ(t["cycles_before"], metrics["cycles"]);
      if (t["status"] != "done") continue;
      std::vector<std::string> command{HEDDLE_PROGRAM, "run",     job,         "--gpu",
                                       "gtx1080",      "--quiet", "--metrics", "c.json"};
      std::istringstream options(change["options"].get<std::string>());
      for (std::string word; options >> word;) command.push_back(word);
      ASSERT_EQ(heddle::test::run_program(command, {place_}).code, 0);
      EXPECT_EQ(nlohmann::json::parse(heddle::test::content(place_ / "c.json"))["cycles"], t["cycles"]) << change;
      EXPECT_NE(o.out.find("advice tried: " + t["change"].get<std::string>() + ": "), std::string::npos) << o.out;
    }
  }
  // One that cannot win is stopped: a status of its own.
  unsigned stopped = 0;
  for (const auto& t : metrics["tried"]) stopped += t["status"] == "stopped";
  EXPECT_GT(stopped, 0u) << metrics["tried"];
}

TEST_F(whatif, says_which_changes_and_pairs_it_did_not_try) {
  const auto o = run({job, "--gpu", "gtx1080", "--runs", "10", "--csv", "w.csv"});
  ASSERT_EQ(o.code, 0) << o.err;
  std::size_t tried = 0, changes = 0, pairs = 0;
  for (const row& r : table()) {
    if (r.at("status") != "not tried") ++tried;
    else if (r.at("kind") == "pair") ++pairs;
    else ++changes;
    if (r.at("status") == "not tried") {
      EXPECT_EQ(r.at("reason"), "no time (--minutes) or runs (--runs) left");
    }
  }
  EXPECT_EQ(tried, 11u) << "the machine as it is, and ten changes";
  EXPECT_GT(changes, 100u);
  EXPECT_GT(pairs, 0u);
  EXPECT_NE(o.out.find("; " + std::to_string(changes) + " not tried, nor " + std::to_string(pairs) +
                       " of two together, for lack of time (--minutes) or runs (--runs)\nnot tried: "),
            std::string::npos)
      << o.out;
}

TEST_F(whatif, refuses_what_it_cannot_do) {
  const struct {
    std::vector<std::string> arguments;
    const char* message;
  } cases[] = {
      {{}, "expected one workload: JOB.json, --run \"RUN\", or -- PROGRAM ARGUMENTS"},
      {{job, kernel}, "expected one workload"},
      {{job, "--chart", "picture.png"}, "--chart: got 'picture.png', expected FILE.svg"},
      {{job, "--by", "area"}, "--by"},
      {{job, "--minutes", "0"}, "--minutes"},
      {{job, "--gpu", "gtx1O80"}, "gtx1080"},
      {{job, "--set", "l1.size=4"}, "l1.size"},
      {{"--run=--kernel none.ptx --grid 1 --block 1"}, "none.ptx"},
      {{"--run=" + std::string(job) + " --vcd w.vcd"}, "--vcd cannot be given here"},
      {{job, "--csv", job}, "--csv"},
      {{job, "--metrics", job}, "--metrics"},
      {{job, "--metrics", "same", "--report", "same"}, "same"},
      {{job, "--by", "energy", "--set", "energy.account=false"}, "has no account of energy"},
  };
  for (const auto& c : cases) {
    const auto o = run(c.arguments);
    EXPECT_EQ(o.code, 2) << o.err;
    EXPECT_NE(o.err.find(c.message), std::string::npos) << o.err;
    EXPECT_EQ(o.err.find('\n'), o.err.size() - 1) << "one line: " << o.err;
    EXPECT_EQ(o.out, "");
  }
}

}  // namespace whatif_test
