// SPDX-License-Identifier: MIT
// `heddle sweep` as users run it: what its store holds, whatever becomes of the processes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using words = std::vector<std::string>;

std::string content(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A kernel of some hundred cycles, one that never ends, one that reaches where it must not.
const char* const module_text = R"(.version 7.0
.target sm_60
.address_size 64
.visible .entry tiny(.param .u64 out)
{
	.reg .b32 %r<5>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.s32 %r1, %r1, %r2, %r3;
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r1;
	ret;
}
.visible .entry spin()
{
again:
	bra.uni again;
}
.visible .entry wild()
{
	.reg .b64 %rd<2>;
	.reg .b32 %r<2>;
	mov.u64 %rd1, 30064771072;
	mov.u32 %r1, 7;
	st.global.u32 [%rd1], %r1;
	ret;
}
)";

std::string job_text(const std::string& kernel) {
  const std::string arguments = kernel == "tiny" ? R"([{"buffer": "out"}])" : "[]";
  return R"({"module": "k.ptx", "buffers": {"out": {"bytes": 8192}}, "launches": [{"kernel": ")" + kernel +
         R"(", "grid": [8, 1, 1], "block": [128, 1, 1], "args": )" + arguments + "}]}";
}

class sweeps : public ::testing::Test {
 protected:
  sweeps() {
    place_ = fs::path(HEDDLE_SCRATCH) / ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(place_);
    fs::create_directories(place_);
    write("k.ptx", module_text);
    for (const char* kernel : {"tiny", "spin", "wild"}) write(kernel + std::string(".json"), job_text(kernel));
  }

  void write(const std::string& name, const std::string& text) { std::ofstream(place_ / name, std::ios::binary) << text; }
  std::string read(const std::string& name) const { return content(place_ / name); }

  /// A sweep of `points` points, one SM each.
  std::string sweep_of(unsigned points, const std::string& store) {
    return "[sweep]\njob = tiny.json\nstore = " + store +
           "\n[axes]\ngpu.sm_count = 1\nl1.latency_cycles = 30:" + std::to_string(29 + points) + ":1\n";
  }

  /// Files of points in the store s.sqlite.
  std::size_t finished_points() const {
    std::size_t count = 0;
    if (!fs::exists(place_ / "s.sqlite.points")) return 0;
    for (const auto& e : fs::recursive_directory_iterator(place_ / "s.sqlite.points"))
      count += e.path().extension() == ".json" && e.path().filename() != "store.json";
    return count;
  }

  pid_t start(const words& arguments, const char* out = "stdout") {
    const pid_t child = fork();
    if (child != 0) return child;
    words all = {HEDDLE_PROGRAM, "sweep"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& a : all) argv.push_back(a.data());
    argv.push_back(nullptr);
    setpgid(0, 0);
    if (chdir(place_.c_str()) != 0 || !freopen(out, "w", stdout) || !freopen("stderr", "w", stderr)) _exit(126);
    if (file_limit_ != 0) {
      const rlimit limit = {file_limit_, file_limit_};
      setrlimit(RLIMIT_FSIZE, &limit);
    }
    alarm(500);
    execv(HEDDLE_PROGRAM, argv.data());
    _exit(127);
  }

