// SPDX-License-Identifier: MIT
// The rules of the report (docs/use/report.md) that the page implements itself, those of sweeps: known answers for
// sensitivity and Pareto fronts. The rules of kernels are tested in tests/unit/testbench/report_rules_test.cpp.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "tests/system/common/browser.h"
#include "tests/system/common/json_text.h"
#include "tests/system/common/text_file.h"

namespace report_rules_test {

namespace fs = std::filesystem;
using heddle::tests::browser;
using json = nlohmann::json;

// The data of a page.
json data_of(const fs::path& page) {
  const std::string text = heddle::test::content(page);
  const std::string begin = "id=\"heddle-data\">";
  const std::size_t at = text.find(begin) + begin.size();
  return json::parse(text.substr(at, text.find("</script>", at) - at));
}

class sweep_report_rules : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const std::string program = browser::program();
    if (program.empty()) return;
    const fs::path place = HEDDLE_SCRATCH "/report_rules";
    fs::create_directories(place);
    const std::string page = place / (std::to_string(::getpid()) + ".html");
    const std::string command =
        "'" HEDDLE_PROGRAM "' run '" HEDDLE_WORKLOADS "/vector_add/job.json' --quiet --report '" + page + "'";
    ASSERT_EQ(std::system(command.c_str()), 0);
    chromium = std::make_unique<browser>(program, place);
    chromium->open(page, 800, false);
    fs::remove(page);
  }
  static void TearDownTestSuite() { chromium.reset(); }
  void SetUp() override {
    if (!chromium) GTEST_SKIP() << "no browser: install chromium-headless-shell, or name one in HEDDLE_BROWSER";
  }
  static json value(const std::string& expression) { return chromium->evaluate(expression); }

  static std::unique_ptr<browser> chromium;
};
std::unique_ptr<browser> sweep_report_rules::chromium;

// Each change that the rules propose makes a real kernel faster.
TEST(report_advice, changes_are_worth_making) {
  fs::create_directories(HEDDLE_SCRATCH "/report_rules");
  const std::string place = fs::path(HEDDLE_SCRATCH "/report_rules") / std::to_string(::getpid());
  const auto run = [&place](const std::string& job, const std::string& options) {
    const std::string command = "'" HEDDLE_PROGRAM "' run '" HEDDLE_WORKLOADS "/" + job + "/job.json' --quiet " +
                                options + " --metrics '" + place + ".json' --report '" + place + ".html'";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    std::ifstream in(place + ".json");
    return json::parse(in);
  };
  for (const char* job : {"transpose", "vector_add", "saxpy", "black_scholes", "stencil_f64", "fft"}) {
    const json m = run(job, "");
    const json changes = data_of(place + ".html")["files"][0]["judged"][0]["changes"];
    EXPECT_EQ(changes.size(), 2u) << job;
    for (const json& c : changes) {
      const std::string options = c["options"];
      EXPECT_LT(run(job, options)["kernels"][0]["cycles"].get<double>(), 0.95 * m["kernels"][0]["cycles"].get<double>())
          << job << " " << options;
    }
  }
  fs::remove(place + ".json");
  fs::remove(place + ".html");
}

TEST_F(sweep_report_rules, sensitivity_of_a_known_plane) {
  // value = 100 + 10 a + b: a explains 4 x 10² x 0.25 against b's 4 x 0.25.
  const json ranked = value(
      R"(heddle.sensitivity(['b', 'a', 'c'], [0, 1].flatMap((a) => [0, 1].flatMap((b) => ['x', 'y'].map((c) => ({axes: [b, a, c], value: 100 + 10 * a + b}))))))");
  ASSERT_EQ(ranked.size(), 3u);
  EXPECT_EQ(ranked[0]["axis"], "a");
  EXPECT_EQ(ranked[1]["axis"], "b");
  EXPECT_EQ(ranked[2]["axis"], "c");
  EXPECT_NEAR(ranked[0]["explained"].get<double>(), 100.0 / 101, 1e-12);
  EXPECT_NEAR(ranked[1]["explained"].get<double>(), 1.0 / 101, 1e-12);
  EXPECT_NEAR(ranked[0]["spread"].get<double>(), 10 / 105.5, 1e-12);
  EXPECT_EQ(ranked[2]["explained"], 0);
  EXPECT_EQ(ranked[0]["least"], 0);
  EXPECT_EQ(ranked[0]["most"], 1);
  EXPECT_EQ(value("heddle.sensitivity(['a'], [{axes: [1], value: null}])"), json::array());
  EXPECT_EQ(value("heddle.sensitivity(['a'], [{axes: [1], value: 5}, {axes: [2], value: 5}])[0].explained"), 0);
}

