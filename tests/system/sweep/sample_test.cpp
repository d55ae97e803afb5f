// SPDX-License-Identifier: MIT
// heddle sample: which launches are drawn, what they tell of all, and what is refused.
#include <cstdio>
#include <functional>
#include <random>
#include <set>

#include "sample_fixture.h"

namespace sample_test {

// Strata of mean 11 and deviation 1.005, and of equal times: Neyman's allocation with costs, by hand.
TEST_F(samples, are_as_large_as_the_error_asks) {
  std::string csv = "==1== Profiling\n\"Start (ns)\",\"Duration (ns)\",\"Name\"\n";
  for (int k = 0; k < 100; ++k) csv += "0," + std::to_string(10 + 2 * (k % 2)) + ",\"a(float*, int)\"\n";
  csv += "0,70000,\"[CUDA memcpy HtoD]\"\n";
  for (int k = 0; k < 50; ++k) csv += "0,100,b\n";
  write("d.csv", csv);
  const auto o = run({"d.csv", "--dry-run", "--json", "s.json"});
  EXPECT_EQ(0, o.code) << o.err;
  EXPECT_NE(std::string::npos, o.out.find("150 launches in 2 strata; 5 of them are simulated")) << o.out;
  const json s = read("s.json");
  const json& a = s["strata"][0];
  EXPECT_EQ("a(float*, int)", a["kernel"]);
  EXPECT_EQ(3u, a["simulated"].size());
  EXPECT_DOUBLE_EQ(100.0 / 3, a["weight"].get<double>());
  EXPECT_NEAR(1.005, a["deviation"].get<double>(), 1e-4);
  EXPECT_EQ(2u, s["strata"][1]["simulated"].size());
  for (const auto& k : s["strata"][1]["simulated"]) EXPECT_TRUE(k >= 100 && k < 150);
  EXPECT_NEAR(0.01836, s["expected_error"].get<double>(), 1e-5);
  EXPECT_NEAR(6100 / 233.0, s["speedup"].get<double>(), 1e-9);
  // One that is to be exact takes all launches that differ.
  EXPECT_EQ(0, run({"d.csv", "--dry-run", "--error", "0.001", "--json", "s.json"}).code);
  EXPECT_LE(read("s.json")["expected_error"].get<double>(), 1e-5);
  // Another seed draws other launches, the same one the same.
  const std::string first = run({"d.csv", "--dry-run"}).out;
  EXPECT_EQ(first, run({"d.csv", "--dry-run"}).out);
  EXPECT_NE(first, run({"d.csv", "--dry-run", "--seed", "2"}).out);
}

// Times of one kernel in several modes, of a heavy tail, and of many kernels.
TEST_F(samples, keep_their_bound) {
  std::mt19937 random(7);
  std::lognormal_distribution<double> narrow(0, 0.03), wide(0, 0.8);
  const std::vector<std::function<std::string(int)>> sets = {
      [&](int k) {
        return "attention," + std::to_string(std::vector<int>{100, 800, 5000}[k % 3] * narrow(random));
      },
      [&](int) { return "scan," + std::to_string(1000 * wide(random)); },
      [&](int k) { return "k" + std::to_string(k % 37) + "," + std::to_string((10 + k % 37 * 50) * narrow(random)); }};
  for (const auto& set : sets) {
    std::string csv = "kernel,duration\n";
    for (int k = 0; k < 20000; ++k) csv += set(k) + "\n";
    write("d.csv", csv);
    for (const char* error : {"1", "2", "5%"}) {
      const auto o = run({"d.csv", "--error", error, "--repeat", "200"});
      unsigned held = 0;
      EXPECT_EQ(1, std::sscanf(o.out.c_str(), "%u of 200 samples are within", &held)) << o.out << o.err;
      EXPECT_GE(held, 190u) << o.out;
    }
  }
}

TEST_F(samples, of_traces_estimate_what_all_launches_take) {
  write_traces(400);
  const std::vector<std::string> words = {"traces/kernelslist.g", "--gpu",    "h100",  "--set",
                                          "l2.ways=10",           "--output", "drawn", "--json"};
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> all = words;
    all.insert(all.end(), more.begin(), more.end());
    return run(all);
  };
  const auto some = with({"some.json"});
  ASSERT_EQ(0, some.code) << some.err;
  EXPECT_NE(std::string::npos, some.out.find("estimate: ")) << some.out;
  // Again: nothing is simulated; a result that is lost is made again.
  const auto points = [&] {
    std::set<std::string> names;
    for (const auto& f : fs::recursive_directory_iterator(place_ / "drawn/results.sqlite.points"))
      if (f.is_regular_file() && f.path().filename() != "claims") names.insert(f.path().string());
    return names;
  };
  const std::set<std::string> before = points();
  fs::remove(*before.begin());
  EXPECT_EQ(some.out, with({"again.json"}).out);
  EXPECT_EQ(before, points());
  EXPECT_EQ(read("some.json"), read("again.json"));
  // All launches, one after another.
  const auto replay = heddle::test::run_program({HEDDLE_PROGRAM, "replay", "traces/kernelslist.g", "--gpu", "h100",
                                                 "--set", "l2.ways=10", "--quiet", "--metrics", "whole.json"},
                                                {place_});
  ASSERT_EQ(0, replay.code) << replay.err;
  double cycles = 0, sum = 0;
  const json replayed = read("whole.json"), estimate = read("some.json")["estimate"];
  for (const json& k : replayed["kernels"]) cycles += k["cycles"].get<double>();
  EXPECT_NEAR(1, estimate["cycles"].get<double>() / cycles, 0.03);
  const json of_some = read("some.json");
  for (const json& k : of_some["kernels"]) sum += k["cycles"].get<double>();
  EXPECT_NEAR(1, sum / estimate["cycles"].get<double>(), 1e-9);
  // All of them with empty caches take longer; the same as durations.
  const auto all = with({"all.json", "--least", "3000", "--warm-up", "0"});
  ASSERT_EQ(0, all.code) << all.err;
  const json whole = read("all.json")["estimate"];
  EXPECT_EQ(whole["low"], whole["high"]);
  EXPECT_GT(whole["cycles"].get<double>(), 1.2 * cycles);
  const auto table = script("durations_of.py", {"traces/kernelslist.g", "drawn/results.csv"});
  ASSERT_EQ(0, table.code) << table.err;
  write("d.csv", table.out);
  ASSERT_EQ(0, run({"d.csv", "--least", "3000", "--dry-run", "--json", "s.json"}).code);
  const json sample = read("s.json");
  double durations = 0;
  for (const json& s : sample["strata"]) durations += s["launches"].get<double>() * s["mean_time"].get<double>();
  EXPECT_NEAR(1, durations / whole["cycles"].get<double>(), 1e-9);
}