  /// Its exit code; 128 + N for signal N.
  static int finish(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  int run(const words& arguments) { return finish(start(arguments)); }

  void expect_refused(const std::string& sweep, const std::string& part, const words& options = {}) {
    write("bad.ini", sweep);
    words arguments = {"bad.ini"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    EXPECT_EQ(run(arguments), 2) << sweep;
    const std::string err = read("stderr");
    EXPECT_EQ(err.rfind("heddle: error: ", 0), 0u) << err;
    EXPECT_NE(err.find(part), std::string::npos) << "wanted '" << part << "' in\n" << err;
    EXPECT_FALSE(fs::exists(place_ / "s.sqlite.points")) << "something was begun";
  }

  /// Columns of a CSV without quoted fields, by name, of each row.
  std::vector<std::map<std::string, std::string>> rows(const std::string& csv) const {
    std::vector<std::map<std::string, std::string>> result;
    std::ifstream in(place_ / csv);
    words names;
    for (std::string line; std::getline(in, line);) {
      words fields(1);
      for (const char c : line) {
        if (c == ',') {
          fields.emplace_back();
        } else {
          fields.back() += c;
        }
      }
      if (names.empty()) {
        names = fields;
        continue;
      }
      result.emplace_back();
      for (std::size_t i = 0; i < fields.size() && i < names.size(); ++i) result.back()[names[i]] = fields[i];
    }
    return result;
  }

  fs::path place_;
  rlim_t file_limit_ = 0;  // 0: none
};

TEST_F(sweeps, bad_ones_are_refused_before_the_first_run) {
  const std::string head = "[sweep]\njob = tiny.json\nstore = s.sqlite\n";
  expect_refused(head + "[axes]\nl1.latensy_cycles = 1, 2\n",
                 "bad.ini:5:21: unknown parameter 'l1.latensy_cycles', did you mean 'l1.latency_cycles'?");
  expect_refused(head + "[axes]\nlaunch.blok = 1, 2\n", "did you mean 'launch.block'?");
  expect_refused(head + "[axes]\nl1.latency_cycles = 9:3:1\n", "is empty");
  expect_refused(head + "[axes]\nl1.latency_cycles = 10, fast\n", "got 'fast'");
  expect_refused(head + "[axes]\nsub_partition.scheduler = lrr, gtoo\n", "got 'gtoo'");
  expect_refused(head + "[axes]\nsub_partition.issue_width = 1, 99\n", "got '99'");
  expect_refused(head + "[axes]\ngpu = gtx1080, gtx1081\n", "gtx1081");
  expect_refused(head + "[axes]\nlaunch.block = 0, 32\n", "got '0'");
  expect_refused(head + "[axes]\npreempt.mode = drain\n", "has no 'preempt'");
  expect_refused(head + "[axes]\nl1.latency_cycles = 1:2000:1\nl2.latency_cycles = 1:2000:1\n",
                 "4,000,000 points, more than 1,000,000 (--yes");
  expect_refused(head + "[constraints]\nall = gpu = gtx1080\n", "drop all 1 points");
  expect_refused(head + "[constraints]\nodd = launch.block > 3\n", "'launch.block' is neither an axis nor a parameter");
  expect_refused(head + "metrics = cycles, kernels.0.metrics.ipx\n", "there is no 'ipx', did you mean 'ipc'?");
  expect_refused(head + "metrics = kernels\n", "the name of a single number");
  expect_refused("[sweep]\njob = none.json\nstore = s.sqlite\n", "none.json");
  expect_refused("[sweep]\ntrace = none.g\nstore = s.sqlite\n", "none.g");
  expect_refused("[sweep]\njob = tiny.json\nstore = none/s.sqlite\n", "none");
  expect_refused("[sweep]\njob = tiny.json\nstore = tiny.json\n", "is no database of results");
  expect_refused(head, "expected I/N", {"--shard", "3/2"});
  expect_refused(head, "expected local | slurm", {"--engine", "moon"});
  EXPECT_EQ(run({"none.ini"}), 2);
}

TEST_F(sweeps, a_store_of_another_version_is_refused) {
  write("a.ini", sweep_of(1, "a.sqlite"));
  ASSERT_EQ(run({"a.ini"}), 0) << read("stderr");
  const fs::path description = place_ / "a.sqlite.points/store.json";
  auto told = nlohmann::json::parse(content(description));
  told["version"] = "0.0.1";
  std::ofstream(description) << told.dump();
  EXPECT_EQ(run({"a.ini"}), 2);
  EXPECT_NE(read("stderr").find("is of version \"0.0.1\""), std::string::npos) << read("stderr");
  std::ofstream(description) << "{}";
  EXPECT_EQ(run({"a.ini"}), 2);
  EXPECT_NE(read("stderr").find("something else"), std::string::npos) << read("stderr");
}

TEST_F(sweeps, every_way_to_end_is_a_row_and_stops_no_other) {
  write("ways.ini",
        "[sweep]\nstore = s.sqlite\ntimeout_seconds = 1\nmetrics = cycles\n"
        "[axes]\njob = tiny.json, spin.json, wild.json\ngpu.sm_count = 1\nlaunch.block = 64, 2048\n");
  EXPECT_EQ(run({"ways.ini"}), 1);
  const auto table = rows("s.csv");
  ASSERT_EQ(table.size(), 6u);
  const auto expect = [&](std::size_t row, const std::string& status, const std::string& reason) {
    EXPECT_EQ(table[row].at("status"), status) << row;
    EXPECT_NE(table[row].at("reason").find(reason), std::string::npos) << table[row].at("reason");
  };
  expect(0, "done", "");
  expect(2, "timeout", "timeout_seconds = 1");
  EXPECT_EQ(table[4].at("status"), "failed");
  for (const std::size_t row : {1, 3, 5}) EXPECT_EQ(table[row].at("status"), "refused");
  EXPECT_NE(table[0].at("cycles"), "");
  EXPECT_EQ(table[2].at("cycles"), "");
}

TEST_F(sweeps, a_limit_of_cycles_ends_what_never_ends_the_same_everywhere) {
  write("limit.ini",
        "[sweep]\njob = spin.json\nstore = s.sqlite\nmax_cycles = 2000\nmetrics = cycles\n[axes]\ngpu.sm_count = 1\n");
  EXPECT_EQ(run({"limit.ini"}), 1);
  EXPECT_EQ(rows("s.csv")[0].at("status"), "failed");
}

TEST_F(sweeps, the_same_points_make_the_same_bytes_whoever_ran_them) {
  write("a.ini", sweep_of(12, "a.sqlite"));
  ASSERT_EQ(run({"a.ini", "--jobs", "1"}), 0) << read("stderr");
  const std::string once = read("a.sqlite"), csv = read("a.csv");
  fs::remove_all(place_ / "a.sqlite.points");
  fs::remove(place_ / "a.sqlite");
  for (const char* shard : {"3/3", "1/3", "2/3"}) {
    ASSERT_EQ(run({"a.ini", "--shard", shard, "--jobs", "3"}), 0) << read("stderr");
    EXPECT_FALSE(fs::exists(place_ / "a.sqlite"));
  }
  ASSERT_EQ(run({"a.ini"}), 0);
  EXPECT_NE(read("stdout").find("; 0 run"), std::string::npos) << read("stdout");
  EXPECT_TRUE(read("a.sqlite") == once);
  EXPECT_EQ(read("a.csv"), csv);
  ASSERT_EQ(run({"a.ini", "--resume"}), 0);
  EXPECT_TRUE(read("a.sqlite") == once);
}

TEST_F(sweeps, two_in_one_store_share_points_and_the_database_knows_both) {
  write("a.ini", sweep_of(6, "s.sqlite"));
  write("b.ini", sweep_of(8, "s.sqlite"));
  ASSERT_EQ(run({"a.ini"}), 0);
  ASSERT_EQ(run({"b.ini"}), 0);
  EXPECT_NE(read("stdout").find("b: 8 points; 2 run"), std::string::npos) << read("stdout");
  const std::string both = read("s.sqlite");
  fs::remove_all(place_ / "s.sqlite.points");
  fs::remove(place_ / "s.sqlite");
  ASSERT_EQ(run({"b.ini"}), 0);
  ASSERT_EQ(run({"a.ini"}), 0);
  EXPECT_TRUE(read("s.sqlite") == both) << "the order of two sweeps shows";
}

/// How many points the run that wrote this said it has run.
unsigned said_run(const std::string& out) {
  const auto at = out.find(" points; ");
  return at == std::string::npos ? 0 : static_cast<unsigned>(std::strtoul(out.c_str() + at + 9, nullptr, 10));
}

TEST_F(sweeps, two_at_the_same_time_share_points) {
  // Some hundredths of a second a point, so that they meet at work.
  for (const char* name : {"a", "b"})
    write(std::string(name) + ".ini",
          "[sweep]\njob = spin.json\nstore = s.sqlite\nmax_cycles = 100000\n[axes]\ngpu.sm_count = 1\nl1.latency_cycles = 30:53:1\n");
  const pid_t a = start({"a.ini", "--jobs", "2"}, "a.out");
  const pid_t b = start({"b.ini", "--jobs", "2"}, "b.out");
  EXPECT_EQ(finish(a), 1);  // the limit makes them failed points, which are results like others
  EXPECT_EQ(finish(b), 1);
  const unsigned by_a = said_run(read("a.out")), by_b = said_run(read("b.out"));
  EXPECT_EQ(by_a + by_b, 24u) << read("a.out") << read("b.out");
  const std::string both = read("s.sqlite");
  fs::remove_all(place_ / "s.sqlite.points");
  fs::remove(place_ / "s.sqlite");
  run({"a.ini"});
  run({"b.ini"});
  EXPECT_TRUE(read("s.sqlite") == both);
}

TEST_F(sweeps, points_run_with_the_inputs_that_their_ids_are_of) {
  const std::string sweep = "[sweep]\njob = tiny.json\nstore = s.sqlite\nmetrics = cycles, kernels.0.metrics.inst_executed\n"
                            "[axes]\ngpu = mine.ini\ngpu.sm_count = 1\nl1.latency_cycles = 30:129:1\n";
  const std::string gpu = content(HEDDLE_SOURCE "/configs/gtx1080.ini");
  write("i.ini", sweep);
  write("mine.ini", gpu);
  ASSERT_EQ(run({"i.ini"}), 0) << read("stderr");
  const std::string undisturbed = read("s.csv");
  fs::remove_all(place_ / "s.sqlite.points");
  fs::remove(place_ / "s.sqlite");
  const pid_t child = start({"i.ini", "--jobs", "1"});
  for (int i = 0; i < 3000 && finished_points() < 3; ++i) usleep(2000);
  write("mine.ini", gpu + "\n[sub_partition]\nthis is no parameter\n");
  write("tiny.json", "{}");
  std::string other = module_text;
  other.replace(other.find("mov.u32 %r2"), 0, "add.u32 %r1, %r1, %r1;\n\t");
  write("k.ptx", other);
  EXPECT_LT(finished_points(), 100u) << "the files changed too late to tell";
  EXPECT_EQ(finish(child), 0) << read("stderr");
  EXPECT_EQ(read("s.csv"), undisturbed);
}

TEST_F(sweeps, a_result_that_cannot_be_written_ends_the_sweep_and_says_why) {
  write("a.ini", sweep_of(4, "s.sqlite"));
  file_limit_ = 4096;  // of bytes: results with all metrics are larger
  EXPECT_EQ(run({"a.ini"}), 2);
  file_limit_ = 0;
  const std::string err = read("stderr");
  EXPECT_EQ(err.rfind("heddle: error: cannot write '", 0), 0u) << err;
  EXPECT_NE(err.find("File too large"), std::string::npos) << err;
  EXPECT_EQ(finished_points(), 0u) << "a row says that a point was killed";
  EXPECT_EQ(run({"a.ini"}), 0) << read("stderr");
}

TEST_F(sweeps, an_id_follows_all_that_determines_the_result_and_nothing_else) {
  const auto ids = [this](const std::string& ini) {
    write("i.ini", ini);
    EXPECT_EQ(run({"i.ini", "--dry-run", "--quiet"}), 0) << read("stderr");
    return read("stdout").substr(0, 32);
  };
  const std::string text = sweep_of(1, "s.sqlite");
  const std::string id = ids(text);
  EXPECT_EQ(ids(sweep_of(2, "other.sqlite")), id);
  EXPECT_EQ(ids(text + "gpu = gtx1080\n"), id) << "the default, written out";
  EXPECT_EQ(ids(text + "l2.latency_cycles = 217\n") == id, false);
  EXPECT_EQ(ids(text + "launch.block = 64\n") == id, false);
  write("k.ptx", std::string(module_text) + "\n");
  EXPECT_EQ(ids(text) == id, false) << "the kernel";
}

TEST_F(sweeps, the_ready_ones_are_good) {
  unsigned count = 0;
  for (const auto& e : fs::directory_iterator(HEDDLE_SOURCE "/testbench/sweeps")) {
    if (e.path().extension() != ".ini") continue;
    EXPECT_EQ(run({e.path().string(), "--dry-run"}), 0) << e.path() << read("stderr");
    ++count;
  }
  EXPECT_GE(count, 6u);
}

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

// Process numbers of a process's children, as the system lists them.
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
      EXPECT_TRUE(code == 128 + SIGKILL || code == 0) << code;  // 0: it was faster
    } else {
      for (const pid_t worker : children_of(coordinator)) kill(worker, SIGKILL);
      const int code = finish(coordinator);
      EXPECT_TRUE(code == 0 || code == 1) << code;  // a point that was killed is a row, the others go on
    }
  }
}