TEST_F(sweep_report_rules, pareto_fronts) {
  const std::string points =
      "[{x: 1, y: 9}, {x: 2, y: 5}, {x: 3, y: 5}, {x: 4, y: 1}, {x: 5, y: 0.5}, {x: 2, y: 7}, {x: 2, y: 5}, {x: null, y: 0}]";
  EXPECT_EQ(value("heddle.pareto(" + points + ", false, false)"), (json{0, 1, 6, 3, 4}));
  EXPECT_EQ(value("heddle.pareto(" + points + ", true, true)"), (json{4, 3, 2, 5, 0}));
  EXPECT_EQ(value("heddle.pareto(" + points + ", false, true)"), (json{0}));
  EXPECT_EQ(value("heddle.pareto([], false, true)"), json::array());
  // Compared with the definition, on pseudo-random points.
  EXPECT_EQ(value(R"((() => {
    let s = 1; const r = () => (s = (s * 48271) % 2147483647) % 20;
    for (let round = 0; round < 50; ++round) {
      const p = Array.from({length: 40}, () => ({x: r(), y: r()}));
      for (const [a, b] of [[false, false], [false, true], [true, false], [true, true]]) {
        const better = (u, v, more) => (more ? u > v : u < v);
        const beaten = (i) => p.some((q) => !better(p[i].x, q.x, a) && !better(p[i].y, q.y, b) && (q.x !== p[i].x || q.y !== p[i].y));
        const wanted = p.map((_, i) => i).filter((i) => !beaten(i)).join();
        if (heddle.pareto(p, a, b).sort((u, v) => u - v).join() !== wanted) return JSON.stringify([round, a, b]);
      }
    }
    return 'same'; })())"),
            "same");
}

TEST_F(sweep_report_rules, lines_are_means_in_order) {
  EXPECT_EQ(
      value(
          "heddle.lines([{x: 10, value: 1, series: 'a'}, {x: 2, value: 4, series: 'a'}, {x: 2, value: 6, series: 'a'}, {x: 2, value: null, series: 'a'}, {x: 'q', value: 1, series: 'b'}])"),
      (json{{{"series", "a"}, {"points", {{2, 5, 2}, {10, 1, 1}}}}, {{"series", "b"}, {"points", {{"q", 1, 1}}}}}));
  EXPECT_TRUE(value("heddle.more_is_better('kernels.0.metrics.ipc')"));
  EXPECT_FALSE(value("heddle.more_is_better('cycles')"));
  for (const char* energy : {"total_joules", "mean_watts", "energy_delay_product", "static_share", "seconds"})
    EXPECT_FALSE(value("heddle.more_is_better('kernels.0.energy." + std::string(energy) + "')")) << energy;
  EXPECT_TRUE(value("heddle.more_is_better('kernels.0.energy.mean_clock_mhz')"));
}

TEST_F(sweep_report_rules, csv_quotes_what_needs_it) {
  EXPECT_EQ(value(R"(heddle.to_csv(['a', 'b'], [['x,y', 1], ['say "no"', null], ['two\nlines', 0.5]]))"),
            "a,b\r\n\"x,y\",1\r\n\"say \"\"no\"\"\",\r\n\"two\nlines\",0.5\r\n");
}

}  // namespace report_rules_test
