// SPDX-License-Identifier: MIT
// The content of a sweep's store, and rejected input.
#include <algorithm>

#include "sweep_fixture.h"
#include "tests/system/common/json_text.h"

namespace sweep_test {

using namespace sweep_tests;

TEST_F(sweeps, bad_ones_are_refused_before_the_first_run) {
  const std::string head = "[sweep]\njob = tiny.json\nstore = s.sqlite\n";
  expect_refused(head + "[axes]\nl1.latensy_cycles = 1, 2\n",
                 "bad.ini:5:21: unknown parameter 'l1.latensy_cycles', did you mean 'l1.latency_cycles'?");
  expect_refused(head + "[axes]\nlaunch.blok = 1, 2\n", "did you mean 'launch.block'?");
  expect_refused(head + "[axes]\nl1.latency_cycles = 9:3:1\n", "is empty");
  expect_refused(head + "[axes]\nl1.latency_cycles = 10, fast\n", "got 'fast'");
  expect_refused(head + "[axes]\nsub_partition.scheduler = lrr, gtoo\n", "got 'gtoo'");
  expect_refused(head + "[axes]\nsub_partition.issue_width = 1, 99\n", "got '99'");
  expect_refused(head + "[axes]\ngpu = gtx1080, gtx1081\n", "bad.ini:5:7: unknown GPU 'gtx1081'");
  expect_refused(head + "[axes]\nlaunch.block = 0, 32\n", "got '0'");
  expect_refused(head + "[axes]\npreempt.mode = drain\n", "has no 'preempt'");
  expect_refused(head + "[axes]\nl1.latency_cycles = 1:2000:1\nl2.latency_cycles = 1:2000:1\n",
                 "4,000,000 points, more than 1,000,000 (--yes");
  expect_refused(head + "[constraints]\nall = gpu = gtx1080\n", "drop all 1 points");
  expect_refused(head + "[constraints]\nodd = launch.block > 3\n", "'launch.block' is neither an axis nor a parameter");
  expect_refused(head + "metrics = cycles, kernels.0.metrics.ipx\n", "there is no 'ipx', did you mean 'ipc'?");
  expect_refused(head + "metrics = kernels\n", "the name of a single number");
  expect_refused(head + "metrics = nope\n", "bad.ini:4:11: metrics: 'nope'");
  expect_refused("[sweep]\njob = none.json\nstore = s.sqlite\n", "bad.ini:2:7: cannot read 'none.json'");
  write("saxpy.ptx", "//\n// by a compiler\n.version 8.0\n.target sm_70\n.address_size 64\n");
  expect_refused("[sweep]\njob = saxpy.ptx\nstore = s.sqlite\n",
                 "bad.ini:2:7: 'saxpy.ptx' is PTX, expected a job in JSON, which names it as \"module\"");
  expect_refused("[sweep]\ntrace = none.g\nstore = s.sqlite\n", "bad.ini:2:9: cannot read 'none.g'");
  expect_refused(head + "[axes]\ngpu = gtx1080, v100\n[constraints]\na = gpu = nope\n",
                 "bad.ini:7:5: 'nope' is no value of gpu, expected gtx1080, v100");
  expect_refused(head + "[constraints]\na = l1.cache_local = maybe\n", "'maybe' is no value of l1.cache_local");
  expect_refused(head + "[constraints]\na = sub_partition.scheduler = gtoo\n", "did you mean 'gto'?");
  expect_refused("[sweep]\njob = tiny.json\nstore = none/s.sqlite\n", "bad.ini:3:9: ");
  expect_refused("[sweep]\njob = tiny.json\nstore = tiny.json\n", "bad.ini:3:9: 'tiny.json' is read by this run");
  expect_refused("[sweep]\njob = tiny.json\nstore = wild.json\n", "bad.ini:3:9: ");
  expect_refused("[sweep]\njob = tiny.json\nstore = wild.json\n", "is no database of results");
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

TEST_F(sweeps, every_outcome_is_a_row_and_stops_no_other) {
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
  const std::string err = read("stderr");
  EXPECT_EQ(err.rfind("heddle: error: ways: 1 done, 3 refused, 1 failed, 1 timeout; point 2 (timeout): ", 0), 0u)
      << err;
  EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
}

TEST_F(sweeps, of_which_no_point_can_run_say_why) {
  write("none.json", job_text("none"));
  write("s.ini", "[sweep]\njob = none.json\nstore = s.sqlite\n[axes]\ngpu.sm_count = 1, 2\n");
  EXPECT_EQ(run({"s.ini", "--quiet"}), 1);
  const std::string err = read("stderr");
  EXPECT_EQ(err.rfind("heddle: error: s: 2 refused; point 0 (refused): none.json:1:", 0), 0u) << err;
  EXPECT_NE(err.find("no kernel 'none' in the loaded modules"), std::string::npos) << err;
}

TEST_F(sweeps, a_limit_of_cycles_ends_what_never_ends_the_same_everywhere) {
  write("limit.ini",
        "[sweep]\njob = spin.json\nstore = s.sqlite\nmax_cycles = 2000\nmetrics = cycles\n[axes]\ngpu.sm_count = 1\n");
  EXPECT_EQ(run({"limit.ini"}), 1);
  EXPECT_EQ(rows("s.csv")[0].at("status"), "failed");
}

TEST_F(sweeps, the_same_points_make_the_same_bytes_in_any_process) {
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

TEST_F(sweeps, two_in_one_store_share_points_and_the_database_lists_both) {
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

/// The number of points that a run reported as run by itself.
unsigned said_run(const std::string& out) {
  const auto at = out.find(" points; ");
  return at == std::string::npos ? 0 : static_cast<unsigned>(std::strtoul(out.c_str() + at + 9, nullptr, 10));
}

TEST_F(sweeps, two_at_the_same_time_share_points) {
  // Each point takes some hundredths of a second, so that both processes overlap.
  for (const char* name : {"a", "b"})
    write(
        std::string(name) + ".ini",
        "[sweep]\njob = spin.json\nstore = s.sqlite\nmax_cycles = 60000\n[axes]\ngpu.sm_count = 1\nl1.latency_cycles = 30:49:1\n");
  const pid_t a = start({"a.ini", "--jobs", "2"}, "a.out");
  const pid_t b = start({"b.ini", "--jobs", "2"}, "b.out");
  EXPECT_EQ(finish(a), 1);  // the limit makes them failed points, which are results, too
  EXPECT_EQ(finish(b), 1);
  const unsigned by_a = said_run(read("a.out")), by_b = said_run(read("b.out"));
  EXPECT_EQ(by_a + by_b, 20u) << read("a.out") << read("b.out");
  const std::string both = read("s.sqlite");
  fs::remove_all(place_ / "s.sqlite.points");
  fs::remove(place_ / "s.sqlite");
  run({"a.ini"});
  run({"b.ini"});
  EXPECT_TRUE(read("s.sqlite") == both);
}

TEST_F(sweeps, points_run_with_the_inputs_that_their_ids_are_of) {
  const std::string sweep =
      "[sweep]\njob = tiny.json\nstore = s.sqlite\nmetrics = cycles, kernels.0.metrics.inst_executed\n"
      "[axes]\ngpu = mine.ini\ngpu.sm_count = 1\nl1.latency_cycles = 30:89:1\n";
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
  EXPECT_LT(finished_points(), 60u) << "the files changed too late to tell";
  EXPECT_EQ(finish(child), 0) << read("stderr");
  EXPECT_EQ(read("s.csv"), undisturbed);
}

TEST_F(sweeps, a_result_that_cannot_be_written_ends_the_sweep_and_says_why) {
  write("a.ini", sweep_of(4, "s.sqlite"));
  file_limit_ = 4096;  // bytes: results with all metrics are larger
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

// An axis without effect is most likely unintended: it is reported before anything runs, with the setting that it
// would need.
TEST_F(sweeps, an_axis_that_cannot_act_is_named) {
  const std::string head = "[sweep]\njob = tiny.json\nstore = s.sqlite\nmetrics = cycles\n[axes]\n";
  write("s.ini", head + "gpu = gtx1080, v100\nl1.size_bytes = 16384, 24576\n");
  EXPECT_EQ(run({"s.ini", "--dry-run"}), 0);
  EXPECT_EQ(
      read("stderr"),
      "heddle: warning: axis l1.size_bytes may change nothing on gtx1080: it acts only on read-only, texture and local memory accesses: "
      "plain global loads bypass the L1 of this GPU; l1.cache_global_loads is false\n");
  // An axis that has an effect at some points is not reported.
  write("s.ini", head + "sub_partition.scheduler = lrr, ccws\nsub_partition.ccws_throttle = 1, 9\n");
  EXPECT_EQ(run({"s.ini", "--dry-run"}), 0);
  EXPECT_EQ(read("stderr"), "");
}

// Axes, conditions and GPU files may use a parameter's former name; the points are those of its present name.
TEST_F(sweeps, former_names_of_parameters_get_one_warning) {
  write("old.gpu.ini", "base = gtx1080\n[sub_partition]\nconvergence_patience_turns = 9\n");
  const std::string head = "[sweep]\njob = tiny.json\nstore = s.sqlite\nmetrics = cycles\n[axes]\n";
  const std::string axes = " = round_robin, by_id\ngpu.sm_count = 1, 2\n";
  const std::string condition = "[constraints]\none = gpu.sm_count > 1 and ";
  write("s.ini", head + "sm.warp_assignment" + axes + condition + "sm.warp_assignment == by_id\n");
  EXPECT_EQ(run({"s.ini", "--dry-run"}), 0) << read("stderr");
  const std::string points = read("stdout");
  EXPECT_EQ(read("stderr"), "");
  write("s.ini", head + "sm.warp_dealing" + axes + condition + "sm.warp_dealing == by_id\n");
  EXPECT_EQ(run({"s.ini", "--dry-run"}), 0) << read("stderr");
  EXPECT_EQ(read("stdout"), points);
  EXPECT_EQ(read("stderr"),
            "heddle: warning: former names of parameters are used: sm.warp_dealing (now sm.warp_assignment)\n");
  write("s.ini", head + "gpu = old.gpu.ini\nsm.warp_dealing" + axes);
  EXPECT_EQ(run({"s.ini", "--dry-run"}), 0) << read("stderr");
  EXPECT_NE(read("stderr").find("convergence_patience_turns (now "), std::string::npos) << read("stderr");
}

TEST_F(sweeps, the_shipped_ones_are_valid) {
  unsigned count = 0;
  for (const auto& e : fs::directory_iterator(HEDDLE_SOURCE "/testbench/sweeps")) {
    if (e.path().extension() != ".ini") continue;
    EXPECT_EQ(run({e.path().string(), "--dry-run"}), 0) << e.path() << read("stderr");
    ++count;
  }
  EXPECT_GE(count, 6u);
}

// A stand-in for Slurm: tasks run at once, in sequence, in the background.
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
  EXPECT_EQ(run({"a.ini", "--engine", "slurm", "--jobs", "4", "--slurm-args", "--partition=p --time=10"}), 0)
      << read("stderr");
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
  // Words are split as by a shell, without expansions.
  EXPECT_EQ(run({"a.ini", "--engine", "slurm", "--slurm-args", "--comment='a  b'; touch \"$HOME\"x; `touch y`"}), 0)
      << read("stderr");
  EXPECT_NE(read("arguments").find(" --comment=a  b; touch $HOMEx; `touch y` "), std::string::npos)
      << read("arguments");
  setenv("PATH", path.c_str(), 1);
}

TEST_F(sweeps, a_job_array_that_is_refused_leaves_no_store) {
  fs::create_directories(place_ / "bin");
  write("bin/sbatch", "#!/bin/sh\necho 'sbatch: error: Batch job submission failed: Invalid account'\nexit 1\n");
  fs::permissions(place_ / "bin/sbatch", fs::perms::owner_all);
  write("a.ini", sweep_of(3, "a.sqlite"));
  const std::string path = std::getenv("PATH");
  setenv("PATH", ((place_ / "bin").string() + ":" + path).c_str(), 1);
  EXPECT_EQ(run({"a.ini", "--engine", "slurm"}), 2);
  setenv("PATH", path.c_str(), 1);
  EXPECT_NE(read("stderr").find("sbatch refused the job"), std::string::npos) << read("stderr");
  EXPECT_NE(read("stderr").find("Invalid account"), std::string::npos) << read("stderr");
  for (const auto& e : fs::directory_iterator(place_)) EXPECT_NE(e.path().filename().string().rfind("a.sqlite", 0), 0u);
}

}  // namespace sweep_test