class disturbed : public sweeps {
 protected:
  /// A run after all these disturbances ends as an undisturbed one does.
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

TEST_F(disturbed, a_few_times_it_ends_as_if_nothing_had_been) { expect_undisturbed_results(60, 6, 0.3); }

class long_disturbed : public disturbed {};

TEST_F(long_disturbed, at_fifty_random_times_it_ends_as_if_nothing_had_been) { expect_undisturbed_results(600, 50, 0.5); }

TEST_F(sweeps, a_gathering_that_is_killed_leaves_nothing_for_good) {
  write("g.ini", sweep_of(60, "s.sqlite"));
  ASSERT_EQ(run({"g.ini"}), 0) << read("stderr");
  const std::string database = read("s.sqlite");
  const auto left = [this] {
    std::size_t count = 0;
    for (const auto& e : fs::directory_iterator(place_)) count += e.path().filename().string().rfind(".heddle-", 0) == 0;
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

// What stands for Slurm: tasks run at once, one after another, in the background.
TEST_F(sweeps, a_job_array_gives_the_same_bytes) {
  fs::create_directories(place_ / "bin");
  write("bin/sbatch",
        "#!/bin/sh\nfor a in \"$@\"; do last=$a; case $a in --array=1-*) n=${a#--array=1-};; esac; done\n"
        "echo \"$@\" >> " +
            (place_ / "arguments").string() +
            "\n"
            "(for i in $(seq 1 $n); do SLURM_ARRAY_TASK_ID=$i sh \"$last\" || true; done; touch '" +
            (place_ / "over").string() +
            "') >/dev/null 2>&1 &\n"
            "echo 17\n");
  write("bin/squeue", "#!/bin/sh\n[ -e '" + (place_ / "over").string() + "' ] || echo RUNNING\n");
  for (const char* name : {"bin/sbatch", "bin/squeue"}) fs::permissions(place_ / name, fs::perms::owner_all);
  write("a.ini", sweep_of(9, "a.sqlite"));
  ASSERT_EQ(run({"a.ini"}), 0) << read("stderr");
  const std::string local = read("a.sqlite");
  fs::remove_all(place_ / "a.sqlite.points");
  const std::string path = std::getenv("PATH");
  setenv("PATH", ((place_ / "bin").string() + ":" + path).c_str(), 1);
  EXPECT_EQ(run({"a.ini", "--engine", "slurm", "--jobs", "4", "--slurm-args", "--partition=p --time=10"}), 0) << read("stderr");
  EXPECT_TRUE(read("a.sqlite") == local);
  EXPECT_NE(read("arguments").find("--array=1-4"), std::string::npos);
  EXPECT_NE(read("arguments").find("--partition=p --time=10"), std::string::npos);
  fs::remove_all(place_ / "a.sqlite.points");
  fs::remove(place_ / "over");
  EXPECT_EQ(run({"a.ini", "--engine", "slurm", "--no-wait"}), 0) << read("stderr");
  EXPECT_NE(read("stdout").find("job 17 was submitted"), std::string::npos);
  for (int i = 0; i < 1000 && !fs::exists(place_ / "over"); ++i) usleep(20000);
  EXPECT_EQ(run({"a.ini"}), 0);
  EXPECT_TRUE(read("a.sqlite") == local);
  fs::remove_all(place_ / "a.sqlite.points");
  fs::remove(place_ / "over");
  const std::string tools = std::getenv("PATH");
  setenv("PATH", "/nowhere", 1);
  EXPECT_EQ(run({"a.ini", "--engine", "slurm"}), 2);
  setenv("PATH", tools.c_str(), 1);
  EXPECT_EQ(run({"a.ini", "--engine", "slurm", "--slurm-args", "'open"}), 2);
  EXPECT_NE(read("stderr").find("is not closed"), std::string::npos) << read("stderr");
  // Words are parted as a shell parts them, and nothing more is made of them.
  EXPECT_EQ(run({"a.ini", "--engine", "slurm", "--slurm-args", "--comment='a  b'; touch \"$HOME\"x; `touch y`"}), 0) << read("stderr");
  EXPECT_NE(read("arguments").find(" --comment=a  b; touch $HOMEx; `touch y` "), std::string::npos) << read("arguments");
  setenv("PATH", path.c_str(), 1);
}

}  // namespace
