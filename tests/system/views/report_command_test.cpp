// SPDX-License-Identifier: MIT
// `heddle report` and `--report` from the command line: rejected input and its messages; no incomplete files are left.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/system/common/json_text.h"
#include "tests/system/common/text_file.h"

namespace report_command_test {

namespace fs = std::filesystem;
using json = nlohmann::json;
using heddle::test::content;

class report_commands : public ::testing::Test {
 protected:
  report_commands()
      : place_(fs::path(HEDDLE_SCRATCH "/report_command") /
               ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(place_);
    fs::create_directories(place_);
  }
  ~report_commands() override {
    for (const auto& file : fs::directory_iterator(place_))
      EXPECT_EQ(file.path().filename().string().rfind(".heddle-", 0), std::string::npos);
  }

  /// Runs the program in the test's folder; standard output and error go to out_ and error_.
  int heddle(const std::string& arguments) {
    const std::string command =
        "cd '" + place_.string() + "' && '" HEDDLE_PROGRAM "' " + arguments + " >out.txt 2>err.txt";
    const int status = std::system(command.c_str());
    out_ = content(place_ / "out.txt");
    error_ = content(place_ / "err.txt");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(place_ / name, std::ios::binary) << text;
  }
  void refused(const std::string& arguments, const std::string& because) {
    EXPECT_EQ(heddle(arguments), 2) << arguments;
    EXPECT_EQ(error_.rfind("heddle: error: ", 0), 0u) << error_;
    EXPECT_NE(error_.substr(0, error_.find('\n')).find(because), std::string::npos) << error_;
    EXPECT_FALSE(fs::exists(place_ / "r.html")) << arguments;
    EXPECT_EQ(out_, "");
  }
  json data_of(const std::string& name) {
    const std::string page = content(place_ / name), begin = "id=\"heddle-data\">";
    const auto at = page.find(begin);
    if (at == std::string::npos) return json();
    return json::parse(page.substr(at + begin.size(), page.find("</script>", at) - at - begin.size()));
  }

  const std::string job_ = "run '" HEDDLE_WORKLOADS "/vector_add/job.json' --quiet ";
  fs::path place_;
  std::string out_, error_;
};

TEST_F(report_commands, of_a_run_and_of_its_metrics_are_the_same) {
  ASSERT_EQ(heddle(job_ + "--set l1.size_bytes=49152 --metrics m.json --report r.html"), 0) << error_;
  ASSERT_EQ(heddle("report m.json -o again.html"), 0) << error_;
  json first = data_of("r.html"), second = data_of("again.html");
  EXPECT_EQ(second["files"][0]["name"], "m.json");
  EXPECT_EQ(first["files"][0]["metrics"], json::parse(content(place_ / "m.json")));
  second["files"][0]["name"] = first["files"][0]["name"];
  EXPECT_EQ(first, second);
  EXPECT_EQ(first["files"][0]["metrics"]["gpu"]["config"]["l1.size_bytes"], 49152);
  EXPECT_EQ(first["files"][0]["preset"]["l1.size_bytes"], 24576);
  ASSERT_EQ(heddle("report m.json m.json --output both.html"), 0) << error_;
  EXPECT_EQ(data_of("both.html")["files"].size(), 2u);
}

TEST_F(report_commands, of_a_replay) {
  write("kernelslist.g", "kernel-1.traceg\n");
  fs::copy(HEDDLE_SOURCE "/tests/fuzz/corpus_trace/version4.traceg", place_ / "kernel-1.traceg");
  ASSERT_EQ(heddle("replay kernelslist.g --gpu v100 --quiet --report r.html --log-level error"), 0) << error_;
  const json kernel = data_of("r.html")["files"][0]["metrics"]["kernels"][0];
  ASSERT_FALSE(kernel["lines"].empty());
  for (const json& line : kernel["lines"]) EXPECT_GT(line["text"].get<std::string>().size(), 2u);
}

// The intervals of a run on gtx1080 sum to the values of its kernels and SMs.
void check_intervals(const json& m) {
  const auto sum = [](const json& list) {
    std::uint64_t all = 0;
    for (const json& v : list) all += v.get<std::uint64_t>();
    return all;
  };
  std::uint64_t executed = 0;
  json states = json::object();
  for (const json& k : m["kernels"]) {
    executed += k["metrics"]["inst_executed"].get<std::uint64_t>();
    for (const auto& s : k["warp_states"].items())
      states[s.key()] = states.value(s.key(), std::uint64_t{0}) + s.value().get<std::uint64_t>();
  }
  EXPECT_EQ(sum(m["intervals"]["inst_executed"]), executed);
  for (const auto& s : states.items()) EXPECT_EQ(sum(m["intervals"]["warp_states"][s.key()]), s.value()) << s.key();
  const json& ends = m["intervals"]["end_cycles"];
  EXPECT_GT(ends.size(), 8u);
  EXPECT_LT(ends.size(), 129u);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    // No interval has more warps than the chip has warp slots.
    const std::uint64_t cycles = ends[i].get<std::uint64_t>() - (i > 0 ? ends[i - 1].get<std::uint64_t>() : 0);
    std::uint64_t warps = 0;
    for (const json& s : m["intervals"]["warp_states"]) warps += s[i].get<std::uint64_t>();
    EXPECT_GT(cycles, 0u);
    EXPECT_LE(warps, (cycles + 1) * 20 * 64);
  }
  for (const json& sm : m["sms"]) EXPECT_EQ(sum(sm["inst_executed_over_time"]), sm["inst_executed"]);
  // Lines include their source text.
  for (const json& line : m["kernels"][0]["lines"]) EXPECT_TRUE(line.contains("text"));
}

