// SPDX-License-Identifier: MIT
// When any process of a sweep is killed, finished results are kept, and the rest can be completed later.
#include <functional>
#include <random>

#include "sweep_fixture.h"
#include "tests/system/common/json_text.h"

namespace sweep_kill_test {

using namespace sweep_tests;

TEST_F(sweeps, control_c_keeps_what_is_whole) {
  write("a.ini", "[sweep]\nstore = s.sqlite\nmetrics = cycles\n[axes]\njob = tiny.json, spin.json\ngpu.sm_count = 1\n");
  const pid_t child = start({"a.ini", "--jobs", "2"});
  for (int i = 0; i < 3000 && finished_points() == 0; ++i) usleep(10000);
  kill(-child, SIGINT);
  EXPECT_EQ(finish(child), 128 + SIGINT);
  const auto table = rows("s.csv");
  ASSERT_EQ(table.size(), 2u);
  EXPECT_EQ(table[0].at("status"), "done");
  EXPECT_EQ(table[1].at("status"), "missing");
}

// The children of a process, as listed by the system.
std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> result;
  std::ifstream in("/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) + "/children");
  for (pid_t child; in >> child;) result.push_back(child);
  return result;
}

/// Kills the coordinator or its workers at random times.
void disturb(const std::function<pid_t(const words&)>& start, const std::function<int(pid_t)>& finish, unsigned times,
             unsigned seed, double spread) {
  std::mt19937 random(seed);
  for (unsigned i = 0; i < times; ++i) {
    const pid_t coordinator = start({"d.ini", "--resume", "--jobs", "2"});
    usleep(static_cast<useconds_t>(spread * 1e6 * (random() % 1000) / 1000));
    if (random() % 2) {
      kill(coordinator, SIGKILL);
      const int code = finish(coordinator);
      EXPECT_TRUE(code == 128 + SIGKILL || code == 0) << code;  // 0: it finished first
    } else {
      for (const pid_t worker : children_of(coordinator)) kill(worker, SIGKILL);
      const int code = finish(coordinator);
      EXPECT_TRUE(code == 0 || code == 1) << code;  // a killed point becomes a row, the others continue
    }
  }
}

class disturbed : public sweeps {
 protected:
  /// A run after all these disturbances has the results of an undisturbed one.
  void expect_undisturbed_results(unsigned points, unsigned times, double spread) {
    write("d.ini", sweep_of(points, "u.sqlite"));
    ASSERT_EQ(run({"d.ini"}), 0) << read("stderr");
    const std::string database = read("u.sqlite"), csv = read("u.csv");
    fs::remove_all(place_ / "u.sqlite.points");
    fs::remove(place_ / "u.sqlite");
    fs::remove(place_ / "u.csv");
    disturb([this](const words& a) { return start(a); }, finish, times, 20251121, spread);
    std::map<std::string, std::string> finished;
    for (const auto& e : fs::recursive_directory_iterator(place_ / "u.sqlite.points")) {
      if (e.path().extension() != ".json" || e.path().filename() == "store.json") continue;
      const std::string text = content(e.path());
      const auto result = nlohmann::json::parse(text, nullptr, false);
      ASSERT_TRUE(result.is_object()) << "damaged: " << e.path();
      if (result["status"] == "done") finished[e.path()] = text;
    }
    ASSERT_EQ(run({"d.ini", "--resume"}), 0) << read("stderr");
    for (const auto& [file, text] : finished) EXPECT_EQ(content(file), text) << "a finished point was run again";
    EXPECT_TRUE(read("u.sqlite") == database);
    EXPECT_EQ(read("u.csv"), csv);
  }
};

TEST_F(disturbed, a_few_times_the_results_are_unchanged) { expect_undisturbed_results(60, 6, 0.3); }

class long_disturbed : public disturbed {};

TEST_F(long_disturbed, at_fifty_random_times_the_results_are_unchanged) { expect_undisturbed_results(600, 50, 0.5); }

TEST_F(sweeps, a_killed_gathering_leaves_no_permanent_file) {
  write("g.ini", sweep_of(60, "s.sqlite"));
  ASSERT_EQ(run({"g.ini"}), 0) << read("stderr");
  const std::string database = read("s.sqlite");
  const auto left = [this] {
    std::size_t count = 0;
    for (const auto& e : fs::directory_iterator(place_))
      count += e.path().filename().string().rfind(".heddle-", 0) == 0;
    return count;
  };
  ASSERT_EQ(left(), 0u);
  for (int attempt = 0; attempt < 20 && left() == 0; ++attempt) {
    const pid_t child = start({"g.ini"});
    bool ended = false;
    while (left() == 0 && !ended) {
      usleep(1000);
      ended = waitpid(child, nullptr, WNOHANG) == child;
    }
    if (ended) continue;
    kill(child, SIGKILL);
    finish(child);
  }
  EXPECT_GT(left(), 0u) << "it was never met at work";
  EXPECT_TRUE(read("s.sqlite") == database);
  ASSERT_EQ(run({"g.ini"}), 0) << read("stderr");
  EXPECT_EQ(left(), 0u);
  EXPECT_TRUE(read("s.sqlite") == database);
}

}  // namespace sweep_kill_test
