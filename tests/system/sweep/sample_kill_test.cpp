// SPDX-License-Identifier: MIT
// heddle sample is stopped and killed in the middle, here and on Slurm, and goes on: the same bytes as without.
#include <signal.h>
#include <unistd.h>

#include <cstdlib>

#include "sample_fixture.h"

namespace sample_test {

class stopped_samples : public samples {
 protected:
  /// A sample of a list of traces whose launches take about two seconds in all, two at a time.
  [[nodiscard]] static words command(const words& more) {
    words all = {"traces/kernelslist.g", "--gpu", "h100", "-o", "drawn", "--jobs", "2", "--json", "e.json"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  void expect_whole() {
    write_traces(1200);
    const auto o = run(command({}));
    ASSERT_EQ(0, o.code) << o.err;
    out_ = o.out;
    for (const char* file : files) wanted_.push_back(heddle::test::content(place_ / file));
    forget();
  }
  void forget() const {
    fs::remove_all(place_ / "drawn");
    fs::remove(place_ / "e.json");
  }
  [[nodiscard]] std::size_t finished() const {
    std::size_t count = 0;
    if (!fs::exists(place_ / "drawn/results.sqlite.points")) return 0;
    for (const auto& e : fs::recursive_directory_iterator(place_ / "drawn/results.sqlite.points"))
      count += e.path().extension() == ".json" && e.path().filename() != "store.json";
    return count;
  }
  void expect_same() const {
    for (std::size_t k = 0; k < wanted_.size(); ++k)
      EXPECT_EQ(wanted_[k], heddle::test::content(place_ / files[k])) << files[k];
  }
  /// Waits for the end of a child, and checks that it was in the middle.
  void expect_stopped(pid_t child, int number) const {
    EXPECT_EQ(128 + number, heddle::test::exit_code_of(child)) << heddle::test::content(place_ / "stderr");
    EXPECT_FALSE(fs::exists(place_ / "e.json"));
  }

  static constexpr const char* files[] = {"e.json", "drawn/results.csv", "drawn/results.sqlite", "drawn/sample.ini"};
  std::string out_;
  std::vector<std::string> wanted_;
};

TEST_F(stopped_samples, go_on_where_a_signal_stopped_them) {
  expect_whole();
  for (const int number : {SIGINT, SIGTERM, SIGKILL}) {
    const pid_t child = start(command({}));
    for (int i = 0; i < 3000 && finished() < 3; ++i) usleep(10000);
    kill(child, number);
    expect_stopped(child, number);
    const std::size_t kept = finished();
    EXPECT_GE(kept, 3u);
    const auto o = run(command({}));
    EXPECT_EQ(0, o.code) << o.err;
    EXPECT_EQ(out_, o.out);
    expect_same();
    forget();
  }
}

TEST_F(stopped_samples, on_slurm_go_on_after_a_node_has_failed) {
  expect_whole();
  // A stand-in for Slurm: tasks run one after another in the background; a file stops all after the first.
  fs::create_directories(place_ / "bin");
  const std::string here = place_.string();
  write("bin/sbatch",
        "#!/bin/sh\nfor a in \"$@\"; do last=$a; case $a in --array=1-*) n=${a#--array=1-};; esac; done\n"
        "echo \"$@\" >> '" +
            here +
            "/arguments'\n"
            "(for i in $(seq 1 $n); do [ $i -gt 1 ] && [ -e '" +
            here +
            "/failing' ] && break\n"
            "SLURM_ARRAY_TASK_ID=$i sh \"$last\" || true; done; touch '" +
            here + "/over') >/dev/null 2>&1 &\necho 17\n");
  write("bin/squeue", "#!/bin/sh\n[ -e '" + here + "/over' ] || echo RUNNING\n");
  for (const char* name : {"bin/sbatch", "bin/squeue"}) fs::permissions(place_ / name, fs::perms::owner_all);
  const std::string path = std::getenv("PATH");
  setenv("PATH", ((place_ / "bin").string() + ":" + path).c_str(), 1);
  const auto on_slurm = [&](const words& more) {
    words all = {"traces/kernelslist.g", "--gpu", "h100", "-o", "drawn", "--json", "e.json", "--engine", "slurm"};
    all.insert(all.end(), more.begin(), more.end());
    fs::remove(place_ / "over");
    return run(all);
  };
  // The node with all tasks but one fails.
  write("failing", "");
  const auto failed = on_slurm({"--jobs", "4"});
  EXPECT_EQ(1, failed.code) << failed.err;
  EXPECT_NE(std::string::npos, failed.err.find("missing")) << failed.err;
  EXPECT_FALSE(fs::exists(place_ / "e.json"));
  const std::size_t kept = finished();
  EXPECT_GE(kept, 2u);
  fs::remove(place_ / "failing");
  const auto again = on_slurm({"--jobs", "4"});
  EXPECT_EQ(0, again.code) << again.err;
  EXPECT_EQ(out_, again.out);
  expect_same();
  EXPECT_NE(std::string::npos, heddle::test::content(place_ / "arguments").find("--array=1-4"));
  // Without waiting: submitted, and gathered later by the same command without the engine.
  forget();
  const auto submitted = on_slurm({"--jobs", "3", "--no-wait"});
  EXPECT_EQ(0, submitted.code) << submitted.err;
  EXPECT_FALSE(fs::exists(place_ / "e.json"));
  for (int i = 0; i < 3000 && !fs::exists(place_ / "over"); ++i) usleep(10000);
  const auto gathered = run(command({}));
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(0, gathered.code) << gathered.err;
  EXPECT_EQ(out_, gathered.out);
  expect_same();
}

}  // namespace sample_test