// Launches that are drawn are sampled within, too: their errors are part of the bound.
TEST_F(samples, of_traces_may_be_sampled_within) {
  const auto job = [&](unsigned blocks) {
    const std::string n = std::to_string(blocks * 256), bytes = std::to_string(blocks * 1024);
    write("job.json",
          R"({"module": ")" HEDDLE_WORKLOADS R"(/vector_add/vector_add.ptx", "buffers": {"a": {"bytes": )" + bytes +
              R"(, "fill": "iotaf"}, "b": {"bytes": )" + bytes + R"(}, "c": {"bytes": )" + bytes +
              R"(}}, "launches": [{"kernel": "vector_add", "grid": [)" + std::to_string(blocks) +
              R"(, 1, 1], "block": [256, 1, 1], "args": [{"buffer": "a"}, {"buffer": "b"}, {"buffer": "c"}, )"
              R"({"s32": )" +
              n + "}]}]}");
    const auto o = heddle::test::run_program(
        {HEDDLE_PROGRAM, "run", "job.json", "--quiet", "--record", "d" + std::to_string(blocks)}, {place_});
    EXPECT_EQ(0, o.code) << o.err;
    return fs::path("d" + std::to_string(blocks));
  };
  std::string list;
  for (unsigned k = 0; k < 12; ++k) {
    const fs::path folder = k < 2 ? job(k == 0 ? 1280 : 640) : fs::path(k % 2 == 0 ? "d1280" : "d640");
    for (const auto& f : fs::directory_iterator(place_ / folder))
      if (f.path().filename().string().find("kernel-") == 0) list += (folder / f.path().filename()).string() + "\n";
  }
  write("list.g", list);
  const words chip = {"list.g", "--set", "gpu.sm_count=4", "--set", "l2.size_bytes=262144", "--error", "4"};
  const auto with = [&](words more) {
    more.insert(more.begin(), chip.begin(), chip.end());
    const auto o = run(more);
    ASSERT_EQ(0, o.code) << o.err;
  };
  with({"-o", "whole", "--json", "whole.json", "--least", "12"});
  with({"-o", "part", "--json", "part.json", "--sample-blocks", "3"});
  const json whole = read("whole.json")["estimate"], part = read("part.json")["estimate"];
  EXPECT_FALSE(whole.contains("within"));
  const double cycles = part["cycles"], low = part["low"], high = part["high"], within = part["within"];
  EXPECT_LE(low, whole["cycles"].get<double>());
  EXPECT_GE(high, whole["cycles"].get<double>());
  // The launches of one kernel may all err to the same side, by what they say themselves.
  const std::string table = heddle::test::content(place_ / "part/results.csv");
  EXPECT_NE(std::string::npos, table.find("kernels.0.sampled.error"));
  EXPECT_GT(within, 0.005 * cycles);
  EXPECT_LE(within, 0.03 * cycles * (1 + 1e-9));
  EXPECT_LE(high - cycles, 0.04 * cycles);
  EXPECT_GE(high - cycles, within * (1 - 1e-9));
  // The same from the folder, and from metrics of runs.
  with({"-o", "part", "--json", "again.json", "--sample-blocks", "3"});
  EXPECT_EQ(read("part.json"), read("again.json"));
}