TEST_F(report_commands, intervals_sum_to_the_run) {
  ASSERT_EQ(heddle("run '" HEDDLE_WORKLOADS "/scan/job.json' --quiet --metrics m.json"), 0) << error_;
  check_intervals(json::parse(content(place_ / "m.json")));
}

TEST_F(report_commands, intervals_sum_to_a_run_with_switches) {
  json job = json::parse(content(HEDDLE_WORKLOADS "/scan/job.json"));
  job["module"] = HEDDLE_WORKLOADS "/scan/" + job["module"].get<std::string>();
  job.erase("outputs");
  job["preempt"] = json::parse(R"([{"at_cycle": 1500, "sm": "all", "mode": "switch", "resume_after": 500}])");
  write("job.json", job.dump());
  ASSERT_EQ(heddle("run job.json --quiet --metrics m.json"), 0) << error_;
  const json m = json::parse(content(place_ / "m.json"));
  EXPECT_EQ(m["context_switches"].size(), 20u);
  check_intervals(m);
}

TEST_F(report_commands, bad_input_is_refused_in_one_line) {
  ASSERT_EQ(heddle(job_ + "--metrics m.json"), 0);
  write("text.json", "no json");
  write("half.json", content(place_ / "m.json").substr(0, 2000));
  write("other.json", "{\"schema\": \"heddle.metrics/9\"}");
  json wrong = json::parse(content(place_ / "m.json"));
  wrong["kernels"][0]["cycles"] = "soon";
  write("wrong.json", wrong.dump(1));
  json flat = json::parse(content(place_ / "m.json"));
  flat["kernels"][0]["grid"] = json::array();
  write("flat.json", flat.dump(1));
  flat["kernels"][0]["grid"] = {8, 1, 1};
  flat["kernels"][0]["block"] = {32, 1};
  write("even.json", flat.dump(1));
  write("database.sqlite", std::string("SQLite format 3\0 and then nothing", 34));
  fs::create_directory(place_ / "folder");
  refused("report", "expected metrics files");
  refused("report m.json", "expected -o REPORT.html");
  refused("report none.json -o r.html", "none.json");
  refused("report folder -o r.html", "folder");
  refused("report text.json -o r.html", "text.json:1:");
  refused("report half.json -o r.html", "half.json:");
  refused("report other.json -o r.html", "got schema 'heddle.metrics/9'");
  refused("report wrong.json -o r.html", "'kernels[].cycles' is not what metrics have there, expected a number");
  refused("report flat.json -o r.html", "'kernels[].grid' has 0 numbers, expected 3");
  refused("report even.json -o r.html", "'kernels[].block' has 2 numbers, expected 3");
  refused("report m.json wrong.json -o r.html", "wrong.json:");
  refused("report database.sqlite -o r.html", "not the store of a sweep");
  refused("report m.json -o folder", "it is a directory");
  refused("report m.json -o nowhere/r.html", "nowhere");
  refused("report m.json -o m.json", "what the report is made from");
  refused("report m.json -o r.html --fancy", "unknown option '--fancy'");
  refused(job_ + "--report nowhere/r.html", "--report");
  refused(job_ + "--metrics r.html --report r.html", "written by something else");
  const json metrics = json::parse(content(place_ / "m.json"));
  EXPECT_EQ(metrics["schema"], "heddle.metrics/1");  // the file is unchanged
}