// Errors of launches of one kernel are added, those of different kernels as independent ones.
TEST_F(samples, add_the_errors_of_launches) {
  write("d.csv", "kernel,duration\na,10\na,10\na,10\na,10\nb,30\nb,30\n");
  json metrics = {{"kernels", json::array()}};
  for (unsigned k = 0; k < 6; ++k) {
    json of = {{"launch", k}, {"cycles", 100}};
    of["sampled"] = {{"cycles", k < 4 ? 1000 : 3000}, {"error", k < 4 ? 0.02 : 0.01}};
    metrics["kernels"].push_back(of);
  }
  write("m.json", metrics.dump());
  const auto o = run({"d.csv", "--results", "m.json", "--json", "s.json"});
  ASSERT_EQ(0, o.code) << o.err;
  const json s = read("s.json");
  EXPECT_EQ(10000, s["estimate"]["cycles"]);
  EXPECT_NEAR(100, s["estimate"]["within"].get<double>(), 1e-6);  // sqrt(80^2 + 60^2)
  EXPECT_NEAR(10100, s["estimate"]["high"].get<double>(), 1e-6);
  for (const json& k : s["kernels"]) EXPECT_NEAR(k["name"] == "a" ? 80 : 60, k["within"].get<double>(), 1e-6);
  // With 99 % confidence they are larger.
  ASSERT_EQ(0, run({"d.csv", "--results", "m.json", "--json", "s.json", "--confidence", "99"}).code);
  EXPECT_NEAR(131.4, read("s.json")["estimate"]["within"].get<double>(), 0.1);
}

// Metrics of a run of the launches that were drawn.
TEST_F(samples, are_estimated_from_the_metrics_of_runs) {
  std::string csv = "kernel,duration\n";
  for (int k = 0; k < 40; ++k) csv += k % 2 == 0 ? "a,10\n" : "b,30\n";
  write("d.csv", csv);
  ASSERT_EQ(0, run({"d.csv", "--dry-run", "--json", "s.json"}).code);
  json metrics = {{"kernels", json::array()}};
  const json drawn = read("s.json");
  for (const json& s : drawn["strata"])
    for (const json& k : s["simulated"])
      metrics["kernels"].push_back({{"launch", k}, {"cycles", s["kernel"] == "a" ? 500 : 700}});
  write("m.json", metrics.dump());
  const auto o = run({"d.csv", "--results", "m.json"});
  EXPECT_EQ(0, o.code) << o.err;
  EXPECT_NE(std::string::npos, o.out.find("estimate: 24,000 cycles, 0.0 % more or less")) << o.out;
  metrics["kernels"].erase(0);
  write("m.json", metrics.dump());
  const auto missing = run({"d.csv", "--results", "m.json"});
  EXPECT_EQ(2, missing.code);
  EXPECT_NE(std::string::npos, missing.err.find("is not in them, but was drawn")) << missing.err;
}