TEST_F(report_commands, a_full_disk_leaves_nothing) {
  ASSERT_EQ(heddle(job_ + "--metrics m.json"), 0);
  const std::string command = "cd '" + place_.string() +
                              "' && (ulimit -f 100; trap '' XFSZ; '" HEDDLE_PROGRAM
                              "' report m.json -o r.html) >out.txt 2>err.txt";
  const int status = std::system(command.c_str());
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 2);
  EXPECT_NE(content(place_ / "err.txt").find("heddle: error: -o: cannot write 'r.html'"), std::string::npos);
  EXPECT_FALSE(fs::exists(place_ / "r.html"));
}

TEST_F(report_commands, a_program_that_fails_is_still_reported) {
  write(
      "wild.ptx",
      ".version 7.0\n.target sm_60\n.address_size 64\n.visible .entry wild()\n{\n\t.reg .b32 %r<2>;\n\t.reg .b64 %rd<2>;\n"
      "\tmov.u64 %rd1, 30064771072;\n\tmov.u32 %r1, 7;\n\tst.global.u32 [%rd1], %r1;\n\tret;\n}\n");
  EXPECT_EQ(heddle("run --kernel wild.ptx --grid 1 --block 32 --quiet --report r.html"), 1);
  EXPECT_EQ(data_of("r.html")["files"][0]["metrics"]["kernels"][0]["name"], "wild");
}

TEST_F(report_commands, of_a_sweep) {
  write(
      "s.ini",
      "[sweep]\njob = " HEDDLE_WORKLOADS
      "/vector_add/job.json\nstore = s.sqlite\nmetrics = cycles, kernels.0.metrics.ipc\n"
      "[axes]\nsub_partition.scheduler = lrr, gto\nlaunch.block = 64, 128\n[constraints]\nno = launch.block > 64 and sub_partition.scheduler = lrr\n");
  ASSERT_EQ(heddle("sweep s.ini --quiet"), 0) << error_;
  ASSERT_EQ(heddle("report s.sqlite -o r.html"), 0) << error_;
  const json page = data_of("r.html");
  EXPECT_EQ(page["kind"], "sweep");
  ASSERT_EQ(page["sweeps"].size(), 1u);
  const json& sweep = page["sweeps"][0];
  EXPECT_EQ(sweep["name"], "s");
  EXPECT_EQ(sweep["axes"], (json{"sub_partition.scheduler", "launch.block"}));
  EXPECT_EQ(sweep["metrics"], (json{"cycles", "kernels.0.metrics.ipc"}));
  EXPECT_EQ(sweep["dropped"], json::parse(R"([{"constraint": "no", "points": 1}])"));
  ASSERT_EQ(sweep["points"].size(), 3u);
  EXPECT_EQ(sweep["points"][0]["axes"], (json{"lrr", 64}));
  EXPECT_EQ(sweep["points"][2]["axes"], (json{"gto", 128}));
  for (const json& point : sweep["points"]) {
    EXPECT_EQ(point["status"], "done");
    EXPECT_GT(point["values"][0], 100);
    EXPECT_TRUE(point["values"][1].is_number_float());
  }
  fs::remove(place_ / "r.html");
  ASSERT_EQ(heddle(job_ + "--metrics m.json"), 0);
  refused("report s.sqlite m.json -o r.html", "shown alone");
}

}  // namespace report_command_test