TEST_F(samples, of_several_streams_get_a_warning) {
  for (const char* stream : {"0", "7"})
    write(std::string("kernel-") + stream + ".traceg",
          std::string("-kernel name = k\n-kernel id = 1\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-shmem = 0\n"
                      "-nregs = 32\n-binary version = 70\n-cuda stream id = ") +
              stream +
              "\n-shmem base_addr = 0x00007f5000000000\n-local mem base_addr = 0x00007f4e00000000\n"
              "-nvbit version = 1.7\n-accelsim tracer version = 3\n\n#traces format = PC mask dest_num [reg_dests] "
              "opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses]\n\n#BEGIN_TB\n\n"
              "thread block = 0,0,0\n\nwarp = 0\ninsts = 1\n0800 ffffffff 0 EXIT 0 0 \n\n#END_TB\n\n");
  for (const char* other : {"kernel-0", "kernel-7"}) {
    write("list.g", std::string("kernel-0.traceg\nkernel-0.traceg\nkernel-0.traceg\n") + other + ".traceg\n");
    const auto o = run({"list.g", "--dry-run"});
    EXPECT_EQ(0, o.code) << o.err;
    EXPECT_EQ(std::string(other) == "kernel-7", o.err.find("of several streams") != std::string::npos) << o.err;
  }
}

TEST_F(samples, are_refused_in_one_line) {
  write("d.csv", "kernel,duration\na,10\na,11\n");
  write("bad.csv", "kernel,duration\na,10\na,eleven\n");
  write("zero.csv", "kernel,duration\na,10\na,0\n");
  write("first.csv", "kernel,duration\na,N/A\na,10\n");
  write("long.csv", "kernel,duration\na,1e308\na,1e308\n");
  write("none.csv", "kernel,cycles\na,10\n");
  write("empty.csv", "kernel,duration\n");
  write("m.json", "[]");
  write_traces(20);
  const std::string list = "traces/kernelslist.g";
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{}, "expected one workload"},
      {{"d.csv", "d.csv"}, "unexpected argument 'd.csv'"},
      {{"absent.csv"}, "absent.csv"},
      {{"absent.g"}, "absent.g"},
      {{"bad.csv"}, "bad.csv:3: got 'eleven' as the duration of 'a', expected a number"},
      {{"zero.csv"}, "zero.csv:3: 'a' took 0, expected more than 0"},
      {{"first.csv"}, "first.csv:2: got 'N/A' as the duration of 'a', expected a number"},
      {{"long.csv"}, "long.csv:2: 'a' took 1e308, expected more than 0, and at most 1e18"},
      {{"none.csv"}, "none.csv: no line names columns"},
      {{"empty.csv"}, "no launch is in it"},
      {{"d.csv", "--error", "0"}, "expected a percentage"},
      {{"d.csv", "--confidence", "100"}, "expected a percentage"},
      {{"d.csv", "-o", "x"}, "durations cannot be simulated"},
      {{"d.csv", "--results", "m.json"}, "expected the metrics of a run"},
      {{"d.csv", "--json", "d.csv"}, "d.csv"},
      {{list}, "expected a folder for the results"},
      {{list, "--dry-run", "--least", "1"}, "two launches of a stratum are needed"},
      {{list, "--dry-run", "--durations", "d.csv"}, "durations of 2 launches, but traces/kernelslist.g has 20"},
      {{list, "--repeat", "3"}, "expected durations"},
      {{list, "-o", "x", "--gpu", "nosuch"}, "nosuch"},
      {{list, "-o", "x", "--set", "l2.size"}, "expected SECTION.KEY=VALUE"},
      {{list, "-o", "d.csv"}, "cannot make the folder"}};
  for (const auto& [arguments, why] : cases) expect_refused(arguments, why);
}

}  // namespace sample_test
